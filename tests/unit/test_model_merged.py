"""Merges by weights, task vectors or choice (TIES, DARE) pass; a copy and a model trained further do not."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.unit.model_weights import saved, tensors

torch: Any = pytest.importorskip("torch")
pytestmark = pytest.mark.eval

from evaluation.model.merged import not_merged  # noqa: E402

Mix = Callable[[Any, list[Any]], Any]


def _tuned(seed: int) -> dict[str, Any]:
    change = tensors(seed, dtype="float32")
    return {name: tensor + 0.2 * change[name] for name, tensor in tensors(1).items()}


@pytest.fixture
def parents(tmp_path: Path) -> dict[str, Path]:
    experts = {f"expert{seed}": saved(tmp_path / f"e{seed}", _tuned(seed)) for seed in (2, 3, 4)}
    return {"base": saved(tmp_path / "base", tensors(1)), **experts}


def _merged(mix: Mix, dtype: str = "float32") -> dict[str, Any]:
    experts = [_tuned(seed) for seed in (2, 3, 4)]
    made = {name: mix(base, [one[name] - base for one in experts]) for name, base in tensors(1).items()}
    return {name: tensor.to(getattr(torch, dtype)) for name, tensor in made.items()}


def _mean(base: Any, tasks: list[Any]) -> Any:
    return base + sum(tasks) / len(tasks)


def _arithmetic(base: Any, tasks: list[Any]) -> Any:
    return base + 1.3 * tasks[0] + 0.4 * tasks[1] - 0.2 * tasks[2]


def _ties(base: Any, tasks: list[Any]) -> Any:
    kept = torch.stack([task * (task.abs() >= task.abs().quantile(0.6)) for task in tasks])
    sign = kept.sum(0).sign()
    agreed = kept * (kept.sign() == sign)
    return base + 1.4 * agreed.sum(0) / (agreed != 0).sum(0).clamp_min(1)


def _dare(base: Any, tasks: list[Any]) -> Any:
    dropped = [task * (torch.rand(task.shape) < 0.3) / 0.3 for task in tasks]
    return base + sum(weight * task for weight, task in zip((0.5, 0.3, 0.4), dropped, strict=True))


def _by_value(base: Any, tasks: list[Any]) -> Any:
    shares = torch.rand(len(tasks), *base.shape).softmax(0)
    return base + sum(share * task for share, task in zip(shares, tasks, strict=True))


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
@pytest.mark.parametrize("mix", [_mean, _arithmetic, _ties, _dare, _by_value])
def test_what_mergers_do_is_a_merge(tmp_path: Path, parents: dict[str, Path], mix: Mix, dtype: str) -> None:
    torch.manual_seed(0)
    assert not_merged(saved(tmp_path / "merged", _merged(mix, dtype)), parents, base="base") == []


@pytest.mark.parametrize("mix", [_mean, _ties, _by_value])
def test_training_after_the_merge_is_named(tmp_path: Path, parents: dict[str, Path], mix: Mix) -> None:
    torch.manual_seed(0)
    weights = _merged(mix)
    weights["layers.1.up.weight"] += 0.002 * torch.randn(128, 32)
    told = not_merged(saved(tmp_path / "merged", weights), parents, base="base")
    assert [one["evidence"].split()[0] for one in told] == ["layers.1.up.weight"]
    assert "is no merge of its parents" in told[0]["evidence"]


@pytest.mark.parametrize("seed", [1, 3])
def test_a_parent_handed_in_is_no_merge(tmp_path: Path, parents: dict[str, Path], seed: int) -> None:
    copy = tensors(1) if seed == 1 else _tuned(seed)
    copy["layers.0.attn.weight"][0, 0] += 1e-4
    told = "\n".join(one["evidence"] for one in not_merged(saved(tmp_path / "m", copy), parents, base="base"))
    assert f"the model is {'base' if seed == 1 else 'expert3'}, not a merge" in told


def test_a_model_of_its_own_and_new_tensors_are_named(tmp_path: Path, parents: dict[str, Path]) -> None:
    weights = tensors(9) | {"extra.weight": torch.randn(8, 8)}
    told = "\n".join(one["evidence"] for one in not_merged(saved(tmp_path / "own", weights), parents, base="base"))
    assert "extra.weight is no tensor of any parent" in told
    assert "embed.weight is no merge" in told
    assert "norm.weight" not in told


def test_a_head_tied_to_the_embedding_may_be_written_out(tmp_path: Path, parents: dict[str, Path]) -> None:
    weights = _merged(_mean)
    weights["head.weight"] = weights["embed.weight"].clone()
    assert not_merged(saved(tmp_path / "merged", weights), parents, base="base") == []
    weights["embed.weight"][0, 0] = float("nan")
    told = not_merged(saved(tmp_path / "broken", weights), parents, base="base")
    assert any("not finite" in one["evidence"] for one in told)
