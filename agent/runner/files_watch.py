"""Looks at the work folder while commands run: checkpoints, metrics, files that are not the agent's to change."""

import asyncio
import contextlib
import fnmatch
from collections.abc import Callable, Sequence
from pathlib import PurePosixPath

import msgspec

from agent.errors import SandboxError
from agent.record import events as ev
from agent.runner.alarms.base import DataFound, FilesTouched, Heard
from agent.runner.calls import Workplace
from agent.runner.journal import Journal
from agent.runner.pausing import Pausing
from agent.telemetry import checkpoints, metric_files
from agent.telemetry.checkpoints import CheckpointWatch
from agent.telemetry.metric_files import PIECE_BYTES, MetricFiles

EVERY_S = 3.0
SLOWEST_S = 60.0
LOOK_SHARE = 0.01
"""A look at a large folder takes long; so much of the time at most is spent on looking."""
PIECES_A_LOOK = 4
PIECES_LAST = 40
LAST_LOOK_S = 10.0
_STATE_BYTES = 64 * 1024
_TEXT = ("**/*.txt", "**/*.jsonl", "**/*.csv")
_HELD_OUT = ("val", "valid", "validation", "dev", "test", "eval")
_BYTES_PER_TOKEN = 4.0

Found = tuple[str, int, float]


class FilesWatch:
    """All that is looked for in the work folder, in one listing a look."""

    def __init__(
        self,
        journal: Journal,
        workplace: Workplace,
        pausing: Pausing,
        protected: Sequence[str],
        tell: Callable[[Heard], None],
    ) -> None:
        self._journal = journal
        self._workplace = workplace
        self._pausing = pausing
        self._protected = tuple(protected)
        self._tell = tell
        self._checkpoints = CheckpointWatch()
        self._metrics = MetricFiles()
        self._given: dict[str, tuple[int, float]] = {}
        self._touched: tuple[str, ...] = ()
        self._begun = False
        self._looks_left = 0

    def hear(self, heard: ev.Known) -> None:
        """Tools change files too, without any command."""
        if isinstance(heard, ev.ToolFinished):
            self._looks_left = 2

    async def begin(self) -> None:
        """What is there before the agent has done anything; in a large folder that takes too long, a little later."""
        if self._pausing.frozen:
            return
        with contextlib.suppress(SandboxError, OSError, TimeoutError):
            async with asyncio.timeout(LAST_LOOK_S):
                await self._begin()

    async def watch(self) -> None:
        """Look again and again while commands run, and twice after the last of them."""
        loop = asyncio.get_running_loop()
        while True:
            took_s = 0.0
            if not self._begun and not self._pausing.frozen:
                with contextlib.suppress(SandboxError, OSError):
                    await self._begin()
            if self._workplace.running_command:
                # Two looks see a file the same, and the last file may be written just before the command ends.
                self._looks_left = 2
            if self._looks_left and not self._pausing.frozen:
                self._looks_left -= 1
                began = loop.time()
                with contextlib.suppress(SandboxError, OSError):
                    await self._look()
                took_s = loop.time() - began
            await asyncio.sleep(min(SLOWEST_S, max(EVERY_S, took_s / LOOK_SHARE)))

    async def last_look(self) -> None:
        """What was written just before the agent was done; not while the watch goes on."""
        with contextlib.suppress(SandboxError, OSError, TimeoutError):
            async with asyncio.timeout(LAST_LOOK_S):
                await self._look(last=True)

    async def _begin(self) -> None:
        """What is there before the agent begins."""
        found = await self._workplace.sandbox.files((*self._patterns, *_TEXT))
        self._checkpoints.start_with(matching(found, checkpoints.PATTERNS))
        self._metrics.start_with(matching(found, metric_files.PATTERNS))
        self._given = {path: (size, at) for path, size, at in found if self._is_protected(path)}
        tokens = data_tokens(matching(found, _TEXT))
        if tokens:
            self._tell(DataFound(tokens))
        self._begun = True

    async def _look(self, *, last: bool = False) -> None:
        if not self._begun:
            # What was there before the agent began is not known, so nothing can be told from it.
            return
        found = await self._workplace.sandbox.files(self._patterns)
        for seen in self._checkpoints.look(matching(found, checkpoints.PATTERNS), last=last):
            step = seen.training_step if seen.training_step is not None else await self._step_of(seen.path)
            self._journal.append(msgspec.structs.replace(seen, training_step=step))
        self._compare({path: (size, at) for path, size, at in found if self._is_protected(path)})
        await self._read(matching(found, metric_files.PATTERNS), PIECES_LAST if last else PIECES_A_LOOK)

    async def _step_of(self, path: str) -> int | None:
        """As the trainer noted it beside the weights; else where the training stands."""
        state = PurePosixPath(path).parent / checkpoints.STATE_FILE
        with contextlib.suppress(SandboxError, OSError):
            piece = await self._workplace.sandbox.read_piece(str(state), 0, _STATE_BYTES)
            if (stated := checkpoints.stated_step(piece)) is not None:
                return stated
        progress = self._journal.summary.progress
        return progress.step if progress is not None else None

    async def _read(self, found: Sequence[Found], pieces_left: int) -> None:
        for file in self._metrics.grown(found):
            # One that may not be read, or has just gone, is no reason to leave the others.
            with contextlib.suppress(OSError):
                while pieces_left and file.read_bytes < file.size_bytes:
                    pieces_left -= 1
                    before = file.read_bytes
                    piece = await self._workplace.sandbox.read_piece(file.path, before, PIECE_BYTES)
                    for seen in self._metrics.take(file, piece):
                        self._journal.append(seen)
                    if file.read_bytes == before:
                        break

    def _compare(self, now: dict[str, tuple[int, float]]) -> None:
        touched = tuple(sorted(path for path in {*self._given, *now} if self._given.get(path) != now.get(path)))
        if touched != self._touched:
            self._touched = touched
            self._tell(FilesTouched(touched))

    @property
    def _patterns(self) -> tuple[str, ...]:
        return (*checkpoints.PATTERNS, *metric_files.PATTERNS, *self._protected)

    def _is_protected(self, path: str) -> bool:
        own = PurePosixPath(path)
        return any(own == (guarded := PurePosixPath(name)) or guarded in own.parents for name in self._protected)


def matching(found: Sequence[Found], patterns: Sequence[str]) -> list[Found]:
    """Those whose names match a `**/NAME` pattern."""
    names = [pattern.removeprefix("**/") for pattern in patterns]
    return [each for each in found if any(fnmatch.fnmatchcase(each[0].rpartition("/")[2], name) for name in names)]


def data_tokens(found: Sequence[Found]) -> float:
    """About how many tokens of training text lie in these files: a token is four bytes of English."""
    trained_on = (size for path, size, _ in found if not _held_out(path))
    return sum(trained_on) / _BYTES_PER_TOKEN


def _held_out(path: str) -> bool:
    parts = path.lower().replace(".", "/").replace("_", "/").replace("-", "/").split("/")
    return any(part in _HELD_OUT for part in parts)
