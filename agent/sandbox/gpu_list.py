"""The GPUs of a machine, and their MIG slices, as `nvidia-smi` there lists them."""

import csv
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from subprocess import CompletedProcess

from msgspec import Struct

from agent.record.text import one_line

LIST_S = 10.0
"""A driver that hangs is not waited for."""

_FIELDS = ("index", "uuid", "name", "memory.used", "memory.total", "utilization.gpu", "mig.mode.current")
_QUERY = ("nvidia-smi", f"--query-gpu={','.join(_FIELDS)}", "--format=csv,noheader,nounits")
_SLICES = ("nvidia-smi", "-L")
_GPU_LINE = re.compile(r"GPU (\d+):.*\(UUID: (GPU-[^)]+)\)")
_MIG_LINE = re.compile(r"\s+MIG (\S+)\s+Device\s+\d+: \(UUID: (MIG-[^)]+)\)")
_SLICE_GB = re.compile(r"\.(\d+)gb")
_MIB, _GB = 1024**2, 1000**3

Runner = Callable[[list[str], float], "CompletedProcess[str]"]
"""Runs a command on the machine, bounded; ends with 124 where that took too long."""


class ListedGpu(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A GPU or a MIG slice that a run could have; None is n/a."""

    uuid: str
    index: str
    """`0`, or `0:1` for the second slice of it."""
    name: str = ""
    memory_used_bytes: int | None = None
    memory_total_bytes: int | None = None
    utilization_percent: float | None = None


@dataclass(frozen=True)
class GpuList:
    """What there is, and why that is not known."""

    gpus: tuple[ListedGpu, ...] = ()
    trouble: str = ""


def list_gpus(run: Runner) -> GpuList:
    """Ask; a machine without `nvidia-smi` has none."""
    asked = run(list(_QUERY), LIST_S)
    if asked.returncode == 127:
        return GpuList()
    if asked.returncode == 124:
        return GpuList(trouble=f"nvidia-smi has not answered for {LIST_S:.0f} s: its driver may hang")
    whole, sliced = read_query(asked.stdout)
    if asked.returncode != 0 and not whole and not sliced:
        said = one_line((asked.stdout + asked.stderr).strip(), 200)
        return GpuList((), f"nvidia-smi: {said or f'it ended with {asked.returncode}'}")
    if not sliced:
        return GpuList(tuple(whole))
    listed = run(list(_SLICES), LIST_S)
    if listed.returncode != 0:
        return GpuList(tuple(whole), "nvidia-smi does not list its MIG slices")
    return GpuList((*whole, *read_slices(listed.stdout, sliced)))


def usable(gpus: Iterable[ListedGpu], allowed: "str | tuple[int | str, ...]") -> tuple[ListedGpu, ...]:
    """Those that `hosts.toml` lets runs use."""
    if allowed == "all":
        return tuple(gpus)
    if isinstance(allowed, str):
        return ()
    names = {str(name) for name in allowed}
    return tuple(gpu for gpu in gpus if names & {gpu.index, gpu.uuid, gpu.index.partition(":")[0]})


def read_query(text: str) -> tuple[list[ListedGpu], dict[str, str]]:
    """The GPUs that can be had whole, and those cut into MIG slices (index to name)."""
    whole, sliced = [], {}
    for row in csv.reader(text.splitlines(), skipinitialspace=True):
        # A card that is lost gives a sentence in the place of its row.
        if len(row) != len(_FIELDS) or not row[1].startswith("GPU-"):
            continue
        index, uuid, name, used, total, busy, mig = (cell.strip() for cell in row)
        if mig == "Enabled":
            sliced[index] = name
            continue
        whole.append(
            ListedGpu(
                uuid=uuid, index=index, name=name, memory_used_bytes=_mib(used), memory_total_bytes=_mib(total),
                utilization_percent=_number(busy),
            )
        )  # fmt: skip
    return whole, sliced


def read_slices(text: str, sliced: dict[str, str]) -> list[ListedGpu]:
    """The MIG slices of those GPUs; what of a slice is used is not told."""
    found: list[ListedGpu] = []
    parent, count = "", 0
    for line in text.splitlines():
        if (gpu := _GPU_LINE.match(line)) is not None:
            parent, count = gpu[1], 0
        elif (mig := _MIG_LINE.match(line)) is not None and parent in sliced:
            size = _SLICE_GB.search(mig[1])
            found.append(
                ListedGpu(
                    uuid=mig[2], index=f"{parent}:{count}", name=f"{sliced[parent]} {mig[1]}",
                    memory_total_bytes=int(size[1]) * _GB if size is not None else None,
                )
            )  # fmt: skip
            count += 1
    return found


def _number(cell: str) -> float | None:
    """A figure; None for `[N/A]`, `[Not Supported]` and whatever else a driver says in its place."""
    try:
        return float(cell)
    except ValueError:
        return None


def _mib(cell: str) -> int | None:
    value = _number(cell)
    return None if value is None else int(value) * _MIB
