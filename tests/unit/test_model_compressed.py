"""What only cuts a model down passes, in each form and in their mixture; a weight that was trained is named."""

from pathlib import Path
from typing import Any

import pytest

from tests.unit.model_weights import saved, tensors

torch: Any = pytest.importorskip("torch")
pytestmark = pytest.mark.eval

from evaluation.model.compressed import not_only_compressed, origins  # noqa: E402

UP, DOWN, ATTN = "layers.1.up.weight", "layers.1.down.weight", "layers.1.attn.weight"


@pytest.fixture(params=["float32", "float16", "bfloat16"])
def dtype(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def original(tmp_path: Path, dtype: str) -> Path:
    return saved(tmp_path / "original", tensors(1, dtype=dtype))


def _how(tmp_path: Path, weights: dict[str, Any], original: Path) -> dict[str, str]:
    return {one.name: one.how for one in origins(saved(tmp_path / "small", weights), original)}


def test_the_untouched_model_is_kept(tmp_path: Path, original: Path, dtype: str) -> None:
    assert set(_how(tmp_path, tensors(1, dtype=dtype), original).values()) == {"kept"}


def test_masks_rows_columns_and_their_mixture_are_compression(tmp_path: Path, original: Path, dtype: str) -> None:
    weights = tensors(1, dtype=dtype)
    weights["embed.weight"][torch.rand(96, 32) < 0.5] = 0
    rows, columns = torch.arange(0, 128, 3), torch.tensor([31, 2, 5, 7, 11, 13, 4, 20, 21, 22, 23, 0])
    weights[UP] = weights[UP][rows][:, columns]
    weights["layers.1.up.bias"] = weights["layers.1.up.bias"][rows]
    weights[DOWN] = weights[DOWN][:, rows]
    weights[DOWN][torch.rand(weights[DOWN].shape) < 0.6] = 0
    weights["layers.0.up.weight"][:] = 0
    how = _how(tmp_path, weights, original)
    assert how["embed.weight"] == how["layers.0.up.weight"] == "pruned"
    assert how[UP] == how[DOWN] == how["layers.1.up.bias"] == "cut"


def test_layers_left_out_shared_and_averaged_are_compression(tmp_path: Path, original: Path, dtype: str) -> None:
    weights = tensors(1, dtype=dtype)
    mean = 0.5 * weights["layers.1.attn.weight"].float() + 0.5 * weights["layers.2.attn.weight"].float()
    for part in ("attn.weight", "up.weight", "down.weight", "up.bias"):
        weights[f"layers.1.{part}"] = weights.pop(f"layers.2.{part}")
    weights["layers.0.attn.weight"] = mean.to(weights["embed.weight"].dtype)
    how = _how(tmp_path, weights, original)
    assert how["layers.1.attn.weight"] == how["layers.1.up.bias"] == "kept"
    assert how["layers.0.attn.weight"] == "merged"


def test_a_truncated_decomposition_is_compression(tmp_path: Path, original: Path, dtype: str) -> None:
    weights = tensors(1, dtype=dtype)
    left, sizes, right = torch.linalg.svd(weights[UP].float(), full_matrices=False)
    weights[UP] = (left[:, :9] * sizes[:9] @ right[:9]).to(weights[UP].dtype)
    assert _how(tmp_path, weights, original)[UP] == "truncated"


@pytest.mark.parametrize("step", [0.001, 0.02])
def test_a_training_step_is_named_by_its_tensor(tmp_path: Path, original: Path, dtype: str, step: float) -> None:
    weights = tensors(1, dtype=dtype)
    for name in (UP, "layers.1.up.bias"):
        moved = weights[name].float() + step * torch.randn(weights[name].shape)
        weights[name] = moved.to(weights[name].dtype)
    told = not_only_compressed(saved(tmp_path / "small", weights), original)
    assert {one["evidence"].split()[0] for one in told} == {UP, "layers.1.up.bias"}
    assert {one["rule"] for one in told} == {"only_compression"}


def test_training_what_is_left_after_pruning_is_named(tmp_path: Path, original: Path, dtype: str) -> None:
    weights = tensors(1, dtype=dtype)
    kept = torch.arange(0, 128, 2)
    weights[UP] = (weights[UP][kept].float() * (1 + 0.02 * torch.randn(64, 32))).to(weights[UP].dtype)
    assert _how(tmp_path, weights, original)[UP] == ""


def test_a_single_trained_value_among_thousands_is_named(tmp_path: Path, original: Path, dtype: str) -> None:
    weights = tensors(1, dtype=dtype)
    weights[ATTN][3, 4] = 0.987
    assert _how(tmp_path, weights, original)[ATTN] == ""


def test_a_distilled_model_of_other_weights_is_named_throughout(tmp_path: Path, original: Path, dtype: str) -> None:
    how = _how(tmp_path, tensors(5, layers=2, dtype=dtype), original)
    assert {name for name, one in how.items() if one} == {"norm.weight"}


def test_weights_that_are_no_numbers_are_named(tmp_path: Path, original: Path, dtype: str) -> None:
    weights = tensors(1, dtype=dtype)
    weights[UP][0, 0] = float("nan")
    assert _how(tmp_path, weights, original)[UP] == ""


def test_storing_in_another_precision_is_no_training(tmp_path: Path, original: Path) -> None:
    halved = {name: tensor.half() for name, tensor in tensors(1, dtype=_stored(original)).items()}
    assert set(_how(tmp_path, halved, original).values()) == {"kept"}


def _stored(original: Path) -> str:
    from evaluation.model.weights import open_weights

    return {"F32": "float32", "F16": "float16", "BF16": "bfloat16"}[open_weights(original).entries[UP].dtype]
