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
from agent.runner.conversation import Conversation
from agent.runner.ending import Ending, Verdict
from agent.runner.gates import Gates
from agent.runner.grading import Grading
from agent.runner.injections import Injections
from agent.runner.journal import Journal
from agent.runner.pausing import Pausing
from agent.runner.resuming import Remains, held, settle
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
    waiting = held(remains)
    settle(remains, journal, conversation)
    gates = Gates(journal, controls.pausing, controls.ending, request.on_limit)
    cockpit = _cockpit(request, controls, equipment, conversation, gates, workplace)
    beside = [
        asyncio.create_task(work)
        for work in (
            watch.watch_clock(gates),
            watch.sample_host(journal, workplace, controls.pausing),
            watch.sample_gpus(journal, workplace),
            watch.look_for_checkpoints(journal, workplace, controls.pausing),
        )
    ]
    try:
        for call in waiting:
            if not cockpit.submitted:
                await cockpit.use(call)
        ending = await equipment.scaffold.run(cockpit)
    finally:
        for task in beside:
            task.cancel()
        await asyncio.gather(*beside, return_exceptions=True)
    if ending == "submitted":
        controls.ending.decide(Verdict("submitted"))
    else:
        controls.ending.decide(Verdict("failed", detail="the agent gave up: it used no tool any more"))


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
    gates: Gates,
    workplace: Workplace,
) -> RunCockpit:
    journal, task = controls.journal, equipment.task
    tools = [tool.spec for tool in TOOLS.values()]
    using = Using(
        journal=journal, conversation=conversation, gates=gates, approvals=controls.approvals, tools=TOOLS,
        workplace=workplace,
    )  # fmt: skip
    controls.steering.agent_started(using, gates)
    asking = Asking(
        journal=journal, model=equipment.model, tools=tools, conversation=conversation,
        injections=controls.injections, gates=gates, rng=random.Random(),
    )  # fmt: skip
    limits = journal.summary.limits
    prompt = catalogue.prompt(task, request.scale, time_s=limits.time_s, steps=limits.steps)
    briefing = Briefing(
        task=task.spec.name, prompt=prompt, workdir=equipment.started.workdir, network=task.spec.network
    )
    return RunCockpit(
        briefing=briefing, tools=tools, journal=journal, conversation=conversation, gates=gates,
        asking=asking, using=using, workplace=workplace,
    )  # fmt: skip
