"""Tells new and grown weights files from those that were there, once they have settled."""

import re
from collections.abc import Iterable

from agent.record.events import CheckpointSeen

PATTERNS = (
    "**/*.safetensors", "**/*.pt", "**/*.pth", "**/*.bin", "**/*.ckpt", "**/*.gguf", "**/*.h5", "**/*.keras",
    "**/*.weights", "**/*.msgpack", "**/*.npz", "**/*.pkl", "**/*.joblib", "**/*.onnx", "**/*.distcp",
)  # fmt: skip
SMALLEST_BYTES = 1024
REWRITTEN_S = 30.0
"""A file that is written anew more often than one looks at it is told of so often."""
STATE_FILE = "trainer_state.json"
"""What Hugging Face writes beside the weights: it holds the step."""
# An epoch is no step.
_STEP = re.compile(r"(?:step|iter|iteration|checkpoint|ckpt)s?[-_=]?(\d{1,12})(?!\d)", re.IGNORECASE)
_SHARD = re.compile(r"-(\d{5})-of-(\d{5})(?=\.\w{1,11}$)")
_STATED_STEP = re.compile(rb'"global_step"\s{0,4}:\s{0,4}(\d{1,15})')
# Beside the weights in a checkpoint's folder; and data for nanoGPT, which has the name of weights.
_NO_WEIGHTS = re.compile(
    r"(?:optim(?:izer)?|sched(?:uler)?|scaler|rng_state|random_states|training_args|train|val|valid|validation|test|dev)"
    r"(?:[_.-]?\d{1,6})?\.\w{1,11}|.{0,200}optim_states\.pt|.{0,200}tokens\.(?:bin|npz|pt)",
    re.IGNORECASE,
)

_State = tuple[int, float]


class CheckpointWatch:
    """Looks again and again; a file counts when two looks in a row see it the same, since it is then written."""

    def __init__(self) -> None:
        self._told: dict[str, _State] = {}
        self._last: dict[str, _State] = {}

    def start_with(self, files: Iterable[tuple[str, int, float]]) -> None:
        """What is there before the agent begins is no checkpoint of its own."""
        self._told = {path: (size, modified_at) for path, size, modified_at in whole(files)}
        self._last = dict(self._told)

    def look(self, files: Iterable[tuple[str, int, float]], *, last: bool = False) -> list[CheckpointSeen]:
        """What is new or other since the last look; in the last one of all, whatever is there has settled."""
        found = []
        now: dict[str, _State] = {}
        for path, size, modified_at in whole(files):
            state = (size, modified_at)
            now[path] = state
            told = self._told.get(path)
            if told == state or size < SMALLEST_BYTES or not holds_weights(path):
                continue
            if last or self._has_settled(path, state, told):
                self._told[path] = state
                step = training_step(path)
                found.append(CheckpointSeen(path=path, size_bytes=size, training_step=step, written_at=modified_at))
        self._last = now
        return found

    def _has_settled(self, path: str, state: _State, told: _State | None) -> bool:
        before = self._last.get(path)
        if before is None or before == state:
            return before is not None
        # One that is saved over and over stands never still: it counts where its size does.
        return before[0] == state[0] and (told is None or state[1] - told[1] >= REWRITTEN_S)


def whole(files: Iterable[tuple[str, int, float]]) -> list[tuple[str, int, float]]:
    """The files, shards of one model as one of them all, `model-*-of-00003.safetensors`, once all are there."""
    found: list[tuple[str, int, float]] = []
    shards: dict[tuple[str, int], list[tuple[int, float]]] = {}
    for path, size, modified_at in files:
        shard = _SHARD.search(path)
        if shard is None:
            found.append((path, size, modified_at))
        else:
            name = f"{path[: shard.start()]}-*-of-{shard[2]}{path[shard.end() :]}"
            shards.setdefault((name, int(shard[2])), []).append((size, modified_at))
    for (name, count), parts in shards.items():
        if len(parts) >= count:
            found.append((name, sum(size for size, _ in parts), max(at for _, at in parts)))
    return found


def holds_weights(path: str) -> bool:
    """Whether a file with such an ending may hold weights, by its name."""
    return _NO_WEIGHTS.fullmatch(path.rpartition("/")[2]) is None


def training_step(path: str) -> int | None:
    """The training step that a path names, the innermost where it names several."""
    numbers = _STEP.findall(path)
    return int(numbers[-1]) if numbers else None


def stated_step(state: bytes) -> int | None:
    """The step that the beginning of a `trainer_state.json` tells."""
    found = _STATED_STEP.search(state)
    return int(found[1]) if found is not None else None
