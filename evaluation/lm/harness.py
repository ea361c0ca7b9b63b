"""Asks a model folder the stock tasks of a suite, whose data lies in a folder as the hub lays it out."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from evaluation.lm.backend import Progress, backend
from evaluation.lm.offline import offline_in
from evaluation.lm.scores import SuiteResult, read
from evaluation.lm.squad import provide_squad_metrics
from evaluation.lm.suites import OWN_TASKS, Suite, task_names

RESULTS_FILE = "lm_eval_{suite}.json"
"""What a grader calls lm-eval's own results."""
_GENERATED_AT_ONCE = 16
_UNTOLD = ("samples", "model_source")


def evaluate(
    model: Path,
    suite: Suite,
    hub_root: Path,
    *,
    batch_size: int = 0,
    device: str = "cpu",
    dtype: str = "float32",
    report: Progress | None = None,
) -> SuiteResult:
    """Score the model folder, zero-shot, on those tasks of the suite that `hub_root` has rows for.

    Zero as the batch size has it found: as large as memory allows, halved where it did not after all. The model is
    loaded from safetensors only and none of its own code is run. Raises what transformers raises where it cannot be
    loaded, and what torch raises where memory does not suffice for even one request.
    """
    model, hub_root = model.resolve(), hub_root.resolve()
    with offline_in(hub_root):
        asked = backend(report or _silent)(
            pretrained=str(model),
            dtype=dtype,
            device=device,
            batch_size=batch_size or _GENERATED_AT_ONCE,
            trust_remote_code=False,
            use_safetensors=True,
            local_files_only=True,
        )
        asked.size_by_memory = not batch_size
        results = _simple_evaluate(asked, suite, task_names(suite, hub_root), device)
    return SuiteResult(
        suite, read(suite, results), _own_results(results, asked), asked.batch_size_per_gpu, asked.shrunk_from
    )


def _simple_evaluate(model: Any, suite: Suite, tasks: list[str], device: str) -> Mapping[str, Any]:
    import lm_eval.tasks  # type: ignore[import-untyped]
    from lm_eval.evaluator import simple_evaluate  # type: ignore[import-untyped]
    from lm_eval.tasks import TaskManager

    provide_squad_metrics()
    # Reading all 14,000 stock task files takes longer than the evaluation; the family's own folder is enough.
    family = Path(lm_eval.tasks.__file__).parent / suite.family if suite.family else OWN_TASKS
    results: Mapping[str, Any] | None = simple_evaluate(
        model=model,
        tasks=tasks,
        task_manager=TaskManager(include_path=str(family), include_defaults=False),
        device=device,
        log_samples=True,
    )
    assert results is not None  # None is for the other ranks of a distributed evaluation
    return results


def _own_results(results: Mapping[str, Any], model: Any) -> str:
    """The results as lm-eval's command writes them, without the samples and without a path of this machine."""
    from lm_eval.utils import handle_non_serializable  # type: ignore[import-untyped]

    kept = {name: value for name, value in results.items() if name not in _UNTOLD}
    config = dict(kept.get("config", {}))
    config |= {"model": "hf", "model_args": {"pretrained": "model"}, "batch_size": model.batch_size_per_gpu}
    return json.dumps(kept | {"config": config}, indent=2, default=handle_non_serializable, ensure_ascii=False)


def _silent(done: int, total: int, what: str) -> None:
    """Say nothing."""
