"""Reads the tensors of a model folder one at a time, without building the model."""

import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_NUMBER = re.compile(r"\d+")
_PIECE_BYTES = 64 * 2**20


@dataclass(frozen=True)
class Entry:
    """One tensor, as the file's header describes it."""

    name: str
    file: Path
    dtype: str
    """As safetensors writes it: F32, F16, BF16, I8, U8, F8_E4M3 …"""
    shape: tuple[int, ...]

    @property
    def elements(self) -> int:
        """How many values it holds."""
        count = 1
        for length in self.shape:
            count *= length
        return count

    @property
    def role(self) -> str:
        """Its name with the numbers of layers taken out: tensors of one role do the same work in different layers."""
        return _NUMBER.sub("*", self.name)

    def read(self) -> Any:
        """The tensor itself, on the CPU, in its own dtype."""
        from safetensors import safe_open

        with safe_open(self.file, framework="pt") as tensors:
            return tensors.get_tensor(self.name)


@dataclass(frozen=True)
class Weights:
    """All tensors of a model folder (or of one safetensors file) by name; nothing is read before it is asked for."""

    entries: dict[str, Entry]

    def __iter__(self) -> Iterator[Entry]:
        return iter(self.entries.values())

    def __len__(self) -> int:
        return len(self.entries)

    def read(self, name: str) -> Any:
        """The tensor of that name."""
        return self.entries[name].read()

    def of_role(self, role: str) -> list[Entry]:
        """The tensors that do the same work in different layers."""
        return [entry for entry in self if entry.role == role]


def open_weights(place: Path) -> Weights:
    """The tensors below a folder, or in one file; `ValueError` where a file is not a safetensors file."""
    from safetensors import SafetensorError, safe_open

    files = sorted(place.glob("*.safetensors")) if place.is_dir() else [place]
    if not files:
        raise ValueError(f"{place.name}/ has no safetensors file")
    entries: dict[str, Entry] = {}
    for file in files:
        try:
            with safe_open(file, framework="pt") as tensors:
                for name in tensors.keys():  # noqa: SIM118
                    piece = tensors.get_slice(name)
                    entries[name] = Entry(name, file, str(piece.get_dtype()), tuple(piece.get_shape()))
        except (SafetensorError, OSError) as error:
            raise ValueError(f"{file.name} is not a safetensors file: {error}") from error
    return Weights(entries)


def digest(tensor: Any) -> str:
    """The SHA-256 of a tensor's dtype, shape and bytes."""
    import torch

    flat = tensor.detach().contiguous().reshape(-1)
    found = hashlib.sha256(f"{tensor.dtype} {tuple(tensor.shape)}".encode())
    step = _PIECE_BYTES // max(1, tensor.element_size())
    for start in range(0, flat.numel(), step):
        found.update(flat[start : start + step].view(torch.uint8).numpy().tobytes())
    return found.hexdigest()
