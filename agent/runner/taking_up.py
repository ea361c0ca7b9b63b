"""Takes a run up where a lost runner left it: the record set right, its graders ended, its sandbox found."""

import asyncio
import time
from collections.abc import Callable, Coroutine

from agent.errors import SandboxUnavailable
from agent.record import events as ev
from agent.record.home import RunFolder
from agent.runner.controls import Controls
from agent.runner.graders import clear_graders
from agent.runner.journal import Journal
from agent.runner.resuming import Remains
from agent.sandbox.base import Sandbox, StartedSandbox
from tasks.spec import Task

_PATIENCE_S = 60.0
_LOOK_EVERY_S = 0.2


def set_right(remains: Remains, journal: Journal) -> None:
    """Bring to an end in the record what ended with the runner: a model call, a request that was met."""
    reason = "the runner was lost while the model answered, and the answer with it"
    for worker, part in remains.parts.items():
        if part.asked:
            own = journal.of_worker(worker, part.step)
            own.append(ev.ModelFailed(call_id=part.asked, reason=reason, retry_in_s=0.0))
    for request_id in remains.requests.met:
        detail = "done, before the runner was restarted"
        journal.append(ev.RequestAnswered(request_id=request_id, detail=detail))


async def sandbox_again(
    folder: RunFolder, remains: Remains, controls: Controls, task: Task, sandbox: Sandbox
) -> StartedSandbox:
    """The sandbox of the runner before us. One that a person had frozen stays so until a person lets it go on."""
    before = remains.sandbox
    assert before is not None
    # Should the sandbox be gone, the newest snapshot can still be graded.
    controls.grading.sandbox_started(task, sandbox, before.sandbox, before.image)
    controls.grading.take_up(remains.gradings)
    controls.pausing.sandbox_started(sandbox)
    await _once_reached(sandbox, lambda: asyncio.to_thread(clear_graders, folder, before.sandbox))
    if (pause := remains.pause) is not None and remains.verdict is None:
        await _once_reached(sandbox, lambda: controls.pausing.take_up(pause))
        if controls.pausing.frozen:
            await controls.pausing.gate("model")
    started = await sandbox.attach()
    waited_for = {cut.called.command_id for cut in remains.cut}
    for command in started.commands:
        if command.running and command.command not in waited_for:
            # Nobody waits for it any more, and no other command of its session can run beside it.
            await sandbox.session(command.session).interrupt()
    await _once_reached(sandbox, controls.pausing.hold_sandbox)
    return started


async def _once_reached(sandbox: Sandbox, act: Callable[[], Coroutine[object, object, None]]) -> None:
    """Do it when what the sandbox runs on answers: a run that is taken up must not fail for a daemon that restarts."""
    gives_up_at = time.monotonic() + _PATIENCE_S
    while True:
        await sandbox.reached()
        try:
            return await act()
        except SandboxUnavailable:
            # It went away again in between.
            if time.monotonic() > gives_up_at:
                raise
            await asyncio.sleep(_LOOK_EVERY_S)
