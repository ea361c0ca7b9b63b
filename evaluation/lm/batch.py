"""How many requests a model is asked at once: a first size out of the free memory, and how running out is known."""

from pathlib import Path
from typing import Any

LARGEST = {"cpu": 64, "cuda": 256}
"""More at once gained nothing in a small model and only pads more."""
SHARE = 0.5
"""Of the free memory; the rest is for what the estimate leaves out, and halving is for when that is not enough."""
_CGROUP = (
    (Path("/sys/fs/cgroup/memory.max"), Path("/sys/fs/cgroup/memory.current")),
    (Path("/sys/fs/cgroup/memory/memory.limit_in_bytes"), Path("/sys/fs/cgroup/memory/memory.usage_in_bytes")),
)


def first_size(config: Any, longest: int, device: str) -> int:
    """A batch size that should fit, a power of two; `longest` is the longest request in tokens."""
    kind = device.partition(":")[0]
    room = free_bytes(device) * SHARE / row_bytes(config, longest)
    size = 1
    while size * 2 <= min(room, LARGEST.get(kind, LARGEST["cpu"])):
        size *= 2
    return size


def row_bytes(config: Any, longest: int) -> float:
    """About what one request takes at float32: logits three times over (raw, softmax, shifted), one layer's states."""
    vocabulary, hidden, heads = (
        int(getattr(config, name, None) or 1) for name in ("vocab_size", "hidden_size", "num_attention_heads")
    )
    return 4.0 * longest * (3 * vocabulary + 16 * hidden + 2 * heads * longest)


def free_bytes(device: str) -> float:
    """Memory that is free on the device; on the CPU also within the limit of our control group."""
    import torch

    if device.startswith("cuda"):
        free, _ = torch.cuda.mem_get_info(device)
        return float(free)
    import psutil

    left = [float(psutil.virtual_memory().available)]
    for limit, used in _CGROUP:
        try:
            left.append(float(limit.read_text()) - float(used.read_text()))
        except (OSError, ValueError):
            continue
    return max(min(left), 0.0)


def is_out_of_memory(error: BaseException) -> bool:
    """Whether that is how torch says that no memory was left."""
    import torch

    said = str(error)
    return isinstance(error, torch.cuda.OutOfMemoryError | MemoryError) or (
        isinstance(error, RuntimeError) and ("can't allocate memory" in said or "out of memory" in said)
    )
