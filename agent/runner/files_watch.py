"""Looks at the work folder while commands run: checkpoints, metrics, files that are not the agent's to change."""

import asyncio
import contextlib
import fnmatch
from collections.abc import Callable, Sequence
from pathlib import PurePosixPath

import msgspec

from agent.errors import SandboxError
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

    async def watch(self) -> None:
        """Look again and again while commands run, and twice after the last of them."""
        with contextlib.suppress(SandboxError, OSError):
            await self._begin()
        looks_left = 0
        loop = asyncio.get_running_loop()
        while True:
            took_s = 0.0
            if self._workplace.running_command:
                # Two looks see a file the same, and the last file may be written just before the command ends.
                looks_left = 2
            if looks_left and not self._pausing.frozen:
                looks_left -= 1
                began = loop.time()
                with contextlib.suppress(SandboxError, OSError):
                    await self._look()
                took_s = loop.time() - began
            await asyncio.sleep(min(SLOWEST_S, max(EVERY_S, took_s / LOOK_SHARE)))

    async def _begin(self) -> None:
        """What is there before the agent begins."""
        found = await self._workplace.sandbox.files((*self._patterns, *_TEXT))
        self._checkpoints.start_with(matching(found, checkpoints.PATTERNS))
        self._metrics.start_with(matching(found, metric_files.PATTERNS))
        self._given = {path: (size, at) for path, size, at in found if self._is_protected(path)}
        tokens = data_tokens(matching(found, _TEXT))
        if tokens:
            self._tell(DataFound(tokens))

    async def _look(self) -> None:
        found = await self._workplace.sandbox.files(self._patterns)
        progress = self._journal.summary.progress
        for seen in self._checkpoints.look(matching(found, checkpoints.PATTERNS)):
            if seen.training_step is None and progress is not None:
                seen = msgspec.structs.replace(seen, training_step=progress.step)
            self._journal.append(seen)
        self._compare({path: (size, at) for path, size, at in found if self._is_protected(path)})
        await self._read(matching(found, metric_files.PATTERNS))

    async def _read(self, found: Sequence[Found]) -> None:
        pieces_left = PIECES_A_LOOK
        for file in self._metrics.grown(found):
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
