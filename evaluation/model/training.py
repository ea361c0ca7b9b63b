"""What a submission says of its training, held against what can be measured: steps, tokens, passes, loss."""

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from tasks.contract import Broken

LOG = "training.jsonl"
LOG_BYTES = 32 * 2**20
LOSS_MARGIN = 1.0
"""A log may end this many nats below the measured loss before it is called untrue: last batches can be easy."""
TAIL = 10
UNTRAINED_SHARE = 0.6
"""A model that knows nothing has a loss near the logarithm of its vocabulary; one that starts below this share of it
knew something before its first step."""
EARLY_TOKENS = 20_000
RULE = "training_evidence"


@dataclass(frozen=True)
class Step:
    """One line of a log."""

    step: int
    loss: float
    tokens: int
    """Trained on so far."""


@dataclass(frozen=True)
class Log:
    """The training log that came with a model."""

    steps: tuple[Step, ...] = ()
    trouble: str = ""
    """Why it cannot be believed."""

    @property
    def tokens(self) -> int:
        """Trained on in all, as claimed."""
        return self.steps[-1].tokens if self.steps else 0

    @property
    def loss(self) -> float:
        """Mean of the last ten lines, in nats a token; not a number without a line."""
        tail = [step.loss for step in self.steps[-TAIL:]]
        return math.fsum(tail) / len(tail) if tail else math.nan


def read_log(folder: Path, name: str = LOG) -> Log:
    """The training log beside the weights: JSON lines, each an object with step, loss and tokens."""
    shown = f"model/{name}"
    try:
        if (folder / name).stat().st_size > LOG_BYTES:
            return Log(trouble=f"{shown} is longer than {LOG_BYTES // 2**20} MiB")
        with (folder / name).open(encoding="utf-8") as lines:
            steps = tuple(_step(line) for line in lines if line.strip())
    except FileNotFoundError:
        return Log(trouble=f"{shown} is missing")
    except (OSError, ValueError, TypeError, LookupError, AttributeError, RecursionError, OverflowError):
        return Log(trouble=f"{shown} cannot be read: every line must be an object with step, loss and tokens")
    if not steps:
        return Log(trouble=f"{shown} is empty")
    rising = all(before.step < after.step and before.tokens <= after.tokens for before, after in pairwise(steps))
    return Log(steps, "" if rising else f"steps or tokens in {shown} go backwards")


def _step(line: str) -> Step:
    read = json.loads(line)
    step, loss, tokens = int(read["step"]), float(read["loss"]), int(read["tokens"])
    if not math.isfinite(loss) or tokens < 0:
        raise ValueError("not a number that a trainer writes")
    return Step(step, loss, tokens)


def untrue_log(log: Log, measured_loss: float, *, margin: float = LOSS_MARGIN, rule: str = RULE) -> list[Broken]:
    """A log that can't be read, or that ends at a far lower loss than the model has on the training text."""
    if log.trouble:
        return [{"rule": rule, "evidence": log.trouble}]
    if not math.isfinite(measured_loss) or log.loss >= measured_loss - margin:
        return []
    claim = f"the log ends at loss {log.loss:.2f}, measured on the corpus it is {measured_loss:.2f}"
    return [{"rule": rule, "evidence": claim}]


def too_little_data(log: Log, available: int, *, rule: str = "data_consumed") -> list[Broken]:
    """Fewer tokens consumed than the corpus has."""
    if log.trouble or log.tokens >= available:
        return []
    share = f"trained on {log.tokens:,} tokens of {available:,} ({log.tokens / available:.1%})"
    return [{"rule": rule, "evidence": share}]


def too_much_data(log: Log, allowed: int, *, rule: str = "data_allowed") -> list[Broken]:
    """More tokens consumed than allowed (the corpus' own times the passes allowed, say)."""
    if log.trouble or log.tokens <= allowed:
        return []
    return [{"rule": rule, "evidence": f"trained on {log.tokens:,} tokens, {allowed:,} are allowed"}]


def started_trained(log: Log, vocabulary: int, *, rule: str = "from_scratch") -> list[Broken]:
    """A first loss that no random weights have. Only a line within the first 20,000 tokens tells."""
    if log.trouble or vocabulary < 2 or log.steps[0].tokens > EARLY_TOKENS:
        return []
    first, blind = log.steps[0].loss, math.log(vocabulary)
    if first >= UNTRAINED_SHARE * blind:
        return []
    claim = f"the log starts at loss {first:.2f}; random weights over {vocabulary:,} tokens have about {blind:.2f}"
    return [{"rule": rule, "evidence": claim}]


def foreign_sources(used: Sequence[str], allowed: Sequence[str], *, rule: str = "data_allowed") -> list[Broken]:
    """Data sets that a manifest names and the task does not allow."""
    known = {name.strip().lower() for name in allowed}
    foreign = sorted({name for name in used if name.strip().lower() not in known})
    return [{"rule": rule, "evidence": f"{name[:200]!r} is not among the allowed data"} for name in foreign]
