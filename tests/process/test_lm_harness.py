"""The adapter says what the `lm_eval` command says, digit for digit, and does not reward a model that says nothing."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from evaluation.lm.harness import evaluate
from evaluation.lm.offline import OFFLINE
from evaluation.lm.scores import SuiteResult
from evaluation.lm.suites import BLIMP, task_names
from tasks.mlrb.hub import BLIMP_SET, write_hub_set
from tasks.mlrb.world.paradigms import PARADIGMS, items
from tests.process.baby_lm_models import write_model

for missing in ("torch", "transformers", "lm_eval"):
    pytest.importorskip(missing)

pytestmark = [pytest.mark.eval, pytest.mark.slow]

REAL = Path(os.environ.get("MLRB_BLIMP", Path(__file__).parents[3] / "shared/data/blimp"))
"""The published BLiMP files, one jsonl a paradigm, where somebody has them."""
CHOSEN = ("anaphor_number_agreement", "wh_vs_that_with_gap")
PAIRS = 60
Rows = dict[str, list[dict[str, Any]]]


def _generated_rows() -> Rows:
    made = items(9, "test", PAIRS)
    return {name: made[name] for name in CHOSEN}


def _rows() -> Rows:
    """One paradigm generated, the other published where the files are here."""
    _, published = CHOSEN
    rows = _generated_rows()
    file = REAL / f"{published}.jsonl"
    if file.is_file():
        rows[published] = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()[:100]]
    return rows


def _prepared(folder: Path, rows: Rows) -> tuple[Path, Path]:
    hub_root, model = folder / "hub", folder / "model"
    write_hub_set(hub_root, BLIMP_SET, rows)
    write_model(model, (str(row["sentence_good"]) for part in rows.values() for row in part))
    return hub_root, model


def _by_command(folder: Path, hub_root: Path, model: Path) -> dict[str, dict[str, float]]:
    subprocess.run(
        [
            *(sys.executable, "-m", "lm_eval", "run", "--model", "hf", "--device", "cpu", "--batch_size", "64"),
            *("--model_args", f"pretrained={model},dtype=float32", "--tasks", ",".join(task_names(BLIMP, hub_root))),
            *("--output_path", str(folder / "out")),
        ],
        cwd=hub_root,
        env={**os.environ, **OFFLINE, "HF_HOME": str(folder / "cache")},
        check=True,
        capture_output=True,
        timeout=600,
    )
    (file,) = (folder / "out").rglob("results_*.json")
    found: dict[str, dict[str, float]] = json.loads(file.read_text(encoding="utf-8"))["results"]
    return found


def test_numbers_are_those_of_the_command_line_digit_for_digit(tmp_path: Path) -> None:
    hub_root, model = _prepared(tmp_path, _rows())
    expected = _by_command(tmp_path, hub_root, model)
    result = evaluate(model, BLIMP, hub_root)
    assert {f"blimp_{task.name}": (task.accuracy, task.standard_error) for task in result.subtasks} == {
        name: (metrics["acc,none"], metrics["acc_stderr,none"]) for name, metrics in expected.items()
    }
    assert {task.name for task in result.subtasks} == set(CHOSEN)


def _asked(folder: Path, progress: list[tuple[int, int]] | None = None) -> SuiteResult:
    seen = [] if progress is None else progress
    return evaluate(
        folder / "model",
        BLIMP,
        folder / "hub",
        batch_size=16,
        report=lambda done, total, _: seen.append((done, total)),
    )


def test_a_model_that_finds_everything_equally_likely_earns_chance(tmp_path: Path) -> None:
    rows = _generated_rows()
    _, folder = _prepared(tmp_path, rows)
    model = write_model(folder, (str(row["sentence_good"]) for part in rows.values() for row in part))
    for weight in model.parameters():
        weight.data.zero_()
    model.save_pretrained(folder)
    result = _asked(tmp_path)
    # lm-eval takes the first of two equals, and in BLiMP the first is always the right one.
    assert result.accuracy == 1.0
    assert result.fair_accuracy == 0.5


def test_progress_grows_and_reaches_its_end_and_the_surroundings_stay_as_they_were(tmp_path: Path) -> None:
    _prepared(tmp_path, _generated_rows())
    here, environment = Path.cwd(), dict(os.environ)
    progress: list[tuple[int, int]] = []
    result = _asked(tmp_path, progress)
    assert [task.items for task in result.subtasks] == [PAIRS, PAIRS]
    assert progress == sorted(progress)
    assert (progress[0], progress[-1]) == ((0, 4 * PAIRS), (4 * PAIRS, 4 * PAIRS))
    assert len(progress) > 5
    assert (Path.cwd(), dict(os.environ)) == (here, environment)


def test_every_paradigm_of_the_smoke_scale_has_a_stock_task_file() -> None:
    import lm_eval  # type: ignore[import-untyped]

    stock = Path(lm_eval.__file__).parent / "tasks/blimp"
    assert [paradigm.name for paradigm in PARADIGMS if not (stock / f"{paradigm.name}.yaml").is_file()] == []
