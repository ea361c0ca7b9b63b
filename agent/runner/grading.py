"""Has the submission graded: a snapshot out of the sandbox, its hash, the isolated grader, its answer as events."""

import asyncio
import os
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import msgspec
from msgspec import Struct

from agent.errors import NoRoom, RunError, SandboxError, SandboxLost, SandboxUnreachable, SubmissionTooLarge
from agent.record import events as ev
from agent.record.home import RunFolder
from agent.record.request import RunRequest
from agent.record.text import one_line
from agent.record.values import Purpose, Score
from agent.runner.journal import Journal
from agent.runner.processes import module_process, read_tail
from agent.runner.room import PATIENCE_S, with_room
from agent.sandbox.base import Sandbox
from agent.sandbox.choose import where_to_grade
from tasks.snapshot import submission_sha256
from tasks.spec import Task

MARGIN_S = 60.0
"""What the grader may take over its own time-out, for its start and its clearing up."""
_LONGEST_LINE = 4 * 1024 * 1024
_PROGRESS_EVERY_S = 0.1


class _Progress(Struct, frozen=True):
    done: int = 0
    total: int = 0
    what: str = ""
    waiting: bool = False
    """It stands still, and not by its own fault."""


class _Line(Struct, frozen=True):
    """One line of the grader's result channel."""

    progress: _Progress | None = None
    score: Score | None = None


@dataclass(frozen=True)
class Snapshot:
    """A copy of the submission."""

    number: int
    path: Path
    sha256: str


@dataclass(frozen=True)
class _Watched:
    """A grading under way, and the time that it has."""

    grading_id: str
    limit: asyncio.Timeout
    limit_s: float

    def begin_again(self) -> None:
        """Time in which the grader itself waits for a daemon is not its own."""
        self.limit.reschedule(asyncio.get_running_loop().time() + self.limit_s)


class Grading:
    """Takes snapshots of a run's submission and has them graded."""

    def __init__(
        self, folder: RunFolder, request: RunRequest, journal: Journal, *, patience_s: float = PATIENCE_S
    ) -> None:
        self._folder = folder
        self._patience_s = patience_s
        self._request = request
        self._journal = journal
        self._graded_task: Task | None = None
        self._sandbox: Sandbox | None = None
        self._where = "local"
        self._image = ""
        self._begun: dict[Purpose, ev.GradingStarted] = {}

    def take_up(self, begun: Mapping[Purpose, ev.GradingStarted]) -> None:
        """Gradings that were lost with a runner before us: the next of that purpose grades the same snapshot."""
        self._begun = dict(begun)

    def sandbox_started(self, task: Task, sandbox: Sandbox, kind: str, image: str) -> None:
        """From now on there is something to grade."""
        self._graded_task = task
        self._sandbox = sandbox
        self._where, self._image = where_to_grade(kind, image), image

    def taken_up(self, task: Task, kind: str, image: str) -> None:
        """The run has ended and its sandbox is gone: only what was submitted can be graded, again."""
        self._graded_task, self._where, self._image = task, where_to_grade(kind, image), image

    @property
    def possible(self) -> bool:
        """Whether there is something to grade."""
        return self._sandbox is not None

    @property
    def _task(self) -> Task:
        assert self._graded_task is not None
        return self._graded_task

    async def grade(self, purpose: Purpose, *, by: str = "") -> Score:
        """Snapshot and grade; a grader that breaks gives a score without a value that says so."""
        split: Literal["dev", "test"] = "test" if purpose == "final" else "dev"
        begun = self._begun.pop(purpose, None)
        if begun is not None and (path := self._folder.submission / str(begun.snapshot)).is_dir():
            same = Snapshot(begun.snapshot, path, begun.artefact_sha256)
            return await self._recorded(same, split, purpose, by, begun.grading_id)
        try:
            snapshot = await self._snapshot(fall_back=purpose == "final")
        except (SubmissionTooLarge, NoRoom) as error:
            return self._refused(split, purpose, by, error.message)
        except SandboxLost as error:
            if purpose != "final":
                raise
            return self._refused(split, purpose, by, f"nothing is left to grade: {error.message}")
        return await self._recorded(snapshot, split, purpose, by)

    async def grade_again(self, *, by: str) -> Score:
        """Grade the newest snapshot once more, on the held-out split; raises `RunError` where there is none."""
        numbers = self._numbers()
        if not numbers:
            raise RunError(f"{self._folder.run} has nothing to grade: no submission was copied out")
        path = self._folder.submission / str(max(numbers))
        snapshot = Snapshot(int(path.name), path, await asyncio.to_thread(submission_sha256, path))
        return await self._recorded(snapshot, "test", "regrade", by)

    async def _recorded(
        self, snapshot: Snapshot, split: Literal["dev", "test"], purpose: Purpose, by: str, grading_id: str = ""
    ) -> Score:
        grading_id = grading_id or self._journal.fresh_id("g")
        self._journal.append(
            ev.GradingStarted(
                grading_id=grading_id, purpose=purpose, split=split, artefact_sha256=snapshot.sha256,
                snapshot=snapshot.number,
            )
        )  # fmt: skip
        started_at = self._journal.now()
        score = await self._graded(snapshot, split, grading_id)
        duration_s = self._journal.now() - started_at
        self._journal.append(
            ev.Graded(grading_id=grading_id, purpose=purpose, score=score, duration_s=duration_s, by=by)
        )
        return score

    def _refused(self, split: Literal["dev", "test"], purpose: Purpose, by: str, why: str) -> Score:
        """The record of a submission that was not even copied."""
        grading_id = self._journal.fresh_id("g")
        self._journal.append(ev.GradingStarted(grading_id=grading_id, purpose=purpose, split=split))
        score = self._without_value("", split, why)
        self._journal.append(ev.Graded(grading_id=grading_id, purpose=purpose, score=score, by=by))
        return score

    async def _snapshot(self, *, fall_back: bool) -> Snapshot:
        """A fresh copy; where none can be had, with `fall_back`, the newest there is."""
        try:
            path = await self._copied()
        except (SandboxError, NoRoom) as error:
            if isinstance(error, SandboxUnreachable) or not (fall_back and self._numbers()):
                raise
            path = self._newest_instead(error)
        return Snapshot(int(path.name), path, await asyncio.to_thread(submission_sha256, path))

    async def _copied(self) -> Path:
        """A fresh copy. A full disk is waited out here, while the sandbox is there to copy from."""
        assert self._sandbox is not None
        sandbox, spec = self._sandbox, self._task.spec
        wanted = [*spec.artefact.paths, *spec.protected]

        async def size_bytes() -> int:
            return sum(size for _, size, _ in await sandbox.files(wanted))

        def tell(said: str) -> None:
            self._journal.append(
                ev.AlertRaised(alert="disk_full", message=f"the submission: {said}", hint="scoring waits; make room")
            )

        return await with_room(
            lambda: self._copied_once(sandbox, wanted),
            folder=self._folder.submission,
            needed_bytes=size_bytes,
            on_full=tell,
            patience_s=self._patience_s,
        )

    async def _copied_once(self, sandbox: Sandbox, wanted: Sequence[str]) -> Path:
        number = max((*self._numbers(), *self._numbers("."), 0)) + 1
        # Named as a snapshot only once it is whole: a part of it would be taken for what was submitted.
        path, partial = self._folder.submission / str(number), self._folder.submission / f".{number}"
        try:
            partial.mkdir(mode=0o700, parents=True)
            await sandbox.copy_out(wanted, partial)
            partial.rename(path)
        finally:
            shutil.rmtree(partial, ignore_errors=True)
        return path

    def _newest_instead(self, error: SandboxError | NoRoom) -> Path:
        path = self._folder.submission / str(max(self._numbers()))
        self._journal.append(
            ev.AlertRaised(
                alert="old_snapshot",
                message=f"no copy of the work as it was; graded is snapshot {path.name}: {one_line(error.message)}",
            )
        )
        return path

    def _numbers(self, prefix: str = "") -> list[int]:
        if not self._folder.submission.is_dir():
            return []
        names = [entry.name for entry in self._folder.submission.iterdir() if entry.name.startswith(prefix)]
        return [int(name.removeprefix(prefix)) for name in names if name.removeprefix(prefix).isdigit()]

    async def _graded(self, snapshot: Snapshot, split: Literal["dev", "test"], grading_id: str) -> Score:
        limit_s = self._task.at(self._request.scale).grading_timeout_s + MARGIN_S
        try:
            async with asyncio.timeout(limit_s) as limit:
                score, stderr = await self._asked(snapshot, split, _Watched(grading_id, limit, limit_s))
        except TimeoutError:
            return self._without_value(snapshot.sha256, split, f"the grader did not end within {limit_s:.0f} s")
        if score is not None:
            return score
        said = one_line(stderr) or "it said nothing"
        blamed = said if said.startswith("the grader") else f"the grader broke: {said}"
        return self._without_value(snapshot.sha256, split, blamed)

    async def _asked(self, snapshot: Snapshot, split: str, watched: "_Watched") -> tuple[Score | None, str]:
        """What the grader says on its own channel, and the end of its stderr."""
        ours, theirs = os.pipe()
        try:
            async with module_process(
                "evaluation.grade", self._arguments(snapshot, split, theirs), pass_fds=(theirs,)
            ) as process:
                os.close(theirs)
                theirs = -1
                assert process.stderr is not None
                score, stderr = await asyncio.gather(self._read_result(ours, watched), read_tail(process.stderr))
                return score, stderr
        finally:
            os.close(ours)
            if theirs >= 0:
                os.close(theirs)

    def _arguments(self, snapshot: Snapshot, split: str, result_fd: int) -> Sequence[str]:
        return [
            str(self._folder.path),
            *("--snapshot", str(snapshot.number), "--split", split, "--result-fd", str(result_fd)),
            *("--sandbox", self._where),
            *(("--image", self._image) if self._image else ()),
        ]

    async def _read_result(self, descriptor: int, watched: "_Watched") -> Score | None:
        reader = asyncio.StreamReader(limit=_LONGEST_LINE)
        protocol = asyncio.StreamReaderProtocol(reader)
        loop = asyncio.get_running_loop()
        with os.fdopen(os.dup(descriptor), "rb") as pipe:
            transport, _ = await loop.connect_read_pipe(lambda: protocol, pipe)
            try:
                return await self._read_lines(reader, watched)
            finally:
                transport.close()

    async def _read_lines(self, reader: asyncio.StreamReader, watched: "_Watched") -> Score | None:
        score: Score | None = None
        decoder = msgspec.json.Decoder(_Line)
        told_at = -_PROGRESS_EVERY_S
        while raw := await reader.readline():
            try:
                line = decoder.decode(raw)
            except msgspec.MsgspecError:
                continue
            score = line.score or score
            if line.progress is not None and line.progress.waiting:
                watched.begin_again()
            now = self._journal.now()
            if line.progress is not None and (now - told_at >= _PROGRESS_EVERY_S):
                told_at = now
                said = line.progress
                self._journal.append(
                    ev.GradingProgressed(
                        grading_id=watched.grading_id, done=said.done, total=said.total, what=said.what
                    )
                )
        return score

    def _without_value(self, sha256: str, split: Literal["dev", "test"], error: str) -> Score:
        metric = self._task.metric(self._request.scale)
        return Score(
            metric=metric.name,
            direction=metric.direction,
            scale=self._request.scale,
            split=split,
            baseline=self._task.at(self._request.scale).baseline.value,
            artefact_sha256=sha256,
            isolation=self._where,
            error=error,
        )
