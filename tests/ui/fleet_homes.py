"""Homes full of runs for the fleet's tests: believable ones, many, and hostile ones."""

import random
from collections.abc import Iterable
from contextlib import ExitStack
from pathlib import Path

import msgspec

from agent.record import events as ev
from agent.record import index
from agent.record.home import Home, RunFolder
from agent.record.inbox import Inbox
from agent.record.lock import hold
from agent.record.log import write_events
from agent.record.request import RunRequest, write_request
from agent.record.values import (
    Gpu,
    Host,
    Limits,
    Outcome,
    Progress,
    RunSummary,
    Score,
    StandingAlert,
    Usage,
    WantedApproval,
)

NOON = 1_764_417_600.0
"""The moment that these runs are looked at: 12:00 UTC on a day in November 2025."""
_GB = 10**9


def a_run(run: str, task: str, model: str, **changes: object) -> RunSummary:
    """One run's summary, as of noon."""
    values: dict[str, object] = {
        "run": run,
        "task": task,
        "model": model,
        "scaffold": "react",
        "sandbox": "docker",
        "who": "ada",
        "state": "running",
        "step": 1,
        "now_since": NOON,
        "at": NOON,
        "seq": 5,
        "created_at": NOON - 7_200,
        "started_at": NOON - 7_190,
        "limits": Limits(time_s=86_400.0, steps=200, cost_usd=40.0),
    }
    return msgspec.structs.replace(RunSummary(), **(values | changes))


def ended(outcome: Outcome, ago_s: float, **more: object) -> dict[str, object]:
    """What an ended run's summary says besides."""
    return {"state": "ended", "outcome": outcome, "ended_at": NOON - ago_s, **more}


def believable() -> list[RunSummary]:
    """Ten runs in all the states there are."""
    a100 = Gpu(
        index=0, name="A100", memory_used_bytes=31_200_000_000, memory_total_bytes=40 * _GB, utilization_percent=97
    )
    falling = tuple(10.0 * 0.93**step + 2.5 for step in range(24))
    host = Host(cpu_percent=94.0, cpu_cores=2, memory_used_bytes=1_200_000_000, memory_limit_bytes=4 * _GB)
    return [
        a_run(
            "7f3a21c4",
            "mlrb/baby_lm",
            "anthropic:claude-sonnet-4-5",
            step=41,
            now="python train.py --lr 3e-4",
            now_since=NOON - 2_460,
            working_s=7_900.0,
            cost_usd=8.12,
            gpus=(a100,),
            loss_tail=falling,
            busy_tail=(3.0, 40.0, 99.0, 98.0, 97.0, 99.0, 62.0, 97.0, 98.0, 97.0),
            scale="full",
            progress=Progress(values={"loss": 3.41}, rate=18_200, rate_unit="tok/s"),
            last_score=Score(metric="BLiMP", value=0.581, baseline=0.535, valid=True, split="dev", scale="full"),
        ),
        a_run(
            "a91c0d2e",
            "mlgym/house_price",
            "openai:gpt-5.2",
            step=112,
            now="thinking",
            now_since=NOON - 12,
            host=host,
            working_s=35_000.0,
            cost_usd=19.40,
            last_score=Score(metric="r2", value=0.912, baseline=0.88, valid=True, split="dev"),
        ),
        a_run(
            "03be77f0",
            "mlgym/prisoners_dilemma",
            "scripted",
            step=17,
            now="python simulate.py",
            now_since=NOON - 31,
            host=host,
            sandbox="local",
            working_s=60.0,
            limits=Limits(time_s=900.0, steps=40),
        ),
        a_run(
            "5d20aa17",
            "mlrb/baby_lm",
            "openai:gpt-5.2",
            step=66,
            now="python train.py",
            now_since=NOON - 7_300,
            alerts=2,
            last_alert="no checkpoint for 55 min, with 50 min left",
            standing=(
                StandingAlert(
                    alert="diverged",
                    message="the loss has exploded: 7.9, it was 2.8",
                    hint="a smaller learning rate, or clipped gradients? interrupt it",
                    at=NOON - 900,
                ),
                StandingAlert(
                    alert="no_checkpoint",
                    message="no checkpoint for 55 min, with 50 min left",
                    hint="what is not saved is lost at the limit: have the agent save one, or raise the limit",
                    at=NOON - 300,
                ),
            ),
            gpus=(
                Gpu(
                    index=0,
                    name="A100",
                    memory_used_bytes=12 * _GB,
                    memory_total_bytes=40 * _GB,
                    utilization_percent=0.0,
                ),
            ),
            gpu_held_s=78_100.0,
            gpu_busy_s=66_000.0,
            loss_tail=(3.1, 2.9, 2.8, 7.9),
            working_s=78_000.0,
            cost_usd=27.85,
            host=host,
            progress=Progress(rate=0.0, rate_unit="tok/s"),
        ),
        a_run(
            "e6f70b1c",
            "mlrb/baby_lm",
            "openai:qwen3",
            state="paused",
            step=29,
            pause="now",
            pause_by="ada",
            paused_at=NOON - 250,
            working_s=9_000.0,
            loss_tail=falling[:12],
            host=host,
        ),
        a_run("b8127c55", "mlgym/house_price", "anthropic:claude-sonnet-4-5", state="queued", step=0, started_at=None),
        a_run(
            "44d1e0a9",
            "mlgym/battle_of_sexes",
            "openai:gpt-5.2",
            step=25,
            cost_usd=0.55,
            **ended("submitted", 4_800),
            final_score=Score(metric="mean payoff", value=1.4401, baseline=1.0227, valid=True),
        ),
        a_run("91aa3f08", "mlgym/house_price", "openai:qwen3", step=50, outcome_limit="steps", **ended("limit", 9_000)),
        a_run(
            "c0ffee11",
            "mlgym/battle_of_sexes",
            "scripted",
            step=9,
            **ended("submitted", 12_000),
            final_score=Score(metric="mean payoff", value=1.02, baseline=1.0227, untouched=True),
        ),
        a_run(
            "d00dfeed",
            "mlgym/prisoners_dilemma",
            "scripted",
            step=12,
            outcome_detail="the model did not answer",
            **ended("failed", 100_000),
            usage=Usage(input_tokens=9_000),
        ),
    ]


def waiting_for_words() -> list[RunSummary]:
    """Believable runs, two of which wait for a person's word and one for a higher limit."""
    first = WantedApproval(
        approval_id="q9", call_id="t2", tool="bash", summary="python train.py --resume ckpt/8000 --lr 3e-4",
        rule="python train.py *", asked_at=NOON - 130,
    )  # fmt: skip
    second = WantedApproval(
        approval_id="q4", call_id="t2", tool="bash", summary="rm -rf ckpt_old && ls", asked_at=NOON - 20
    )
    changes: dict[str, dict[str, object]] = {
        "7f3a21c4": {"approve": True, "approval": first, "created_at": NOON - 100},
        "a91c0d2e": {"approve": True, "approval": second},
        "e6f70b1c": {"pause_limit": "time", "pause_by": ""},
        "5d20aa17": {"alerts": 0, "last_alert": "", "standing": ()},
    }
    return [msgspec.structs.replace(run, **changes.get(run.run, {})) for run in believable()]


def many(count: int) -> list[RunSummary]:
    """So many runs, most of them ended, from one seed."""
    rng = random.Random(7)
    tasks = ("mlrb/baby_lm", "mlgym/house_price", "mlgym/battle_of_sexes", "mlgym/prisoners_dilemma")
    models = ("anthropic:claude-sonnet-4-5", "openai:gpt-5.2", "openai:qwen3", "scripted")
    return [
        a_run(
            f"{rng.getrandbits(32):08x}",
            rng.choice(tasks),
            rng.choice(models),
            step=rng.randrange(1, 200),
            cost_usd=rng.random() * 30,
            created_at=NOON - 2e6,
            at=NOON - rng.random() * 1e6,
            loss_tail=tuple(rng.random() for _ in range(24)),
            **ended(rng.choice(("submitted", "limit", "killed", "failed")), rng.random() * 1e6),
            final_score=Score(metric="m", value=rng.random(), baseline=0.5, valid=rng.random() > 0.2),
        )
        for _ in range(count)
    ]


def home_of(path: Path, summaries: Iterable[RunSummary], alive: ExitStack, *, logs: bool = True) -> Home:
    """A home with these runs; the live ones' locks are held until `alive` is closed."""
    home = Home(path).ensure()
    index.create(home.index)
    runs = list(summaries)
    for summary in runs:
        folder = RunFolder(home.runs / summary.run)
        folder.path.mkdir()
        if summary.state == "queued":
            asked = RunRequest(run=summary.run, task=summary.task, model=summary.model, sandbox=summary.sandbox)
            write_request(folder.request, asked)
        elif logs:
            write_events(folder.events, a_log(summary))
        if summary.state not in ("ended", "queued"):
            Inbox(folder.inbox).close()
            alive.enter_context(hold(folder.lock))
    index.put_all(home.index, runs)
    return home


def a_log(summary: RunSummary) -> list[ev.Event]:
    """A short log that goes with a summary."""
    thought = (
        "The loss plateaus near 3.4; the learning rate is likely too low for a batch of 64. I will make room and"
        " restart from step 8000 with 3e-4."
    )
    bodies: list[tuple[int, ev.AnyBody]] = [
        (
            0,
            ev.RunCreated(
                run=summary.run,
                task=summary.task,
                scale=summary.scale,
                scaffold=summary.scaffold,
                model=summary.model,
                sandbox=summary.sandbox,
                seed=0,
                limits=summary.limits,
                who=summary.who,
            ),
        ),
        (40, ev.ModelAnswered(call_id="m1", message_id="a1", text=thought)),
        (41, ev.ToolCalled(call_id="t1", tool="bash", summary="python train.py --resume ckpt/8000 --lr 3e-4")),
        (41, ev.ToolOutput(call_id="t1", text="step 8100/12000  loss 3.41  18.2k tok/s  eta 41m\n")),
        (41, ev.ToolOutput(call_id="t1", text="saved ckpt/8100\n")),
    ]
    if (wanted := summary.approval) is not None:
        asked = ev.ApprovalAsked(
            approval_id=wanted.approval_id, call_id="t2", tool=wanted.tool, summary=wanted.summary, rule=wanted.rule,
            arguments=msgspec.json.encode({"command": wanted.summary}).decode(), editable="command",
        )  # fmt: skip
        bodies[2:] = [(41, asked)]
    return [
        ev.Event(seq=seq, at=summary.created_at + seq, step=step, body=body)
        for seq, (step, body) in enumerate(bodies, 1)
    ]
