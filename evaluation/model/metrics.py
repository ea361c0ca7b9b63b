"""The figures of one model, as one value that becomes JSON. What was not measured is None, never zero."""

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any


@dataclass(frozen=True)
class Spread:
    """Repeated measurements of one quantity."""

    median: float
    p95: float
    """95 % of the repeats were at least as good: a time is below it, a rate above it."""
    repeats: int

    @classmethod
    def of_times(cls, seconds: Sequence[float]) -> "Spread":
        """Of durations, in seconds."""
        return cls(quantile(seconds, 0.5), quantile(seconds, 0.95), len(seconds))

    @classmethod
    def of_rates(cls, amount: float, seconds: Sequence[float]) -> "Spread":
        """Of `amount` done in each of these durations, in units a second."""
        times = cls.of_times(seconds)
        return cls(amount / times.median, amount / times.p95, times.repeats)


@dataclass(frozen=True)
class Memory:
    """Peak memory above that of an interpreter with its libraries loaded, in bytes."""

    load_bytes: int
    generation_bytes: int
    """While a prompt was read and continued; the weights are part of it."""
    interpreter_bytes: int
    """What is not counted above; 0 on a GPU."""
    where: str
    """`cpu` (peak resident set size) or `cuda` (peak of torch's allocator)."""

    @property
    def peak_bytes(self) -> int:
        """The larger of both."""
        return max(self.load_bytes, self.generation_bytes)


@dataclass(frozen=True)
class Speed:
    """How quick one sequence is, with nothing else in the batch. Only tokens that were made are counted."""

    prompt_tokens: int
    new_tokens: int
    prefill_tokens_per_s: Spread
    """Reading the prompt, all of it at once."""
    decode_tokens_per_s: Spread
    """Making new tokens one by one, greedily."""
    first_token_s: Spread
    """From the prompt to the first new token."""
    next_token_s: Spread
    """From one new token to the next, over all of them."""
    cached: bool
    """The model keeps keys and values from token to token."""
    threads: int


@dataclass(frozen=True)
class Perplexity:
    """Of a text that is given, under a sliding window."""

    value: float
    """exp of the mean negative log-likelihood a token; depends on the tokenizer."""
    bits_per_byte: float | None
    """The same likelihood over the bytes of the text; does not depend on it. None where the first token is unscored."""
    tokens: int
    """Scored. Each token of the text is scored once, the first only where the tokenizer has a bos or eos token."""
    window: int
    """Tokens the model sees at most."""
    stride: int
    """Tokens the window moves by; the rest of the window is context."""


@dataclass(frozen=True, kw_only=True)
class ModelMetrics:
    """All that is measured of a model."""

    parameters: int | None = None
    """Shared weights are counted once."""
    trainable_parameters: int | None = None
    nonzero_parameters: int | None = None
    nonfinite_parameters: int | None = None
    size_bytes: int | None = None
    """Of the weight files on disk."""
    dtypes: dict[str, int] | None = None
    """Values stored a dtype, in safetensors' names."""
    memory: Memory | None = None
    speed: Speed | None = None
    perplexity: Perplexity | None = None
    device: str | None = None
    dtype: str | None = None
    """The one the figures were taken with."""
    unmeasured: dict[str, str] = field(default_factory=dict)
    """Why a field is None, by its name."""

    def to_json(self) -> dict[str, Any]:
        """Plain values for `json.dumps`."""
        return asdict(self)

    @classmethod
    def from_json(cls, found: dict[str, Any]) -> "ModelMetrics":
        """The other way round."""
        memory, speed, perplexity = found.get("memory"), found.get("speed"), found.get("perplexity")
        made = {
            "memory": Memory(**memory) if memory else None,
            "speed": _speed(speed) if speed else None,
            "perplexity": Perplexity(**perplexity) if perplexity else None,
        }
        return cls(**{**found, **made})

    def details(self) -> dict[str, float]:
        """The figures as flat numbers, as a `Grade` carries them; what is unknown is left out."""
        flat: dict[str, float] = {}
        for name, value in _flat("", self.to_json()):
            if isinstance(value, int | float) and math.isfinite(value):
                flat[name] = float(value)
        return flat


def quantile(values: Sequence[float], share: float) -> float:
    """The value below which that share lies, between neighbours in proportion (as numpy does)."""
    ordered = sorted(values)
    place = share * (len(ordered) - 1)
    low = math.floor(place)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (ordered[high] - ordered[low]) * (place - low)


def _speed(found: dict[str, Any]) -> Speed:
    spreads = {name: Spread(**value) for name, value in found.items() if isinstance(value, dict)}
    return Speed(**{**found, **spreads})


def _flat(prefix: str, value: Any) -> list[tuple[str, Any]]:
    if not isinstance(value, dict):
        return [(prefix, value)]
    return [pair for name, inner in value.items() for pair in _flat(f"{prefix}_{name}".strip("_"), inner)]
