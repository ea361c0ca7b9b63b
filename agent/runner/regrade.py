"""Grades again what an ended run has submitted, and puts the score into its record."""

from agent.errors import RunError
from agent.record import events as ev
from agent.record import index
from agent.record.home import Home, RunFolder
from agent.record.log import EventLog, EventReader
from agent.record.request import RunRequest
from agent.record.viewer import user_name
from agent.runner.grading import Grading
from agent.runner.journal import Journal
from agent.runner.workspace import prepare_data
from tasks import catalogue


async def regrade(folder: RunFolder, request: RunRequest, log: EventLog) -> None:
    """Grade the newest snapshot with the task and the data as they are now; raises `RunError` where that cannot be."""
    if log.summary.state != "ended":
        raise RunError(f"{folder.run} has not ended", hint=f"mlrb score {folder.run} grades it while it runs")
    task = catalogue.load(request.task)
    await prepare_data(folder, task, request)
    started = _sandbox_of(folder)
    journal = Journal(log)
    grading = Grading(folder, request, journal)
    grading.taken_up(task, started.sandbox, started.image)
    await grading.grade_again(by=user_name())
    await journal.drained()
    index.update(Home(folder.path.parent.parent).index, log.summary)


def _sandbox_of(folder: RunFolder) -> ev.SandboxStarted:
    with EventReader(folder.events) as reader:
        bodies = [event.body for event in reader.of_kinds(("sandbox_started",), limit=1, newest=True)]
    for body in bodies:
        if isinstance(body, ev.SandboxStarted):
            return body
    raise RunError(f"{folder.run} never had a sandbox, so there is nothing to grade")
