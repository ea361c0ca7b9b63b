"""What lm-eval found, as values: each task with its standard error, and the suite's mean; ties earn only chance."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from evaluation.lm.suites import Suite

TIE = 1e-6
"""Two log-likelihoods closer than this, relative to their size, are equal."""
METRICS = ("acc", "em", "rouge_l")
"""A task's metric is the first of these that it has; ReCoRD has no accuracy, but an exact match."""

FEW = 10
"""Of more tasks than this the standard errors are in lm-eval's own results alone."""

Row = Mapping[str, Any]


@dataclass(frozen=True)
class Subtask:
    """How the model did on one task."""

    name: str
    items: int
    accuracy: float
    """As lm-eval reports it: of several options that are equally likely it takes the first."""
    fair_accuracy: float
    """With an option's share for a tie and nothing for a broken item, so that a mute model earns chance."""
    standard_error: float
    ties: int
    """Items whose likeliest options got the same likelihood: the model did not choose."""
    broken: int
    """Items with a likelihood that is not a finite number."""


@dataclass(frozen=True)
class SuiteResult:
    """All tasks of one evaluation."""

    suite: Suite
    subtasks: tuple[Subtask, ...]
    lm_eval: str = ""
    """lm-eval's own results, as the JSON that its command writes."""
    batch_size: int = 0
    shrunk_from: int = 0
    """The batch size that memory did not suffice for; zero where it did."""

    @property
    def accuracy(self) -> float:
        """The suite's mean, of tasks or of items as the suite defines it."""
        return self._mean([task.accuracy for task in self.subtasks])

    @property
    def fair_accuracy(self) -> float:
        """The same mean with ties and broken items not rewarded."""
        return self._mean([task.fair_accuracy for task in self.subtasks])

    @property
    def standard_error(self) -> float:
        """Of the mean, tasks being independent samples."""
        weighted = zip(self._weights, self.subtasks, strict=True)
        return math.sqrt(math.fsum((weight * task.standard_error) ** 2 for weight, task in weighted)) / sum(
            self._weights
        )

    def details(self) -> dict[str, float]:
        """Figures for a score: each task's fair accuracy and, where they are few, as `<task>_se` its standard error."""
        each = {task.name: task.fair_accuracy for task in self.subtasks}
        few = self.subtasks if len(self.subtasks) <= FEW else ()
        errors = {f"{task.name}_se": task.standard_error for task in few}
        return {
            "lm_eval_accuracy": self.accuracy,
            "ties": float(sum(task.ties for task in self.subtasks)),
            "broken": float(sum(task.broken for task in self.subtasks)),
            **each,
            **errors,
        }

    @property
    def _weights(self) -> list[int]:
        return [task.items if self.suite.weighting == "items" else 1 for task in self.subtasks]

    def _mean(self, values: Sequence[float]) -> float:
        weights = self._weights
        return math.fsum(weight * value for weight, value in zip(weights, values, strict=True)) / sum(weights)


def read(suite: Suite, results: Mapping[str, Any]) -> tuple[Subtask, ...]:
    """The tasks of `simple_evaluate`'s answer, sorted by name."""
    samples: Mapping[str, Sequence[Row]] = results["samples"]
    found = [_subtask(name.removeprefix(suite.prefix), results["results"][name], samples[name]) for name in samples]
    return tuple(sorted(found, key=lambda task: task.name))


def _subtask(name: str, figures: Mapping[str, Any], rows: Sequence[Row]) -> Subtask:
    metric = next(metric for metric in METRICS if f"{metric},none" in figures)
    accuracy = float(figures[f"{metric},none"])
    earned = [float(row[metric]) for row in rows]
    broken = ties = 0
    if metric != "rouge_l":
        judged = [_judged(row, points) for row, points in zip(rows, earned, strict=True)]
        broken, ties = sum(points is None for points, _ in judged), sum(tied for _, tied in judged)
        fair = [points or 0.0 for points, _ in judged]
    else:
        fair = earned
    return Subtask(
        name=name,
        items=len(rows),
        accuracy=accuracy,
        # The difference alone: where there is none the figure stays lm-eval's to the last digit.
        fair_accuracy=accuracy - math.fsum(one - other for one, other in zip(earned, fair, strict=True)) / len(rows),
        standard_error=_error_of_mean(accuracy, len(rows), figures.get(f"{metric}_stderr,none")),
        ties=ties,
        broken=broken,
    )


def _judged(row: Row, points: float) -> tuple[float | None, bool]:
    """What an item earns, None where a likelihood is no number, and whether its best options are tied."""
    likelihoods = [float(answer[0]) for answer in row["filtered_resps"]]
    if not all(map(math.isfinite, likelihoods)):
        return None, False
    best = max(likelihoods)
    first = [place for place, likelihood in enumerate(likelihoods) if math.isclose(best, likelihood, rel_tol=TIE)]
    if len(first) == 1:
        return points, False
    right = _right_options(row)
    return len(right.intersection(first)) / len(first), True


def _right_options(row: Row) -> set[int]:
    """The places of the options that are right."""
    continuations = [str(arguments[1]) for arguments in row["arguments"]]
    if "entities" in row["doc"]:
        answers = set(row["doc"]["answers"])
        return {place for place, entity in enumerate(row["doc"]["entities"]) if entity in answers}
    target = row["target"]
    if isinstance(target, int) or str(target).isdigit():
        return {int(target)}
    return {place for place, text in enumerate(continuations) if text.strip() == str(target).strip()}


def _error_of_mean(accuracy: float, items: int, reported: object) -> float:
    if isinstance(reported, float) and math.isfinite(reported):
        return reported
    return math.sqrt(max(0.0, accuracy * (1 - accuracy)) / (items - 1)) if items > 1 else 0.0
