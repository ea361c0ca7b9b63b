"""The grader of mlrb/math_reasoning: only a script that states what was asked and proves it earns anything."""

import json
import os
import pickle
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tasks.mlrb.math_reasoning import data
from tasks.mlrb.math_reasoning.grade import LEAN_FILE, PROMPT, SCRIPTS_FILE, grade
from tests.process.script_writers import write_writer

for missing in ("torch", "transformers", "sacrebleu", "rouge_score"):
    pytest.importorskip(missing)

pytestmark = [pytest.mark.eval, pytest.mark.slow]

STARTER = Path(data.__file__).parent / "starter"
OPTIONS = {"train_items": 92, "dev_items": 8, "test_items": 8, "max_parameters": 10_000_000, "new_tokens": 12}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("math-reasoning")
    data.generate(out, seed=3, options=OPTIONS)
    return out


@pytest.fixture(scope="module")
def items(made: Path) -> list[dict[str, str]]:
    return [json.loads(line) for line in (made / "private/dev/items.jsonl").read_text(encoding="utf-8").splitlines()]


def _grade(submission: Path, made: Path, **options: int | bool) -> dict[str, Any]:
    asked = {**OPTIONS, **options}
    return dict(grade(submission, made / "private", split="dev", options=asked, report=lambda *_: None))


def _rules(graded: dict[str, Any]) -> dict[str, str]:
    return {broken["rule"]: broken["evidence"] for broken in graded["violations"]}


def _answers(items: list[dict[str, str]]) -> dict[str, str]:
    return {PROMPT.format(**item): item["formal_proof"] for item in items}


@pytest.mark.parametrize("kind", ["seq2seq", "causal"])
def test_right_scripts_earn_their_share_from_either_kind_of_model(
    tmp_path: Path, made: Path, items: list[dict[str, str]], kind: str
) -> None:
    answers = _answers(items)
    wrong = next(iter(answers))
    answers[wrong] = answers[wrong].replace("theorem", "theorem of")
    write_writer(tmp_path / "model", answers, kind=kind)
    graded = _grade(tmp_path, made)
    assert graded["value"] == pytest.approx(7 / 8)
    assert graded["standard_error"] > 0
    assert graded["details"]["parsed"] == pytest.approx(7 / 8)
    assert graded["details"]["bleu"] > 0.9
    assert graded["details"]["copied"] == 0
    assert graded["violations"] == []
    kept = [json.loads(line) for line in graded["files"][SCRIPTS_FILE].splitlines()]
    assert [row["valid"] for row in kept] == [False] + [True] * 7
    assert kept[0]["reason"].startswith("parse:")


def _always(folder: Path, script: str) -> None:
    write_writer(folder, {"Lean:": script})


@pytest.mark.parametrize(
    ("script", "rule", "evidence"),
    [
        ("theorem t : 1 = 1 := by norm_num", "statement_asked", "8 of 8 scripts prove another theorem"),
        (
            "theorem t (x y : ℕ) (h₁ : x = 1) (h₂ : x = 2) : x + y = 3 := by linarith",
            "statement_asked",
            "hypotheses contradict each other",
        ),
        ("theorem t : 2 ∣ 5 := by sorry", "honest_proofs", "8 times sorry: leaves a hole"),
        ("axiom a : 2 ∣ 5 theorem t : 2 ∣ 5 := by exact a", "honest_proofs", "axiom: supposes something new"),
        ("import tactic theorem t : 1 = 1 := by norm_num", "honest_proofs", "not among the allowed"),
    ],
)
def test_what_proves_nothing_that_was_asked_earns_nothing_and_is_reported(
    tmp_path: Path, made: Path, script: str, rule: str, evidence: str
) -> None:
    _always(tmp_path / "model", script)
    graded = _grade(tmp_path, made)
    assert graded["value"] == 0
    assert evidence in _rules(graded)[rule]
    assert graded["details"]["contradictory"] == float("contradict" in evidence)


def test_a_script_taken_from_the_training_data_is_reported(tmp_path: Path, made: Path) -> None:
    row = json.loads((made / "public/data/train.jsonl").read_text(encoding="utf-8").splitlines()[0])
    _always(tmp_path / "model", row["formal_proof"].replace("theorem ", "theorem my_"))
    graded = _grade(tmp_path, made)
    assert graded["value"] == 0
    assert graded["details"]["copied"] == 1
    assert "8 of 8 scripts stand in the training data" in _rules(graded)["no_copies"]


def test_the_trivial_answer_is_measured_beside_the_score(tmp_path: Path, made: Path) -> None:
    _always(tmp_path / "model", "theorem t : 1 = 1 := by norm_num")
    details = _grade(tmp_path, made)["details"]
    assert details["copy_nearest_valid"] == 0
    assert details["copy_nearest_bleu"] > 0.3 > details["bleu"]


def test_the_starter_hands_in_what_loads_and_is_worth_nothing(tmp_path: Path, made: Path) -> None:
    shutil.copytree(made / "public", tmp_path, dirs_exist_ok=True)
    trainer = [sys.executable, str(STARTER / "train.py"), "--epochs", "1"]
    subprocess.run(trainer, cwd=tmp_path, check=True, capture_output=True, timeout=300)
    assert _grade(tmp_path, made)["value"] == 0


class _Bomb:
    """Leaves a file behind when it is unpickled."""

    def __init__(self, file: Path) -> None:
        self.file = file

    def __reduce__(self) -> tuple[Any, tuple[str, str]]:
        return os.rename, (str(self.file), f"{self.file}.gone")


def test_a_pickle_and_a_metric_that_is_only_written_down_earn_nothing(tmp_path: Path, made: Path) -> None:
    model, trap = tmp_path / "model", tmp_path / "trap"
    _always(model, "theorem t : 1 = 1 := by norm_num")
    trap.touch()
    for name in ("results.json", "trainer_state.json", "metrics.json"):
        (model / name).write_text('{"valid scripts": 1.0, "value": 1.0}')
    (model / "pytorch_model.bin").write_bytes(pickle.dumps(_Bomb(trap)))
    assert _grade(tmp_path, made)["value"] == 0
    (model / "model.safetensors").unlink()
    with pytest.raises(ValueError, match="only as a pickle"):
        _grade(tmp_path, made)
    assert trap.is_file()


def test_settings_of_generation_in_the_folder_change_nothing(
    tmp_path: Path, made: Path, items: list[dict[str, str]]
) -> None:
    write_writer(tmp_path / "model", _answers(items))
    plain = _grade(tmp_path, made)
    settings = {"do_sample": True, "temperature": 9.0, "num_beams": 4, "min_new_tokens": 10, "forced_bos_token_id": 2}
    (tmp_path / "model/generation_config.json").write_text(json.dumps(settings))
    changed = _grade(tmp_path, made)
    assert changed["files"][SCRIPTS_FILE] == plain["files"][SCRIPTS_FILE]
    assert changed["value"] == 1


def test_a_model_over_the_limit_is_invalid_and_one_that_cannot_write_is_refused(tmp_path: Path, made: Path) -> None:
    model = write_writer(tmp_path / "model", {"Lean:": "theorem t : 1 = 1 := by norm_num"})
    assert "the limit is 1,000" in _rules(_grade(tmp_path, made, max_parameters=1000))["parameter_limit"]
    config = json.loads((tmp_path / "model/config.json").read_text())
    config["max_position_embeddings"] = 4
    (tmp_path / "model/config.json").write_text(json.dumps(config))
    weights = model.state_dict()
    for name in [name for name in weights if "embed_positions" in name]:
        weights[name] = weights[name][:6].clone()
    model.save_pretrained(tmp_path / "short", state_dict=weights)
    (tmp_path / "short/model.safetensors").replace(tmp_path / "model/model.safetensors")
    with pytest.raises(ValueError, match="cannot write scripts") as refused:
        _grade(tmp_path, made)
    assert "\n" not in str(refused.value)


def test_no_model_folder_is_nothing_to_score(tmp_path: Path, made: Path) -> None:
    with pytest.raises(ValueError, match="no folder model/"):
        _grade(tmp_path, made)


def test_without_lean_the_full_score_is_likeness_and_compiling_is_unknown_not_zero(
    tmp_path: Path, made: Path, items: list[dict[str, str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    write_writer(tmp_path / "model", _answers(items))
    graded = _grade(tmp_path, made, offline_lean=False)
    assert graded["value"] == pytest.approx((graded["details"]["bleu"] + graded["details"]["rouge_l"]) / 2)
    assert graded["value"] > 0.95
    assert "compiled" not in graded["details"]
    assert json.loads(graded["files"][LEAN_FILE])["reason"] == "not measured (no Lean)"


def test_where_lean_is_it_says_what_compiles_and_what_states_what_was_asked(
    tmp_path: Path, made: Path, items: list[dict[str, str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    lean = tmp_path / "lean"
    # A stand-in: it refuses whatever is checked against the statement of a theorem about sums.
    lean.write_text(
        '#!/bin/sh\n[ "$1" = --version ] && { echo "Lean (version 3.51.1, commit x)"; exit 0; }\n'
        "grep -q 'example.*+' \"$2\" && exit 1\nexit 0\n"
    )
    lean.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    write_writer(tmp_path / "model", _answers(items))
    details = _grade(tmp_path, made, offline_lean=False)["details"]
    sums = sum("+" in item["formal_proof"].split(":=")[0] for item in items)
    assert details["compiled"] == 8
    assert details["compiled_as_asked"] == 8 - sums
    assert 0 < sums < 8
