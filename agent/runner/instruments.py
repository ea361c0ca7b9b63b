"""Everything that measures beside the agent, and the alarms that hang on it."""

from collections.abc import Coroutine, Sequence

from agent.record.request import RunRequest
from agent.runner import gpu_watch, watch
from agent.runner.alarms.base import Conditions
from agent.runner.alarms.watching import Alarms
from agent.runner.calls import Workplace
from agent.runner.files_watch import FilesWatch
from agent.runner.injections import Injections
from agent.runner.journal import Journal
from agent.runner.pausing import Pausing
from agent.sandbox.machines import on_another
from agent.telemetry.machine import Machine
from tasks.spec import Task


class Instruments:
    """One run's instruments, from when its agent begins to when it is done."""

    def __init__(
        self,
        request: RunRequest,
        task: Task,
        journal: Journal,
        workplace: Workplace,
        pausing: Pausing,
        injections: Injections,
    ) -> None:
        self._request = request
        self._journal = journal
        self._workplace = workplace
        self._pausing = pausing
        self._alarms = Alarms(journal, Conditions(request.alarms, workplace.command_timeout_s), injections.remind)
        self._files = FilesWatch(journal, workplace, pausing, task.spec.protected, self._alarms.hear)
        journal.listeners += [self._alarms.hear, self._files.hear]

    async def begin(self) -> None:
        """See how things are before the agent begins."""
        await self._files.begin()

    def work(self) -> Sequence[Coroutine[object, object, None]]:
        """What is to run beside the agent."""
        machine = None if on_another(self._request.sandbox) else Machine()
        return (
            watch.sample_host(self._journal, self._workplace, self._pausing, machine),
            gpu_watch.sample_gpus(self._request, self._journal, self._workplace),
            self._files.watch(),
            self._alarms.watch(),
        )

    async def last_look(self) -> None:
        """What the agent left in its work folder, once it is done and `work` has ended."""
        await self._files.last_look()

    def close(self) -> None:
        """No alarm is raised any more."""
        self._journal.listeners.remove(self._alarms.hear)
        self._journal.listeners.remove(self._files.hear)
