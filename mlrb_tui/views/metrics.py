"""What the figures of a run are: which belong on one axis, in what unit, which way is better."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from agent.record.text import one_line
from mlrb_tui.views import words

Group = Literal["training", "evaluation", "speed", "gpu", "host", "spent"]
GROUPS: tuple[Group, ...] = ("training", "evaluation", "speed", "gpu", "host", "spent")

_FIRST = ("loss", "accuracy", "lr", "grad_norm")
"""The figures that stand first among those of a training."""
_LOW_IS_BETTER = ("loss", "perplexity", "ppl", "error", "mae", "mse", "rmse", "wer", "cer", "bpb", "bpc")
_HIGH_IS_BETTER = (
    "acc", "accuracy", "f1", "bleu", "rouge", "precision", "recall", "auc", "reward", "return", "iou", "map", "score",
)  # fmt: skip
_SAMPLED = {
    "memory": "B", "use": "%", "power": "W", "temperature": "°C", "cpu": "%", "disk free": "B", "cost": "$",
    "tokens": "",
}  # fmt: skip


@dataclass(frozen=True)
class Metric:
    """One figure that can be plotted."""

    name: str
    """As it was printed, or as we call what is sampled; not ours, so not printable."""
    group: Group

    @property
    def label(self) -> str:
        """The name on a screen."""
        return one_line(self.name, 40) or "?"

    @property
    def axis(self) -> str:
        """What shares an axis with it: a loss and its evaluation, the memory of all GPUs."""
        if self.group in ("training", "evaluation"):
            return one_line(self.name.removeprefix("eval_"), 40)
        return f"{self.group} {self.kind}" if self.group == "gpu" else self.label

    @property
    def kind(self) -> str:
        """Without the number of the GPU it is of."""
        return self.name.split(" ", 2)[-1] if self.group == "gpu" else self.name.removeprefix("host ")

    @property
    def unit(self) -> str:
        """`B`, `%` …; empty for a plain number."""
        return _SAMPLED.get(self.kind, "") if self.group in ("gpu", "host", "spent") else ""

    @property
    def from_zero(self) -> bool:
        """Whether its axis starts at zero."""
        return self.group in ("speed", "gpu", "host", "spent") and self.kind not in ("temperature", "disk free")

    @property
    def smooths(self) -> bool:
        """Whether smoothing tells anything of it: an evaluation averages by itself, and a running sum has no noise."""
        return self.group not in ("evaluation", "spent")

    @property
    def better(self) -> Literal["low", "high", ""]:
        """Which way is better, where its name tells."""
        if self.group not in ("training", "evaluation"):
            return ""
        parts = self.name.lower().replace("/", "_").replace("-", "_").split("_")
        if any(part in _LOW_IS_BETTER for part in parts):
            return "low"
        return "high" if any(part in _HIGH_IS_BETTER for part in parts) else ""

    def said(self, value: float) -> str:
        """A value of it in words, short."""
        if value != value or abs(value) == float("inf"):
            return words.NOT_FINITE
        match self.unit:
            case "B":
                return words.size(value)
            case "$":
                return f"${value:.2f}"
            case "":
                return words.number(value) if self.group in ("speed", "spent") else f"{value:.4g}"
            case unit:
                return f"{value:.0f} {unit}"


def of_training(name: str) -> Metric:
    """What a training printed or wrote under that name."""
    return Metric(name, "evaluation" if name.startswith("eval_") else "training")


def in_order(metrics: Iterable[Metric]) -> list[Metric]:
    """As they stand in a list: a training's best known figures first."""
    return sorted(metrics, key=lambda metric: (GROUPS.index(metric.group), _place(metric), metric.name))


def _place(metric: Metric) -> int:
    bare = metric.name.removeprefix("eval_")
    return _FIRST.index(bare) if bare in _FIRST else len(_FIRST)
