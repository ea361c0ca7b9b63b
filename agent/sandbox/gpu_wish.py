"""What `--gpus` asks for: how many, or which."""

import re
from dataclasses import dataclass

from tasks.errors import UsageError

_UUID = re.compile(r"(GPU|MIG)-[0-9A-Za-z/_-]+")


@dataclass(frozen=True)
class GpuWish:
    """So many GPUs, or just these."""

    count: int = 0
    named: tuple[str, ...] = ()
    """By index or UUID, as a person wrote them."""
    meant: bool = True
    """False where nobody asked and the task would like them: a machine without any does as well."""

    @property
    def wanted(self) -> int:
        """How many they are."""
        return len(self.named) or self.count


def parse_wish(text: str, *, of_task: int = 0) -> GpuWish:
    """`2` is any two, `0,1` these two, `3,` this one, `MIG-…` this slice, `none` none; empty leaves it to the task."""
    if not text:
        return GpuWish(count=of_task, meant=False)
    if text == "none":
        return GpuWish()
    parts = tuple(part.strip() for part in text.split(",") if part.strip())
    if not parts or not all(_is_name(part) for part in parts) or len(set(parts)) != len(parts):
        raise UsageError(
            f"{text!r} names no GPUs", hint="--gpus 1 is any one, --gpus 0,1 these two, --gpus 3, this one, --gpus none"
        )
    if len(parts) == 1 and "," not in text and parts[0].isdecimal():
        return GpuWish(count=int(parts[0]))
    return GpuWish(named=parts)


def _is_name(part: str) -> bool:
    return (part.isascii() and part.isdecimal() and len(part) <= 3) or _UUID.fullmatch(part) is not None
