"""The grader of mlrb/baby_lm: runs nothing of a submission's, scores what loads, says why the rest does not."""

import json
import os
import pickle
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tasks.mlrb.baby_lm import data
from tasks.mlrb.baby_lm.grade import grade
from tests.process.baby_lm_models import write_model

for missing in ("torch", "transformers", "lm_eval"):
    pytest.importorskip(missing)

pytestmark = [pytest.mark.eval, pytest.mark.slow]

STARTER = Path(data.__file__).parent / "starter"
OPTIONS = {"sentences": 600, "dev_pairs": 5, "test_pairs": 5, "max_parameters": 10_000_000}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("baby-lm")
    data.generate(out, seed=3, options=OPTIONS)
    return out


@pytest.fixture(scope="module")
def texts(made: Path) -> list[str]:
    lines = (made / "public/data/train.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line)["content"] for line in lines]


def _grade(submission: Path, made: Path, **options: int) -> dict[str, Any]:
    return dict(
        grade(submission, made / "private", split="dev", options={**OPTIONS, **options}, report=lambda *_: None)
    )


def _rules(graded: dict[str, Any]) -> dict[str, str]:
    return {broken["rule"]: broken["evidence"] for broken in graded["violations"]}


def _log(folder: Path, *, loss: float, tokens: int) -> None:
    (folder / "training.jsonl").write_text(json.dumps({"step": 1, "loss": loss, "tokens": tokens}) + "\n")


def test_an_untrained_model_is_scored_with_its_size_and_without_complaint(
    tmp_path: Path, made: Path, texts: list[str]
) -> None:
    model = write_model(tmp_path / "model", texts)
    _log(tmp_path / "model", loss=6.5, tokens=10**6)
    graded = _grade(tmp_path, made)
    assert 0.2 < graded["value"] < 0.8
    assert graded["standard_error"] > 0
    assert graded["details"]["parameters"] == model.num_parameters()
    assert graded["details"]["tokens_trained"] == 10**6
    assert graded["violations"] == []


def test_the_starter_hands_in_a_model_that_has_seen_next_to_nothing(tmp_path: Path, made: Path) -> None:
    shutil.copytree(made / "public", tmp_path, dirs_exist_ok=True)
    subprocess.run(
        [sys.executable, str(STARTER / "train.py")], cwd=tmp_path, check=True, capture_output=True, timeout=300
    )
    graded = _grade(tmp_path, made)
    assert graded["value"] < 0.6
    assert "data_consumed" in _rules(graded)
    assert graded["details"]["passes"] < 0.5
    assert (tmp_path / "ckpt/step_3/model.safetensors").is_file()


def test_what_is_doubtful_is_reported_with_its_evidence(tmp_path: Path, made: Path, texts: list[str]) -> None:
    foreign = ["zebra", "quantum", "entropy", "photosynthesis", "mitochondria", "algorithm", "parliament"]
    write_model(tmp_path / "model", [*texts[:1], " ".join(foreign * 3)])
    (tmp_path / "model/training.jsonl").write_text("trust me\n")
    graded = _grade(tmp_path, made, max_parameters=1000)
    assert "the limit is 1,000" in _rules(graded)["parameter_limit"]
    assert "cannot be read" in _rules(graded)["training_evidence"]

    _log(tmp_path / "model", loss=0.5, tokens=5)
    rules = _rules(_grade(tmp_path, made))
    assert "ends at loss 0.50" in rules["training_evidence"]
    assert "trained on 5 tokens" in rules["data_consumed"]


def test_a_tokenizer_that_knows_other_words_is_reported(tmp_path: Path, made: Path) -> None:
    write_model(tmp_path / "model", ["zebra quantum entropy photosynthesis mitochondria algorithm parliament"])
    assert "100%" in _rules(_grade(tmp_path, made))["own_tokenizer"]


class _Bomb:
    """Leaves a file behind when it is unpickled."""

    def __init__(self, file: Path) -> None:
        self.file = file

    def __reduce__(self) -> tuple[Any, tuple[str, str]]:
        return os.rename, (str(self.file), f"{self.file}.gone")


def test_pickles_and_code_beside_the_weights_are_never_opened(tmp_path: Path, made: Path, texts: list[str]) -> None:
    model, trap = tmp_path / "model", tmp_path / "trap"
    write_model(model, texts)
    trap.touch()
    for name in ("pytorch_model.bin", "training_args.bin", "optimizer.pt"):
        (model / name).write_bytes(pickle.dumps(_Bomb(trap)))
    (model / "modeling_own.py").write_text(f"import os\nos.remove({str(trap)!r})\nclass Own: ...\n")
    config = json.loads((model / "config.json").read_text())
    config["auto_map"] = {"AutoModelForCausalLM": "modeling_own.Own", "AutoConfig": "modeling_own.Own"}
    (model / "config.json").write_text(json.dumps(config))
    assert 0 < _grade(tmp_path, made)["value"] < 1
    assert trap.is_file()


def _pickle_only(folder: Path) -> None:
    (folder / "model.safetensors").rename(folder / "pytorch_model.bin")


def _no_weights(folder: Path) -> None:
    (folder / "model.safetensors").unlink()


def _linked_weights(folder: Path) -> None:
    (folder / "model.safetensors").rename(folder.parent / "elsewhere")
    (folder / "model.safetensors").symlink_to(folder.parent / "elsewhere")


def _no_config(folder: Path) -> None:
    (folder / "config.json").unlink()


def _no_tokenizer(folder: Path) -> None:
    for file in folder.glob("tokenizer*"):
        file.unlink()


def _garbage_weights(folder: Path) -> None:
    (folder / "model.safetensors").write_bytes(b"\xff" * 64)


def _edit_config(folder: Path, **changes: object) -> None:
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps(config | changes))


def _giant_config(folder: Path) -> None:
    _edit_config(folder, n_embd=2**20)


def _unknown_architecture(folder: Path) -> None:
    _edit_config(folder, model_type="mine\n\x1b[31m", architectures=["Mine"])


def _not_finite(folder: Path) -> None:
    from safetensors.torch import load_file, save_file

    weights = load_file(folder / "model.safetensors")
    weights["transformer.ln_f.weight"].fill_(float("nan"))
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})


def _renamed_weights(folder: Path) -> None:
    from safetensors.torch import load_file, save_file

    weights = {name.replace("h.0.", "h.7."): weight for name, weight in load_file(folder / "model.safetensors").items()}
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})


@pytest.mark.parametrize(
    ("harm", "reason"),
    [
        (_pickle_only, "only as a pickle"),
        (_no_weights, r"no model\.safetensors"),
        (_linked_weights, r"no model\.safetensors"),
        (_no_config, r"no config\.json"),
        (_no_tokenizer, "makes nothing of a sentence"),
        (_garbage_weights, "cannot be loaded"),
        (_giant_config, "cannot be loaded"),
        (_unknown_architecture, "cannot be loaded"),
        (_not_finite, "not finite"),
        (_renamed_weights, "lacks weights"),
    ],
)
def test_a_folder_that_is_no_model_is_refused_in_one_line(
    tmp_path: Path, made: Path, texts: list[str], harm: Any, reason: str
) -> None:
    write_model(tmp_path / "model", texts)
    harm(tmp_path / "model")
    with pytest.raises(ValueError, match=reason) as refused:
        _grade(tmp_path, made)
    assert "\n" not in str(refused.value)
    assert len(str(refused.value)) < 300


def test_a_context_too_short_for_the_sentences_is_refused(tmp_path: Path, made: Path, texts: list[str]) -> None:
    write_model(tmp_path / "model", texts, context=4)
    with pytest.raises(ValueError, match="cannot score"):
        _grade(tmp_path, made)


def test_no_model_folder_is_nothing_to_score(tmp_path: Path, made: Path) -> None:
    with pytest.raises(ValueError, match="no folder model/"):
        _grade(tmp_path, made)
