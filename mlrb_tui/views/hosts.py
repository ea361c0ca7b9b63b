"""Machines, their GPUs and their queues in words."""

from agent.record.text import one_line
from agent.sandbox.gpu_list import ListedGpu
from agent.sandbox.on_machine import SeenGpu, SeenMachine
from mlrb_tui.views import words


def holder(seen: SeenGpu) -> str:
    """Who has a GPU: a run's id where one has it."""
    return seen.run or ("free" if seen.usable else "not for runs")


def is_free(seen: SeenGpu) -> bool:
    """Whether a run could have it now."""
    return seen.usable and not seen.run


def gpus(one: SeenMachine) -> str:
    """How many it has, and how many of them are free."""
    if one.gpu_trouble:
        return "GPUs n/a"
    free = sum(is_free(gpu) for gpu in one.gpus)
    return words.count(len(one.gpus), "GPU") + (f", {free} free" if one.gpus else "")


def runs(one: SeenMachine) -> str:
    """How many runs are there, of how many that may be, and how many of other homes."""
    most = f" of {one.max_runs}" if one.max_runs is not None else ""
    others = f" + {one.other_runs} of others" if one.other_runs else ""
    return f"{len(one.runs)}{most} {'run' if len(one.runs) == 1 and not most else 'runs'}{others}"


def memory(card: ListedGpu) -> str:
    """How full it is, the unit once where both have the same."""
    used, total = _size(card.memory_used_bytes), _size(card.memory_total_bytes)
    unit = total.rpartition(" ")[2]
    return f"{used.removesuffix(f' {unit}') if used != 'n/a' else used} of {total}"


def busy(card: ListedGpu) -> str:
    """How much it works."""
    return "n/a" if card.utilization_percent is None else f"{card.utilization_percent:.0f} %"


def name(card: ListedGpu) -> str:
    """What it is; that it is one of NVIDIA's goes without saying."""
    return one_line(card.name, 60).removeprefix("NVIDIA ")


def wanted(count: int) -> str:
    """What a run waits for."""
    return words.count(count, "GPU") if count else "a place"


def _size(size_bytes: int | None) -> str:
    return "n/a" if size_bytes is None else words.size(size_bytes)
