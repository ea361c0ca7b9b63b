"""Quantised weights are found whatever dtype they hide in; pruned, small and half-precision ones are left alone."""

from pathlib import Path
from typing import Any

import pytest

from tests.unit.model_weights import saved, tensors

torch: Any = pytest.importorskip("torch")
pytestmark = pytest.mark.eval

from evaluation.model.quantised import quantised  # noqa: E402


def _told(folder: Path) -> str:
    return "\n".join(broken["evidence"] for broken in quantised(folder))


@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16"])
def test_free_weights_are_no_quantisation_even_where_most_are_pruned(tmp_path: Path, dtype: str) -> None:
    weights = tensors(0, width=64, dtype=dtype)
    weights["layers.0.up.weight"][torch.rand(256, 64) < 0.7] = 0
    weights["layers.1.up.weight"][:] = 0
    weights["causal"] = torch.ones(64, 64, dtype=torch.bool)
    weights["transformer.h.0.attn.bias"] = torch.ones(1, 1, 64, 64, dtype=torch.uint8).tril()
    assert _told(saved(tmp_path, weights)) == ""


@pytest.mark.parametrize(
    "config",
    [
        '{"quantization_config": {"load_in_4bit": true, "quant_method": "bitsandbytes"}}',
        '{"load_in_8bit": true}',
        '{"torch_dtype": "int8"}',
    ],
)
def test_a_configuration_that_asks_for_it_is_named(tmp_path: Path, config: str) -> None:
    assert "config.json" in _told(saved(tmp_path, tensors(0), config))


def test_integer_and_eight_bit_float_weights_are_named(tmp_path: Path) -> None:
    weights = tensors(0)
    weights["layers.0.up.weight"] = (weights["layers.0.up.weight"] * 500).round().to(torch.int8)
    weights["layers.1.up.weight"] = weights["layers.1.up.weight"].to(torch.float8_e4m3fn)
    weights["layers.2.attn.bias"] = torch.randint(0, 255, (64, 64), dtype=torch.uint8)
    told = _told(saved(tmp_path, weights))
    assert "layers.0.up.weight is stored as I8" in told
    assert "layers.1.up.weight is stored as F8_E4M3" in told
    assert "layers.2.attn.bias is stored as U8" in told


def _rounded(tensor: Any, bits: int, scale: Any) -> Any:
    return (tensor / scale * (2 ** (bits - 1) - 1)).round() * scale


def test_few_values_kept_as_floats_are_quantised_all_the_same(tmp_path: Path) -> None:
    wide = torch.randn(600, 640)
    one_scale = _rounded(wide, 8, wide.abs().max())
    by_row = _rounded(wide, 8, wide.abs().amax(1, keepdim=True))
    by_column = _rounded(wide, 8, wide.abs().amax(0, keepdim=True))
    groups = wide.reshape(-1, 64)
    by_group = _rounded(groups, 4, groups.abs().amax(1, keepdim=True)).reshape(600, 640)
    kept = {"one": one_scale, "row": by_row, "column": by_column, "group": by_group, "free": wide}
    told = _told(saved(tmp_path, kept))
    assert "one has 2" in told
    assert "in a typical row of 640" in told
    assert "in a typical column of 600" in told
    assert "group has" in told
    assert "free" not in told


@pytest.mark.parametrize("size", [32, 64, 128])
def test_a_scale_for_each_group_of_weights_does_not_hide_four_bits(tmp_path: Path, size: int) -> None:
    groups = torch.randn(100, size)
    four_bits = _rounded(groups, 4, groups.abs().amax(1, keepdim=True)).reshape(-1, 160)
    made = saved(tmp_path / "made", {"w": four_bits})
    assert "in a typical group of 32 weights" in _told(made)
    free = groups.half().reshape(-1, 160)
    free[torch.rand(free.shape) < 0.5] = 0
    assert _told(saved(tmp_path / "free", {"w": free})) == ""
    # A model made of one that was quantised before anybody's work began is not held responsible.
    assert quantised(made, original=made) == []
    assert quantised(made, original=tmp_path / "free") != []


def test_a_tensor_of_exactly_256_values_is_caught_and_one_of_257_is_not(tmp_path: Path) -> None:
    def of(values: int) -> Any:
        return torch.linspace(0.5, 1.5, values)[torch.arange(64 * 64) % values].reshape(64, 64)

    told = _told(saved(tmp_path, {"few": of(256), "many": of(257)}))
    assert "few has 256 different values" in told
    assert "many" not in told


def test_a_config_that_is_no_json_is_no_crash(tmp_path: Path) -> None:
    assert _told(saved(tmp_path, tensors(0), "[" * 100_000)) == ""
    assert _told(saved(tmp_path, tensors(0), "\x00")) == ""
