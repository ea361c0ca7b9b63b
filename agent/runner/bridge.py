"""What a scaffold that leads workers is given besides: the plan, the workers and their folders."""

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace

from agent.errors import SandboxError
from agent.models.base import Message
from agent.record import events as ev
from agent.record.crew import Crew, PlanStep
from agent.runner import folders
from agent.runner.cockpit import RunCockpit
from agent.runner.controls import Controls
from agent.runner.folders import Joined
from agent.runner.journal import Journal
from agent.runner.limits import working_s
from agent.runner.seats import Seat, Seats
from agent.scaffolds.base import Briefing, Ended
from agent.tools.base import Tool

_LONGEST_STEP_NAME = 32


class RunBridge(RunCockpit):
    """The `Bridge` of a real run."""

    def __init__(
        self, briefing: Briefing, seat: Seat, seats: Seats, controls: Controls, plan: Sequence[PlanStep]
    ) -> None:
        super().__init__(briefing, seat, controls.gates)
        self._main = seat
        self._seats = seats
        self._controls = controls
        self._ends: dict[int, Ended] = {}
        self.plan: Sequence[PlanStep] = plan

    @property
    def crew(self) -> Crew:
        """The plan and the workers as they stand."""
        return self._main.bench.journal.summary.crew

    @property
    def time_used_s(self) -> float:
        """The run's working time so far."""
        journal = self._main.bench.journal
        return working_s(journal.summary, journal.now())

    @property
    def time_left_s(self) -> float | None:
        """Of the run's working time; None where it has no limit."""
        limit_s = self._main.bench.journal.summary.limits.time_s
        return None if limit_s is None else max(0.0, limit_s - self.time_used_s)

    async def finish_step(self) -> None:
        """The calls that were left of the step in which a runner before us was lost."""
        await self._seats.finish_step(self._main)

    def make_plan(self, steps: Sequence[PlanStep], why: str) -> None:
        """Put a plan into the record; it holds from now on."""
        self.plan = tuple(steps)
        self._main.bench.journal.append(ev.PlanMade(steps=self.plan, why=why))

    async def start_worker(self, step: str, *, apart: bool) -> int:
        """Put a new worker into the record; its folder is made when it takes its seat."""
        await self._main.bench.journal.writable()
        number = self.crew.started + 1
        name = "".join(letter if letter.isalnum() else "-" for letter in step)[:_LONGEST_STEP_NAME]
        folder = f"{folders.ROOT}/{number}-{name}" if apart else ""
        self._journal_of(number).append(ev.WorkerStarted(step=step, folder=folder))
        return number

    async def seat_worker(self, number: int, tools: Mapping[str, Tool]) -> RunCockpit:
        """The cockpit of a worker that was started, in its folder; raises `OSError` where that could not be made."""
        known = self.crew.worker(number)
        folder = known.folder if known is not None else ""
        seat = self._seats.take(number, tools, folder)
        bench = seat.bench
        fresh = not seat.conversation.messages
        if folder and fresh:
            trouble = await folders.begin(
                bench.session, bench.workplace.workdir, folder, bench.journal.fresh_id(f"folder{number}-")
            )
            if trouble:
                raise OSError(f"its folder could not be made: {trouble}")
        await self._seats.finish_step(seat)
        briefing = replace(self.briefing, workdir=bench.workdir)
        return RunCockpit(briefing, seat, self._controls.gates)

    def report_worker(self, number: int, text: str) -> None:
        """Put into the record what the supervisor is told of a worker that goes on."""
        self._journal_of(number).append(ev.WorkerReported(text=text))

    async def end_worker(self, number: int, ended: Ended) -> None:
        """Put a worker's end into the record, once the files of a folder of its own have joined the work folder."""
        known = self.crew.worker(number)
        joined, trouble = Joined(), ""
        if known is not None and known.folder and ended.outcome == "returned":
            joined, trouble = await self._joined(number, known.folder)
        why = "; ".join(part for part in (ended.why, trouble and f"its files did not join: {trouble}") if part)
        self._journal_of(number).append(
            ev.WorkerEnded(
                outcome=ended.outcome, step=known.step if known is not None else "", submission=ended.submission,
                model_path=ended.model_path, why=why, files=joined.files, file_count=joined.count,
                conflicts=joined.conflicts,
            )
        )  # fmt: skip
        self._ends[number] = replace(ended, why=why, conflicts=joined.conflicts)
        self._seats.leave(number, f"worker {number} has ended")

    def end_of(self, number: int) -> Ended:
        """How a worker ended, as far as it ended under this runner."""
        return self._ends.get(number, Ended("failed"))

    def conversations(self) -> Mapping[int, Sequence[Message]]:
        """Everybody's conversation, that of workers who have ended too."""
        return self._seats.conversations

    async def message_waits(self) -> None:
        """Return when a person's message waits for the one who leads."""
        await self._controls.injections.wait_for(0)

    def at_work(self) -> AbstractContextManager[None]:
        """While somebody else is at work than the one who leads: a pause waits for them too."""
        return self._controls.pausing.at_work()

    def aside(self) -> AbstractContextManager[None]:
        """While the one who leads only waits for the others."""
        return self._controls.pausing.aside()

    async def _joined(self, number: int, folder: str) -> tuple[Joined, str]:
        bench = self._main.bench
        session = bench.workplace.sandbox.session(number)
        name = bench.journal.fresh_id(f"join{number}-")
        await self._controls.gates.before_tool()
        # Two that end at once must not both put a file where neither saw the other's.
        async with bench.workplace.shared_file:
            try:
                return await folders.join(session, bench.workplace.workdir, folder, name)
            except SandboxError:
                if self._controls.gates.left:
                    raise
                return Joined(), "the sandbox did not answer"

    def _journal_of(self, number: int) -> Journal:
        known = self.crew.worker(number)
        step = known.last_step if known is not None and known.last_step else self._main.bench.journal.step
        return self._main.bench.journal.of_worker(number, step)
