"""Makes tensors and safetensors files for the tests of the rules on weights."""

from pathlib import Path
from typing import Any


def tensors(seed: int, *, layers: int = 3, width: int = 32, dtype: str = "float32") -> dict[str, Any]:
    """A small transformer's worth of random weights by name."""
    import torch

    generator = torch.Generator().manual_seed(seed)

    def random(*shape: int) -> Any:
        return (torch.randn(shape, generator=generator) * 0.05).to(getattr(torch, dtype))

    made = {"embed.weight": random(96, width), "norm.weight": torch.ones(width, dtype=getattr(torch, dtype))}
    for number in range(layers):
        made[f"layers.{number}.attn.weight"] = random(width, width)
        made[f"layers.{number}.up.weight"] = random(4 * width, width)
        made[f"layers.{number}.down.weight"] = random(width, 4 * width)
        made[f"layers.{number}.up.bias"] = random(4 * width)
    return made


def saved(folder: Path, weights: dict[str, Any], config: str = "{}") -> Path:
    """A model folder with those weights."""
    from safetensors.torch import save_file

    folder.mkdir(parents=True, exist_ok=True)
    save_file({name: tensor.contiguous().clone() for name, tensor in weights.items()}, folder / "model.safetensors")
    (folder / "config.json").write_text(config)
    return folder
