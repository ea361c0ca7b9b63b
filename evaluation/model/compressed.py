"""Only compression: every tensor is one of the original's, cut down; a weight that was trained is named.

A tensor may be the original, or parts of it (rows and columns taken out or moved), with values set to zero, or a mix of
the tensors that do the same work in other layers, or a truncated singular value decomposition. Layers may be gone or
stand in another's place. Everything else takes training (or calculation that amounts to it).
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from evaluation.model.weights import Entry, Weights, open_weights
from evaluation.model.words import one_line
from tasks.contract import Broken

RULE = "only_compression"
MOST_MERGED = 64
"""Tensors of one role that a merge is looked for among."""
_VOTERS = 48
"""Values of a row that vote for the row they come from."""
_ASKED = 8
_FITTED = 20_000
_NO_WEIGHT = 1e-6
_MOST_HITS = 4_000_000
_TRUNCATED = {"torch.float32": 2e-5, "torch.float64": 2e-5, "torch.float16": 2e-3, "torch.bfloat16": 1.6e-2}
"""Relative distance allowed from a truncated decomposition: what computing and storing it costs, by dtype."""


@dataclass(frozen=True)
class Origin:
    """How a tensor comes from the original model."""

    name: str
    how: str
    """`kept`, `pruned`, `cut`, `merged`, `truncated`; empty where it can't be explained."""
    source: str = ""
    elements: int = 0
    nonzero: int = 0


def not_only_compressed(folder: Path, original: Path, *, rule: str = RULE) -> list[Broken]:
    """One violation for each tensor that isn't the original's, cut down."""
    trained = (one_line(origin.name) for origin in origins(folder, original) if not origin.how)
    told = "is no part, pruned form, mix or truncated decomposition of the original's: it was trained"
    return [{"rule": rule, "evidence": f"{name} {told}"} for name in trained]


def origins(folder: Path, original: Path) -> Iterator[Origin]:
    """Where each tensor of a compressed model comes from."""
    given = open_weights(original)
    for entry in open_weights(folder):
        tensor = entry.read()
        how, source = _explain(tensor, _candidates(entry, given))
        yield Origin(entry.name, how, source, tensor.numel(), int(tensor.count_nonzero()))


def _candidates(entry: Entry, given: Weights) -> list[Entry]:
    """Originals a tensor may come from: of its name, of its role in other layers, of its last two names elsewhere."""
    last = entry.name.rsplit(".", 2)[-2:]
    groups = (
        [given.entries[entry.name]] if entry.name in given.entries else [],
        given.of_role(entry.role),
        [other for other in given if other.name.rsplit(".", 2)[-2:] == last],
    )
    found = {other.name: other for group in groups for other in group if _fits(entry, other)}
    return list(found.values())


def _fits(entry: Entry, other: Entry) -> bool:
    """Whether one can be a part of the other."""
    if len(other.shape) != len(entry.shape):
        return False
    return all(few <= many for few, many in zip(entry.shape, other.shape, strict=True))


def _explain(tensor: Any, candidates: list[Entry]) -> tuple[str, str]:
    """How, and from which tensor; both empty where nothing fits."""
    if not tensor.dtype.is_floating_point:
        # Masks and positions are no weights: transformers makes them anew.
        return "kept", ""
    if not bool(tensor.isfinite().all()):
        return "", ""
    if not bool(tensor.count_nonzero()):
        return "pruned", ""
    for attempt in (_same_place, _cut):
        for entry in candidates:
            if how := attempt(tensor, entry.read().to(tensor.dtype)):
                return how, entry.name
    same = [entry for entry in candidates if entry.shape == tuple(tensor.shape)]
    if same and _is_truncated(tensor, same[0].read()):
        return "truncated", same[0].name
    if 1 < len(same) <= MOST_MERGED and _is_mix(tensor, same):
        return "merged", same[0].role
    return "", ""


def _same_place(tensor: Any, original: Any) -> str:
    """Equal bit for bit, but for zeros."""
    if tensor.shape != original.shape:
        return ""
    different = tensor != original
    if not bool(different.any()):
        return "kept"
    return "" if bool((different & (tensor != 0)).any()) else "pruned"


def _cut(tensor: Any, original: Any) -> str:
    """Rows and columns of the original, in any order, with zeros among them."""
    if len(tensor.shape) == 1:
        tensor, original = tensor[None], original[None]
    if len(tensor.shape) != 2 or not _knows(tensor, original):
        return ""
    rows, columns = _found_rows(tensor, original), _found_rows(tensor.T, original.T)
    return "cut" if _same_place(tensor, original[rows][:, columns]) else ""


def _knows(tensor: Any, original: Any) -> bool:
    """Whether a few values of the one are among those of the other; most strangers are told by this."""
    values = tensor[tensor != 0]
    sample = values[:: max(1, len(values) // _ASKED)][:_ASKED]
    return all(bool((original == value).any()) for value in sample)


def _found_rows(tensor: Any, original: Any) -> Any:
    """For each row of `tensor` the row of `original` that most of its values lie in.

    Float32 weights are nearly all different, so one value tells its row; half precision repeats them, so the values
    of a row vote. A row of zeros may be any.
    """
    import numpy as np
    import torch

    count, best = len(original), np.zeros(len(tensor), dtype=np.int64)
    if count == 1:
        return torch.from_numpy(best)
    ordered, places = original.contiguous().reshape(-1).double().sort()
    picked = (torch.rand(tensor.shape) * (tensor != 0)).topk(min(_VOTERS, tensor.shape[1])).indices
    asked = tensor.gather(1, picked).double()
    rows, values = asked.nonzero()[:, 0], asked[asked != 0]
    first = torch.searchsorted(ordered, values)
    hits = torch.searchsorted(ordered, values, right=True) - first
    if int(hits.sum()) > _MOST_HITS:
        hits = hits.clamp_max(max(1, _MOST_HITS // len(hits)))
    within = torch.arange(int(hits.sum())) - (hits.cumsum(0) - hits).repeat_interleave(hits)
    where = places[first.repeat_interleave(hits) + within] // original.shape[1]
    pairs, votes = torch.unique(rows.repeat_interleave(hits) * count + where, return_counts=True)
    # numpy keeps the last value written to a place; in the order of votes that is the row with the most.
    winners = pairs[votes.argsort(stable=True)].numpy()
    best[winners // count] = winners % count
    return torch.from_numpy(best)


def _is_truncated(tensor: Any, original: Any) -> bool:
    """The original with its smallest singular values left out."""
    import torch

    if len(tensor.shape) != 2:
        return False
    own, full = tensor.double(), original.double()
    allowed = _TRUNCATED[str(tensor.dtype)] * float(full.norm())
    # What is left out stands at right angles to what is kept, so most strangers need no decomposition.
    if abs(float((own * full).sum() - own.square().sum())) > 4 * allowed * float(full.norm()):
        return False
    left, sizes, right = torch.linalg.svd(full, full_matrices=False)
    along = ((left.T @ own) * right).sum(dim=1)
    squared = own.square().sum() + (sizes.square() - 2 * sizes * along).cumsum(0)
    return float(squared[:-1].min().clamp_min(0).sqrt()) <= allowed if len(sizes) > 1 else False


def _is_mix(tensor: Any, sources: list[Entry]) -> bool:
    """A weighted sum of tensors of one role, to the rounding of its dtype."""
    import torch

    own = tensor.double().reshape(-1)
    places = torch.randperm(len(own))[:_FITTED]
    basis = torch.stack([entry.read().double().reshape(-1)[places] for entry in sources], dim=1)
    weights = torch.linalg.lstsq(basis, own[places, None], driver="gelsd").solution[:, 0]
    made, size = torch.zeros_like(own), torch.zeros_like(own)
    for weight, entry in zip(weights.tolist(), sources, strict=True):
        if abs(weight) > _NO_WEIGHT:
            part = weight * entry.read().double().reshape(-1)
            made, size = made + part, size + part.abs()
    # The weights are found on a sample of rounded values, so they are off by a little themselves.
    return bool(((own - made).abs() <= 8 * torch.finfo(tensor.dtype).eps * size.clamp_min(float(size.mean()))).all())
