"""Tells new and grown weights files from those that were there, once they have settled."""

import re
from collections.abc import Iterable

from agent.record.events import CheckpointSeen

PATTERNS = (
    "**/*.safetensors", "**/*.pt", "**/*.pth", "**/*.bin", "**/*.ckpt", "**/*.gguf", "**/*.h5", "**/*.keras",
    "**/*.weights", "**/*.msgpack", "**/*.npz",
)  # fmt: skip
SMALLEST_BYTES = 1024
_STEP = re.compile(r"(?:step|iter|iteration|checkpoint|ckpt|epoch)s?[-_=]?(\d{1,12})(?!\d)", re.IGNORECASE)

_State = tuple[int, float]


class CheckpointWatch:
    """Looks again and again; a file counts when two looks in a row see it the same, since it is then written."""

    def __init__(self) -> None:
        self._told: dict[str, _State] = {}
        self._last: dict[str, _State] = {}

    def start_with(self, files: Iterable[tuple[str, int, float]]) -> None:
        """What is there before the agent begins is no checkpoint of its own."""
        self._told = {path: (size, modified_at) for path, size, modified_at in files}
        self._last = dict(self._told)

    def look(self, files: Iterable[tuple[str, int, float]]) -> list[CheckpointSeen]:
        """What is new or other since the last look."""
        found = []
        now: dict[str, _State] = {}
        for path, size, modified_at in files:
            state = (size, modified_at)
            now[path] = state
            settled = self._last.get(path) == state
            if settled and self._told.get(path) != state and size >= SMALLEST_BYTES:
                self._told[path] = state
                step = training_step(path)
                found.append(CheckpointSeen(path=path, size_bytes=size, training_step=step, written_at=modified_at))
        self._last = now
        return found


def training_step(path: str) -> int | None:
    """The training step that a path names, the innermost where it names several."""
    numbers = _STEP.findall(path)
    return int(numbers[-1]) if numbers else None
