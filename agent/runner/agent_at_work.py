"""Puts the agent's parts together and lets its scaffold lead it."""

import asyncio
from dataclasses import dataclass

from agent.record.request import RunRequest
from agent.runner import watch
from agent.runner.bridge import RunBridge
from agent.runner.calls import Workplace
from agent.runner.controls import Controls
from agent.runner.ending import Verdict
from agent.runner.instruments import Instruments
from agent.runner.resuming import Remains
from agent.runner.seats import Seats
from agent.runner.voices import Voices
from agent.sandbox.base import Sandbox, StartedSandbox
from agent.scaffolds.base import Briefing, Scaffold
from tasks import catalogue
from tasks.spec import Task


@dataclass(frozen=True)
class Equipment:
    """What a run works with, there once it has started."""

    task: Task
    scaffold: Scaffold
    voices: Voices
    sandbox: Sandbox
    started: StartedSandbox


async def lead(request: RunRequest, controls: Controls, equipment: Equipment, remains: Remains) -> None:
    """Let the agent work until it submits, gives up or is stopped; says how it ended."""
    journal = controls.journal
    workplace = _workplace(request, controls, equipment, remains)
    seats = Seats(controls, workplace, equipment.voices, remains, equipment.started)
    seat = seats.take(0, equipment.scaffold.tools())
    bridge = RunBridge(_briefing(request, controls, equipment), seat, seats, controls, remains.plan)
    await controls.steering.agent_started(seats)
    instruments = Instruments(request, equipment.task, journal, workplace, controls.pausing, controls.injections)
    await instruments.begin()
    beside = [
        asyncio.create_task(work)
        for work in (
            watch.watch_clock(controls.gates),
            watch.stand_while_full(journal, controls.pausing),
            *instruments.work(),
        )
    ]
    ending = None
    try:
        if not equipment.scaffold.parts:
            await bridge.finish_step()
        ending = await equipment.scaffold.run(bridge)
    finally:
        for task in beside:
            task.cancel()
        await asyncio.gather(*beside, return_exceptions=True)
        if ending is not None:
            await instruments.last_look()
        instruments.close()
    if ending == "submitted":
        controls.ending.decide(Verdict("submitted"))
    else:
        controls.ending.decide(Verdict("failed", detail="the agent gave up: it used no tool any more"))


def _workplace(request: RunRequest, controls: Controls, equipment: Equipment, remains: Remains) -> Workplace:
    return Workplace(
        sandbox=equipment.sandbox,
        workdir=equipment.started.workdir,
        command_timeout_s=equipment.task.at(request.scale).limits.command_timeout_s,
        grade=lambda: controls.grading.grade("validate"),
        submitted=remains.submitted,
    )


def _briefing(request: RunRequest, controls: Controls, equipment: Equipment) -> Briefing:
    task, limits = equipment.task, controls.journal.summary.limits
    prompt = catalogue.prompt(task, request.scale, time_s=limits.time_s, steps=limits.steps)
    return Briefing(
        task=task.spec.name, prompt=prompt, workdir=equipment.started.workdir, network=task.spec.network,
        research=request.research,
    )  # fmt: skip
