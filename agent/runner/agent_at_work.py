"""Puts the agent's parts together and lets its scaffold lead it."""

import asyncio
import random
from dataclasses import dataclass

from agent.models.base import Model
from agent.record.request import RunRequest
from agent.runner import watch
from agent.runner.approvals import Approvals
from agent.runner.asking import Asking
from agent.runner.calls import Workplace
from agent.runner.cockpit import RunCockpit
from agent.runner.conversation import Conversation, unanswered
from agent.runner.ending import Ending, Verdict
from agent.runner.gates import Gates
from agent.runner.grading import Grading
from agent.runner.injections import Injections
from agent.runner.instruments import Instruments
from agent.runner.journal import Journal
from agent.runner.pausing import Pausing
from agent.runner.resuming import Remains
from agent.runner.steering import Steering
from agent.runner.using import Using
from agent.sandbox.base import Sandbox, StartedSandbox
from agent.scaffolds.base import Briefing, Scaffold
from agent.tools.catalogue import TOOLS
from tasks import catalogue
from tasks.spec import Task


@dataclass(frozen=True)
class Controls:
    """What steers a run, there from its first moment to its last."""

    journal: Journal
    pausing: Pausing
    approvals: Approvals
    ending: Ending
    injections: Injections
    grading: Grading
    steering: Steering
    gates: Gates


@dataclass(frozen=True)
class Equipment:
    """What a run works with, there once it has started."""

    task: Task
    scaffold: Scaffold
    model: Model
    sandbox: Sandbox
    started: StartedSandbox


async def lead(request: RunRequest, controls: Controls, equipment: Equipment, remains: Remains) -> None:
    """Let the agent work until it submits, gives up or is stopped; says how it ended."""
    journal = controls.journal
    workplace = _workplace(request, controls, equipment, remains)
    conversation = Conversation(journal, remains.messages)
    using = Using(
        journal=journal, conversation=conversation, gates=controls.gates, approvals=controls.approvals, tools=TOOLS,
        workplace=workplace,
    )  # fmt: skip
    cockpit = _cockpit(request, controls, equipment, conversation, using, workplace, in_step=remains.in_step)
    await controls.steering.agent_started(using)
    instruments = Instruments(request, equipment.task, journal, workplace, controls.pausing, controls.injections)
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
        await _finish_step(using, workplace, equipment.started, remains)
        ending = await equipment.scaffold.run(cockpit)
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


async def _finish_step(using: Using, workplace: Workplace, started: StartedSandbox, remains: Remains) -> None:
    """The calls that were left of the step in which a runner before us was lost."""
    for call in unanswered(remains.messages):
        if workplace.submitted:
            return
        if remains.cut is not None and remains.cut.called.call_id == call.call_id:
            await using.take_up(call, remains.cut, started)
        else:
            await using.use(call)


def _workplace(request: RunRequest, controls: Controls, equipment: Equipment, remains: Remains) -> Workplace:
    return Workplace(
        journal=controls.journal,
        sandbox=equipment.sandbox,
        workdir=equipment.started.workdir,
        command_timeout_s=equipment.task.at(request.scale).limits.command_timeout_s,
        grade=lambda: controls.grading.grade("validate"),
        submitted=remains.submitted,
    )


def _cockpit(
    request: RunRequest,
    controls: Controls,
    equipment: Equipment,
    conversation: Conversation,
    using: Using,
    workplace: Workplace,
    *,
    in_step: bool,
) -> RunCockpit:
    journal, task = controls.journal, equipment.task
    tools = [tool.spec for tool in TOOLS.values()]
    asking = Asking(
        journal=journal, model=equipment.model, tools=tools, conversation=conversation,
        injections=controls.injections, gates=controls.gates, rng=random.Random(),
    )  # fmt: skip
    limits = journal.summary.limits
    prompt = catalogue.prompt(task, request.scale, time_s=limits.time_s, steps=limits.steps)
    briefing = Briefing(
        task=task.spec.name, prompt=prompt, workdir=equipment.started.workdir, network=task.spec.network
    )
    return RunCockpit(
        briefing=briefing, tools=tools, journal=journal, conversation=conversation,
        gates=controls.gates, asking=asking, using=using, workplace=workplace, in_step=in_step,
    )  # fmt: skip
