"""A real merge: each tensor is its parents' mixed, or chosen among value by value, and it is none of them."""

import itertools
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from evaluation.model.quantised import FULL
from evaluation.model.weights import Entry, Weights, open_weights
from evaluation.model.words import one_line
from tasks.contract import Broken

RULE = "real_merge"
RESIDUAL = 0.01
"""What of a tensor may lie outside the span of its parents, as a share of the distance between these."""
OUTSIDE = 0.001
"""The share of values that no merge explains, for methods that go value by value."""
DISTANCE = 1e-3
"""A merge is at least so far from each parent, as a share of the distance between the parents."""
MOST_CHOSEN = 6
"""Task vectors up to which every choice among them is tried."""
_ENOUGH = 4096
"""Values that tell by themselves which weights a tensor was merged with."""
_BINS = 20


def not_merged(folder: Path, parents: Mapping[str, Path], *, base: str = "", rule: str = RULE) -> list[Broken]:
    """Tensors that no merge of the parents gives, and the parent that the whole thing equals, if it does.

    Parents are full models by name, adapters added to their base before; `base` names the one that the others were
    trained from, if it is among them, since task vectors are counted from there.
    """
    own = open_weights(folder)
    opened = {title: open_weights(place) for title, place in parents.items()}
    found: list[Broken] = []
    usual = _usual_weights(own, opened, base)
    distances = dict.fromkeys(parents, 0.0)
    spread = 0.0
    for entry in own:
        known = {
            title: other.read().double()
            for title, weights in opened.items()
            if (other := weights.entries.get(entry.name)) and other.shape == entry.shape
        }
        if not known:
            if not _is_tied(own, entry):
                found.append({"rule": rule, "evidence": f"{one_line(entry.name)} is no tensor of any parent"})
            continue
        tensor = entry.read()
        if told := _unexplained(tensor, known, base, usual):
            found.append({"rule": rule, "evidence": f"{one_line(entry.name)} {told}"})
        middle = sum(known.values()) / len(known)
        spread += sum(float((other - middle).square().sum()) for other in known.values()) / len(known)
        for title in parents:
            distances[title] += float((tensor.double() - known.get(title, middle)).square().sum())
    for title, squared in distances.items():
        if squared <= DISTANCE**2 * spread:
            found.append({"rule": rule, "evidence": f"the model is {one_line(title)}, not a merge"})
    return found


def _usual_weights(own: Weights, opened: Mapping[str, Weights], base: str) -> dict[str, float]:
    """The weights of the task vectors in the largest tensor; a norm's few values could not tell them."""
    import torch

    shared = [
        entry
        for entry in own
        if entry.elements >= _ENOUGH
        and entry.dtype in FULL
        and all(entry.name in one.entries and one.entries[entry.name].shape == entry.shape for one in opened.values())
    ]
    others = [title for title in opened if title != base]
    if base not in opened or not shared or not others or len(others) > MOST_CHOSEN:
        return {}
    largest = max(shared, key=lambda entry: entry.elements)
    tensor = largest.read()
    vector, zero = tensor.double().reshape(-1), opened[base].read(largest.name).double().reshape(-1)
    tasks = [opened[title].read(largest.name).double().reshape(-1) - zero for title in others]
    tolerance = _tolerance(vector, zero[None], torch.finfo(tensor.dtype).eps)
    return dict(zip(others, _task_weights(vector - zero, tasks, tolerance), strict=True))


def _is_tied(own: Weights, entry: Entry) -> bool:
    """A head that is the embedding, written out."""
    import torch

    same = (other for other in own if other.name != entry.name and other.shape == entry.shape)
    return any(torch.equal(entry.read(), other.read()) for other in same)


def _unexplained(tensor: Any, known: Mapping[str, Any], base: str, usual: Mapping[str, float]) -> str:
    """Why a tensor is no merge; empty where it is one."""
    import torch

    own = tensor.double().reshape(-1)
    if not bool(own.isfinite().all()):
        return "holds values that are not finite numbers"
    rounding = torch.finfo(tensor.dtype).eps if tensor.dtype.is_floating_point else 0.0
    stacked = torch.stack([other.reshape(-1) for other in known.values()])
    share = _off_span(own, stacked, rounding)
    if share <= RESIDUAL:
        return ""
    tolerance = _tolerance(own, stacked, rounding)
    outside = _outside_range(own, stacked, tolerance)
    others = [title for title in known if title != base]
    if outside > OUTSIDE and base in known and 0 < len(others) <= MOST_CHOSEN:
        zero = known[base].reshape(-1)
        tasks = [known[title].reshape(-1) - zero for title in others]
        weights = [usual.get(title, 1.0) for title in others]
        outside = min(outside, _not_chosen(own - zero, tasks, tolerance, weights))
    if outside <= OUTSIDE:
        return ""
    return (
        f"is no merge of its parents: {share:.2f} of the distance between them lies outside their span, "
        f"and {outside:.1%} of its values are none that a choice among theirs gives"
    )


def _off_span(own: Any, stacked: Any, rounding: float) -> float:
    """The distance from the span of the parents over the distance between these. Infinite where these are equal."""
    import torch

    middle = stacked.mean(dim=0)
    spread = float((stacked - middle).norm(dim=1).max())
    slack = 4 * rounding * float(middle.norm()) + 1e-12
    # Weights need not sum to one: task vectors can be added whole, so the middle is a direction of its own.
    basis = torch.cat([stacked - middle, middle[None]]).T
    weights = torch.linalg.lstsq(basis, (own - middle)[:, None], driver="gelsd").solution
    residual = float((own - middle - (basis @ weights)[:, 0]).norm())
    if residual <= slack:
        return 0.0
    return residual / spread if spread > slack else float("inf")


def _outside_range(own: Any, stacked: Any, tolerance: Any) -> float:
    """The share of values outside their parents' range: none for weights that differ value by value (Fisher)."""
    low, high = stacked.min(dim=0).values - tolerance, stacked.max(dim=0).values + tolerance
    return float(((own < low) | (own > high)).double().mean())


def _not_chosen(vector: Any, tasks: list[Any], tolerance: Any, usual: list[float]) -> float:
    """The share of values that are neither a sum nor a mean of weighted task vectors chosen there (TIES, DARE)."""
    shares = [
        _share_left(vector, tasks, tolerance, weights) for weights in (usual, _task_weights(vector, tasks, tolerance))
    ]
    return min(shares)


def _share_left(vector: Any, tasks: list[Any], tolerance: Any, weights: list[float]) -> float:
    left = vector.abs() > tolerance
    for total, count in _choices(tasks, weights):
        near = 1e-4 * total.abs() + tolerance
        left &= ((vector - total).abs() > near) & ((vector - total / count).abs() > near)
    return float(left.double().mean())


def _choices(tasks: list[Any], weights: list[float]) -> Iterator[tuple[Any, int]]:
    """The sum of each choice of weighted task vectors, and how many were chosen."""
    weighted = [weight * task for weight, task in zip(weights, tasks, strict=True)]
    for count in range(1, len(weighted) + 1):
        for chosen in itertools.combinations(weighted, count):
            yield sum(chosen[1:], chosen[0]), count


def _task_weights(vector: Any, tasks: list[Any], tolerance: Any) -> list[float]:
    """The weight that each task vector was mostly added with, from the places where it was added alone."""
    added = vector.abs() > tolerance
    return [_commonest_ratio(vector, task, added & (task.abs() >= task.abs().median())) for task in tasks]


def _commonest_ratio(vector: Any, task: Any, places: Any) -> float:
    import torch

    ratios = (vector / task)[places & (task != 0)]
    if not len(ratios):
        return 1.0
    # Stored values are rounded, so the commonest is looked for among wide bins and taken in the middle of its bin.
    bins = (ratios * _BINS).round()
    return float(ratios[bins == torch.mode(bins).values].median())


def _tolerance(own: Any, stacked: Any, rounding: float) -> Any:
    """How far each value may be off by rounding alone."""
    return 2 * rounding * stacked.abs().max(dim=0).values.maximum(own.abs()) + 1e-12
