"""Weights of a known model are found under other names, transposed, shuffled, scaled and trained further."""

from pathlib import Path
from typing import Any

import pytest

from tests.unit.model_weights import saved, tensors

torch: Any = pytest.importorskip("torch")
pytestmark = pytest.mark.eval

from evaluation.model.scratch import not_derived, pretrained  # noqa: E402


@pytest.fixture
def public(tmp_path: Path) -> Path:
    return saved(tmp_path / "public", tensors(1))


def _told(folder: Path, public: Path) -> str:
    return "\n".join(broken["evidence"] for broken in pretrained(folder, {"gpt2": public}))


def test_weights_of_ones_own_are_left_alone(tmp_path: Path, public: Path) -> None:
    assert _told(saved(tmp_path / "own", tensors(2)), public) == ""


def test_copied_weights_are_named_with_where_they_come_from(tmp_path: Path, public: Path) -> None:
    told = _told(saved(tmp_path / "own", tensors(1)), public)
    assert "100% of the weights are those of gpt2: embed.weight = embed.weight: equal" in told.replace("99%", "100%")
    assert "more" in told


def test_other_names_and_another_order_do_not_help(tmp_path: Path, public: Path) -> None:
    moved = {name.replace("layers.0", "h.7").replace("up", "fc"): tensor for name, tensor in tensors(1).items()}
    assert "h.7.fc.weight = layers.0.up.weight: equal" in _told(saved(tmp_path / "own", moved), public)


def test_further_training_scaling_and_another_dtype_do_not_help(tmp_path: Path, public: Path) -> None:
    noise = tensors(3)
    tuned = {name: 3 * (tensor + 0.3 * noise[name]).half() for name, tensor in tensors(1).items()}
    told = _told(saved(tmp_path / "own", tuned), public)
    assert "layers.0.attn.weight = layers.0.attn.weight: cosine 0.9" in told


def test_transposed_and_shuffled_matrices_are_told_by_their_singular_values(tmp_path: Path, public: Path) -> None:
    mixed = tensors(2)
    mixed["layers.0.up.weight"] = tensors(1)["layers.0.up.weight"].T
    mixed["layers.1.attn.weight"] = tensors(1)["layers.1.attn.weight"][torch.randperm(32)][:, torch.randperm(32)]
    told = _told(saved(tmp_path / "own", mixed), public)
    assert "layers.0.up.weight = layers.0.up.weight: transposed, cosine 1.00" in told
    assert "layers.1.attn.weight = layers.1.attn.weight: the same singular values" in told


def test_one_borrowed_matrix_is_enough(tmp_path: Path, public: Path) -> None:
    mixed = tensors(2) | {"embed.weight": tensors(1)["embed.weight"]}
    assert "embed.weight: equal" in _told(saved(tmp_path / "own", mixed), public)


def test_a_model_that_must_come_from_a_base_and_does_not_is_named(tmp_path: Path, public: Path) -> None:
    noise = tensors(3)
    tuned = {name: tensor + 0.1 * noise[name] for name, tensor in tensors(1).items()}
    assert not_derived(saved(tmp_path / "tuned", tuned), public) == []
    assert "are far from the base" in not_derived(saved(tmp_path / "other", tensors(2)), public)[0]["evidence"]
    strange = saved(tmp_path / "strange", {"w": torch.randn(64, 64)})
    assert "no tensor has the name" in not_derived(strange, public)[0]["evidence"]
