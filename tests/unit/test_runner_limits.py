"""Limits run on the clocks they say, and the end of a run is decided once."""

import asyncio
import math

from agent.record.values import Limits, RunSummary, Usage
from agent.runner.ending import Ending, Verdict
from agent.runner.limits import exceeded, problem, shown, status, working_s


def test_pauses_and_waits_do_not_use_up_the_time() -> None:
    summary = RunSummary(state="running", at=100.0, working_s=50.0, limits=Limits(time_s=60.0))
    assert working_s(summary, 105.0) == 55.0
    assert exceeded(summary, 109.0) is None
    assert exceeded(summary, 110.0) == "time"
    paused = RunSummary(state="paused", at=100.0, working_s=50.0, limits=Limits(time_s=60.0))
    waiting = RunSummary(state="running", waiting=True, at=100.0, working_s=50.0, limits=Limits(time_s=60.0))
    assert exceeded(paused, 10_000.0) is None
    assert exceeded(waiting, 10_000.0) is None


def test_preparing_and_scoring_are_not_the_agents_time() -> None:
    limits = Limits(time_s=60.0)
    for state in ("queued", "starting", "scoring", "ended"):
        assert exceeded(RunSummary(state=state, at=100.0, working_s=59.0, limits=limits), 10_000.0) is None


def test_cost_and_tokens_are_limits_and_nothing_given_is_none() -> None:
    used = RunSummary(state="running", cost_usd=2.0, usage=Usage(input_tokens=90, output_tokens=10))
    assert exceeded(used, 0.0) is None
    assert exceeded(RunSummary(cost_usd=2.0, limits=Limits(cost_usd=2.0)), 0.0) == "cost"
    tokens = RunSummary(usage=Usage(input_tokens=90, output_tokens=10), limits=Limits(tokens=100))
    assert exceeded(tokens, 0.0) == "tokens"
    assert exceeded(RunSummary(state="queued", limits=Limits(cost_usd=0.0)), 0.0) == "cost"


def test_limits_that_make_no_sense_are_named() -> None:
    assert problem(Limits(time_s=5.0)) == ""
    assert "steps" in problem(Limits(steps=-1))
    assert "time" in problem(Limits(time_s=math.nan))


def test_status_says_what_is_left_of_each_limit() -> None:
    summary = RunSummary(
        state="running", at=0.0, step=3, working_s=65.0, limits=Limits(time_s=3_725.0, steps=9, cost_usd=1.0, tokens=50)
    )
    assert status(summary, 0.0) == ("step 3 of 9, 1:01:00 of 1:02:05 left, $0.00 of $1.00 spent, 0 of 50 tokens used")
    assert status(RunSummary(state="running", step=3), 0.0) == "step 3, 0:00 used"
    assert shown(Limits()) == "no limits"


async def test_first_word_holds_and_only_a_kill_is_heard_after_it() -> None:
    ending = Ending()
    ending.decide(Verdict("submitted"))
    ending.limit_reached("time")
    assert ending.verdict == Verdict("submitted")
    ending.decide(Verdict("killed", detail="by ann"))
    ending.decide(Verdict("killed", detail="by bob"))
    assert ending.verdict == Verdict("killed", detail="by ann")


async def test_sealed_end_is_not_changed_by_a_late_kill() -> None:
    ending = Ending()
    ending.decide(Verdict("submitted"))
    ending.seal()
    ending.decide(Verdict("killed"))
    assert ending.verdict == Verdict("submitted")


async def test_end_cuts_work_short_and_scoring_only_on_a_kill() -> None:
    ending = Ending()
    reached: list[str] = []

    async def agent(name: str) -> None:
        reached.append(f"{name} began")
        ending.limit_reached("time")
        await asyncio.Event().wait()

    async def scoring() -> None:
        reached.append("scoring began")
        ending.limit_reached("time")
        for _ in range(20):
            await asyncio.sleep(0)
        reached.append("scoring done")

    await ending.phase(agent("agent"))
    await ending.phase(agent("late"))
    await ending.phase(scoring(), only_kill=True)
    assert reached == ["agent began", "scoring began", "scoring done"]


async def test_work_that_does_not_let_go_is_left_behind() -> None:
    ending = Ending()
    ending.grace_s = 0.01
    released = asyncio.Event()

    async def stubborn() -> None:
        ending.limit_reached("time")
        while not released.is_set():
            try:
                await released.wait()
            except asyncio.CancelledError:
                continue

    await asyncio.wait_for(ending.phase(stubborn()), 5)
    released.set()
