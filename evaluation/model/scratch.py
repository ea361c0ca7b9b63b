"""Trained from scratch: no tensor is a known checkpoint's, nor is it near one, permuted and renamed as it may be."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from evaluation.model.weights import Entry, Weights, digest, open_weights
from evaluation.model.words import one_line
from tasks.contract import Broken

RULE = "from_scratch"
NEAR = 0.5
"""Cosine from which on two matrices are akin; two that were trained apart have one near 0."""
SAME_SPECTRUM = 0.002
"""Relative distance of singular values under which two matrices are one, with rows and columns shuffled or turned."""
LEAST = 1024
"""Smaller tensors, and vectors (norms start at one in every model), tell nothing."""
_WIDEST = 2048
_SHOWN = 5


@dataclass(frozen=True)
class Likeness:
    """A tensor of a submission that is akin to one of a known model."""

    name: str
    other: str
    how: str
    """`equal`, `cosine 0.97` or `the same singular values`."""
    elements: int


def pretrained(folder: Path, known: Mapping[str, Path], *, rule: str = RULE) -> list[Broken]:
    """One violation for each known model (folders or safetensors files by name) that the weights come from.

    Names do not matter: every matrix is held against every one of its shape. Nothing can be said of models that
    aren't given.
    """
    found: list[Broken] = []
    own = open_weights(folder)
    for title, place in known.items():
        alike = list(likenesses(own, open_weights(place)))
        if alike:
            share = sum(one.elements for one in alike) / max(1, sum(entry.elements for entry in own))
            shown = "; ".join(f"{one_line(one.name)} = {one_line(one.other)}: {one.how}" for one in alike[:_SHOWN])
            more = f"; and {len(alike) - _SHOWN} more" if len(alike) > _SHOWN else ""
            found.append({"rule": rule, "evidence": f"{share:.0%} of the weights are those of {title}: {shown}{more}"})
    return found


def not_derived(folder: Path, base: Path, *, near: float = NEAR, rule: str = "allowed_base") -> list[Broken]:
    """The opposite rule: a model that must come from a given base, and whose weights are not near it."""
    own, allowed = open_weights(folder), open_weights(base)
    shared = [entry for entry in own if _tells(entry) and _match(allowed, entry) is not None]
    if not shared:
        return [{"rule": rule, "evidence": "no tensor has the name and the shape of the base's"}]
    far = [
        (entry, cosine)
        for entry in shared
        if (other := _match(allowed, entry)) and (cosine := _cosine(entry.read(), other.read())) < near
    ]
    if 2 * len(far) <= len(shared):
        return []
    entry, cosine = far[0]
    told = f"{len(far)} of {len(shared)} tensors are far from the base: {one_line(entry.name)} has cosine {cosine:.2f}"
    return [{"rule": rule, "evidence": told}]


def likenesses(own: Weights, other: Weights) -> Iterator[Likeness]:
    """For each matrix of `own` the first of `other` that it is akin to."""
    by_shape: dict[tuple[int, ...], list[_Known]] = {}
    for entry in other:
        if _tells(entry):
            by_shape.setdefault(tuple(sorted(entry.shape)), []).append(_Known(entry))
    for entry in own:
        if not _tells(entry) or tuple(sorted(entry.shape)) not in by_shape:
            continue
        tensor = entry.read()
        # The tensor of the same name first: it is the likeliest, and the search ends there.
        candidates = sorted(by_shape[tuple(sorted(entry.shape))], key=lambda one: one.entry.name != entry.name)
        for candidate in candidates:
            if how := _likeness(tensor, candidate):
                yield Likeness(entry.name, candidate.entry.name, how, entry.elements)
                break


class _Known:
    """A tensor of a known model, with what was computed of it."""

    def __init__(self, entry: Entry) -> None:
        self.entry = entry
        self._tensor: Any = None
        self._spectrum: Any = None

    @property
    def tensor(self) -> Any:
        """The tensor; kept only where it is small, so that a large model is never held whole."""
        if self._tensor is not None:
            return self._tensor
        tensor = self.entry.read()
        if self.entry.elements <= 2**20:
            self._tensor = tensor
        return tensor

    @property
    def spectrum(self) -> Any:
        """Its singular values."""
        if self._spectrum is None:
            self._spectrum = _spectrum(self.tensor)
        return self._spectrum


def _likeness(tensor: Any, candidate: _Known) -> str:
    other = candidate.tensor
    if tensor.shape == other.shape:
        if tensor.dtype == other.dtype and digest(tensor) == digest(other):
            return "equal"
        if abs(cosine := _cosine(tensor, other)) >= NEAR:
            return f"cosine {cosine:.2f}"
    if len(other.shape) == 2 and tensor.shape == other.T.shape and abs(cosine := _cosine(tensor, other.T)) >= NEAR:
        return f"transposed, cosine {cosine:.2f}"
    if len(tensor.shape) != 2 or min(tensor.shape) > _WIDEST:
        return ""
    own = _spectrum(tensor)
    distance = float((own - candidate.spectrum).norm() / candidate.spectrum.norm().clamp_min(1e-30))
    return "the same singular values" if distance < SAME_SPECTRUM else ""


def _tells(entry: Entry) -> bool:
    return len(entry.shape) >= 2 and entry.elements >= LEAST and entry.dtype in ("F32", "F16", "BF16", "F64")


def _match(weights: Weights, entry: Entry) -> Entry | None:
    other = weights.entries.get(entry.name)
    return other if other is not None and other.shape == entry.shape else None


def _cosine(one: Any, other: Any) -> float:
    a, b = one.double().reshape(-1), other.double().reshape(-1)
    size = float(a.norm() * b.norm())
    return float(a @ b) / size if size else 0.0


def _spectrum(tensor: Any) -> Any:
    """Singular values over their norm, by the smaller Gram matrix: it is far quicker for a long embedding."""
    import torch

    table = tensor.double()
    gram = table @ table.T if table.shape[0] <= table.shape[1] else table.T @ table
    values = torch.linalg.eigvalsh(gram).clamp_min(0).sqrt()
    return values / values.norm().clamp_min(1e-30)
