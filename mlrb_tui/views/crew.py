"""A run's workers at the moment that its screen shows: what each did last, read from the log, each for itself."""

from agent.record import events as ev
from agent.record.crew import WorkerNow
from agent.record.values import Crew
from mlrb_tui.views.blocks import AnyBlock
from mlrb_tui.views.run import RunView
from mlrb_tui.views.transcript import Transcript
from mlrb_tui.views.window import Window

_PAGE = 30
_MOST_BLOCKS, _KEPT_BLOCKS = 200, 60
_FARTHEST = 2_000
"""Events that are taken in one by one; beyond, all is read anew."""


class CrewView:
    """Everybody's own transcript, as it stands where the run's view stands."""

    def __init__(self, view: RunView) -> None:
        self._view = view
        self._transcripts: dict[int, Transcript] = {}
        self._position = 0
        self._seeks = view.seeks

    @property
    def crew(self) -> Crew:
        """The plan and the workers."""
        return self._view.summary.crew

    @property
    def members(self) -> list[WorkerNow]:
        """The supervisor, then who works, then who ended, the newest first."""
        crew = self.crew
        ended = [worker for worker in reversed(crew.workers) if not worker.at_work]
        chief = crew.supervisor or WorkerNow(worker=0)
        return [chief, *crew.at_work, *ended]

    def blocks(self, worker: int) -> list[AnyBlock]:
        """What that worker did last, oldest first."""
        if worker not in self._transcripts:
            self._transcripts[worker], _ = Window(self._view.reader, worker).upto(self._position, _PAGE)
        return self._transcripts[worker].blocks

    def follow(self) -> bool:
        """Come to where the run's view stands; says whether anything moved."""
        view = self._view
        if view.position == self._position and view.seeks == self._seeks:
            return False
        near = self._position <= view.position <= self._position + _FARTHEST
        if view.seeks != self._seeks or not near:
            self._transcripts.clear()
        else:
            self._take(view.reader.since(self._position, view.position - self._position))
        self._position, self._seeks = view.position, view.seeks
        return True

    def _take(self, events: list[ev.Event]) -> None:
        window = Window(self._view.reader)
        for worker, transcript in self._transcripts.items():
            transcript.apply(window.resolved(event) for event in events if event.worker == worker)
            if len(transcript.blocks) > _MOST_BLOCKS:
                transcript.drop_oldest(len(transcript.blocks) - _KEPT_BLOCKS)
