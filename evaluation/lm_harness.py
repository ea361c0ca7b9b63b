"""Zero-shot minimal-pair accuracy of a model folder, by lm-evaluation-harness with its stock task files.

The task files of the `blimp` family name the hub set `nyu-mll/blimp`. They run unmodified and offline because
`datasets` takes a folder of that name in the working directory before it asks the hub; `tasks.mlrb.hub` makes one.
Nothing heavy is imported here at the top, so that a grader pays for it only when it scores.
"""

import contextlib
import math
import os
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tasks.mlrb.hub import BLIMP_SET

Progress = Callable[[int, int, str], None]
"""Called with done, total and what is being done."""

BLIMP_SIZE = 67
"""Paradigms of the whole benchmark (Warstadt et al. 2020, arXiv 1912.00582)."""

OFFLINE = {
    "HF_HUB_OFFLINE": "1",
    "HF_DATASETS_OFFLINE": "1",
    "HF_HUB_DISABLE_TELEMETRY": "1",
    "TOKENIZERS_PARALLELISM": "false",
}
TIE = 1e-6
"""Two log-likelihoods closer than this, relative to their size, are equal."""


@dataclass(frozen=True)
class Subtask:
    """How the model did on one paradigm."""

    name: str
    pairs: int
    accuracy: float
    """As lm-eval reports it: where both sentences are equally likely it counts the pair as right."""
    standard_error: float
    ties: int
    """Pairs whose two sentences got the same likelihood: the model said nothing."""
    broken: int
    """Pairs with a likelihood that is not a finite number."""

    @property
    def fair_accuracy(self) -> float:
        """Accuracy with half a point for a tie and none for a broken pair, so that a mute model earns chance."""
        return self.accuracy - self._unearned / self.pairs

    @property
    def _unearned(self) -> float:
        return 0.5 * self.ties + self.broken


@dataclass(frozen=True)
class HarnessResult:
    """All subtasks of one evaluation."""

    subtasks: tuple[Subtask, ...]

    @property
    def accuracy(self) -> float:
        """The unweighted mean over paradigms, as the group `blimp` defines it."""
        return math.fsum(task.accuracy for task in self.subtasks) / len(self.subtasks)

    @property
    def fair_accuracy(self) -> float:
        """The same mean with ties and broken pairs not rewarded."""
        return math.fsum(task.fair_accuracy for task in self.subtasks) / len(self.subtasks)

    @property
    def standard_error(self) -> float:
        """Of the unweighted mean, paradigms being independent samples."""
        return math.sqrt(math.fsum(task.standard_error**2 for task in self.subtasks)) / len(self.subtasks)


def blimp_tasks(hub_root: Path) -> list[str]:
    """The stock tasks that the set below `hub_root` has data for: the group where it is whole, else one by one."""
    names = sorted(path.stem for path in (hub_root / BLIMP_SET).glob("*.jsonl"))
    return ["blimp"] if len(names) == BLIMP_SIZE else [f"blimp_{name}" for name in names]


def evaluate(
    model: Path,
    tasks: Sequence[str],
    hub_root: Path,
    *,
    batch_size: int = 64,
    device: str = "cpu",
    dtype: str = "float32",
    report: Progress | None = None,
) -> HarnessResult:
    """Score the model folder on stock minimal-pair tasks whose data lies below `hub_root`.

    The model is loaded from safetensors only and none of its own code is run. Raises what transformers raises
    where it cannot be loaded.
    """
    model, hub_root = model.resolve(), hub_root.resolve()
    with _offline_in(hub_root):
        results = _simple_evaluate(model, tasks, batch_size, device, dtype, report or _silent)
    samples: Mapping[str, Sequence[Mapping[str, Any]]] = results["samples"]
    subtasks = [_subtask(name, results["results"][name], rows) for name, rows in samples.items()]
    return HarnessResult(tuple(sorted(subtasks, key=lambda task: task.name)))


def _simple_evaluate(
    model: Path, tasks: Sequence[str], batch_size: int, device: str, dtype: str, report: Progress
) -> Mapping[str, Any]:
    import lm_eval.tasks  # type: ignore[import-untyped]
    from lm_eval.evaluator import simple_evaluate  # type: ignore[import-untyped]
    from lm_eval.tasks import TaskManager

    # Reading all 14,000 stock task files takes longer than the evaluation; the family's own folder is enough.
    family = Path(lm_eval.tasks.__file__).parent / "blimp"
    backend = _reporting_backend(report)(
        pretrained=str(model),
        dtype=dtype,
        device=device,
        batch_size=batch_size,
        trust_remote_code=False,
        use_safetensors=True,
        local_files_only=True,
    )
    results: Mapping[str, Any] | None = simple_evaluate(
        model=backend,
        tasks=list(tasks),
        task_manager=TaskManager(include_path=str(family), include_defaults=False),
        batch_size=batch_size,
        device=device,
        log_samples=True,
    )
    assert results is not None  # None is for the other ranks of a distributed evaluation
    return results


def _reporting_backend(report: Progress) -> Any:
    """The stock HF backend, saying how far it is after each batch."""
    from lm_eval.models.huggingface import HFLM  # type: ignore[import-untyped]

    class ReportingHFLM(HFLM):  # type: ignore[misc]
        done = 0
        total = 0

        def loglikelihood(self, requests: Any, disable_tqdm: bool = True) -> Any:
            self.done, self.total = 0, len(requests)
            report(0, self.total, "sentences")
            answers = super().loglikelihood(requests, disable_tqdm=disable_tqdm)
            report(self.total, self.total, "sentences")
            return answers

        def _model_call(self, inps: Any, *args: Any, **kwargs: Any) -> Any:
            logits = super()._model_call(inps, *args, **kwargs)
            # Requests that share a prefix are one row here, so the rows can be fewer than the requests.
            self.done = min(self.done + int(inps.shape[0]), self.total)
            report(self.done, self.total, "sentences")
            return logits

    return ReportingHFLM


def _subtask(name: str, metrics: Mapping[str, Any], rows: Sequence[Mapping[str, Any]]) -> Subtask:
    likelihoods = [[float(answer[0]) for answer in row["filtered_resps"]] for row in rows]
    broken = [not all(map(math.isfinite, pair)) for pair in likelihoods]
    right = [bool(row["acc"]) for row in rows]
    ties = [
        not bad and math.isclose(pair[0], pair[1], rel_tol=TIE) for pair, bad in zip(likelihoods, broken, strict=True)
    ]
    accuracy, pairs = float(metrics["acc,none"]), len(rows)
    return Subtask(
        name=name.removeprefix("blimp_"),
        pairs=pairs,
        accuracy=accuracy,
        standard_error=_error_of_mean(accuracy, pairs, metrics.get("acc_stderr,none")),
        ties=sum(tie and won for tie, won in zip(ties, right, strict=True)),
        broken=sum(bad and won for bad, won in zip(broken, right, strict=True)),
    )


def _error_of_mean(accuracy: float, pairs: int, reported: object) -> float:
    if isinstance(reported, float) and math.isfinite(reported):
        return reported
    return math.sqrt(accuracy * (1 - accuracy) / (pairs - 1)) if pairs > 1 else 0.0


@contextlib.contextmanager
def _offline_in(folder: Path) -> Iterator[None]:
    """Work in that folder with the hub switched off and every cache in a folder that is thrown away."""
    here = Path.cwd()
    with tempfile.TemporaryDirectory(prefix="lm-harness-") as cache:
        settings = {**OFFLINE, "HF_HOME": cache, "HF_DATASETS_CACHE": f"{cache}/datasets"}
        before = {name: os.environ.get(name) for name in settings}
        os.environ.update(settings)
        import datasets  # type: ignore[import-untyped]

        # The variable is read once, at the first import; a later evaluation in this process must not find the rows
        # of an earlier one, which are cached under the same relative name.
        cached = datasets.config.HF_DATASETS_CACHE
        datasets.config.HF_DATASETS_CACHE = f"{cache}/datasets"
        os.chdir(folder)
        try:
            yield
        finally:
            os.chdir(here)
            datasets.config.HF_DATASETS_CACHE = cached
            for name, value in before.items():
                if value is None:
                    del os.environ[name]
                else:
                    os.environ[name] = value


def _silent(done: int, total: int, what: str) -> None:
    """Say nothing."""
