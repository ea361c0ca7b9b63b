"""Machines in words: a line each, their GPUs and their queues below."""

from collections.abc import Iterator

from agent.record.text import one_line
from agent.sandbox.ledger import Waiting
from agent.sandbox.on_machine import SeenGpu, SeenMachine
from mlrb_tui.views import words

COLUMNS = ("host", "reached", "docker", "image", "gpus", "free", "runs", "waiting", "labels", "$/h")


def as_cells(one: SeenMachine) -> dict[str, str]:
    """One machine, by column."""
    known = one.reachable and not one.gpu_trouble
    most = f" of {one.max_runs}" if one.max_runs is not None else ""
    others = f" +{one.other_runs} others'" if one.other_runs else ""
    return {
        "host": one.name,
        "reached": "yes" if one.reachable else "no",
        "docker": one.docker or ("none" if one.reachable else "n/a"),
        "image": ("yes" if one.image else "no") if one.docker else "n/a",
        "gpus": str(len(one.gpus)) if known else "n/a",
        "free": str(sum(is_free(gpu) for gpu in one.gpus)) if known else "n/a",
        "runs": f"{len(one.runs)}{most}{others}",
        "waiting": str(len(one.waiting)) if one.waiting else "",
        "labels": one_line(", ".join(one.labels), 40),
        "$/h": "" if one.cost_per_hour is None else f"{one.cost_per_hour:.2f}",
    }


def below(one: SeenMachine) -> Iterator[str]:
    """Its GPUs and its queue, a line each."""
    for seen in one.gpus:
        yield f"{one.name}  gpu {gpu(seen)}"
    if one.gpu_trouble:
        yield f"{one.name}  gpus n/a: {one_line(one.gpu_trouble, 200)}"
    for place, waiting in enumerate(one.waiting, 1):
        yield f"{one.name}  {queued(place, waiting)}"


def gpu(seen: SeenGpu) -> str:
    """One GPU: what it is, how full and busy, and whose."""
    card = seen.gpu
    memory = f"{_size(card.memory_used_bytes)} of {_size(card.memory_total_bytes)}"
    busy = "n/a" if card.utilization_percent is None else f"{card.utilization_percent:.0f} %"
    return f"{card.index}  {one_line(card.name, 40)}  {memory}  {busy}  {holder(seen)}"


def holder(seen: SeenGpu) -> str:
    """Who has a GPU."""
    if seen.run:
        return f"run {seen.run}{' elsewhere' if seen.elsewhere else ''}"
    return "free" if seen.usable else "not for runs"


def is_free(seen: SeenGpu) -> bool:
    """Whether a run could have it now."""
    return seen.usable and not seen.run


def queued(place: int, waiting: Waiting) -> str:
    """One run that waits."""
    moved = f"  moved by {one_line(waiting.moved_by, 40)}" if waiting.moved_by else ""
    return f"{place}. run {waiting.run} waits for {wanted(waiting.gpus)}{moved}"


def wanted(gpus: int) -> str:
    """What it waits for."""
    return words.count(gpus, "GPU") if gpus else "a place"


def _size(size_bytes: int | None) -> str:
    return "n/a" if size_bytes is None else words.size(size_bytes)
