"""The host panel: what the sandbox uses of its machine, and what it lacks; what is not told is n/a or left out."""

from agent.record.values import Host
from mlrb_tui.views import words
from mlrb_tui.views.panel import Panel, Shown, percent, sparkline
from mlrb_tui.views.rows import Row, Span, apart, cut_row, row

_LITTLE_DISK, _MUCH_MEMORY = 0.1, 0.9


def panels(shown: Shown, width: int) -> list[Panel]:
    """The panel, the smallest way to draw it first; beside GPUs without its past."""
    host = shown.summary.host
    if host is None:
        return []
    small = Panel("host", [*_use(shown, host, width, past=False), *_lacks(host, width)])
    more = [*_lacks(host, width), *_traffic(host, width), *_machine(host, width)]
    whole = Panel("host", [*_use(shown, host, width, past=not shown.summary.gpus), *more])
    return [small] if whole.rows == small.rows else [small, whole]


def in_short(host: Host) -> Row:
    """CPU and memory, and what is wrong, in a few words."""
    used = "" if host.memory_used_bytes is None else f" {words.size(host.memory_used_bytes)}"
    killed = f" {_killed(host.oom_kills)}" if host.oom_kills else ""
    return row(Span("cpu ", "dim"), percent(host.cpu_percent) + used, Span(killed, "bad"))


def _use(shown: Shown, host: Host, width: int, *, past: bool) -> list[Row]:
    cores = f" of {words.count(host.cpu_cores, 'core')}" if host.cpu_cores else ""
    processes = words.count(host.processes, "process", "processes") if host.processes is not None else ""
    busy = row("cpu    ", Span(percent(host.cpu_percent), "strong"), Span(cores, "dim"))
    rows = [apart(busy, row(Span(processes, "dim")), width)]
    rows += sparkline(shown.readings.cpu.values if past else [], width, high=(host.cpu_cores or 1) * 100)
    used, limit = host.memory_used_bytes, host.memory_limit_bytes
    full = used is not None and limit is not None and used > _MUCH_MEMORY * limit
    said = Span("n/a" if used is None else words.size(used), "warn" if full else "strong")
    rows.append(cut_row(row("memory ", said, Span(f" of {words.size(limit)}" if limit else "", "dim")), width))
    return rows + sparkline(shown.readings.memory.values if past else [], width, high=limit)


def _lacks(host: Host, width: int) -> list[Row]:
    """The disk, and processes that were ended for want of memory."""
    rows = []
    if host.disk_free_bytes is not None:
        total = host.disk_total_bytes
        little = total is not None and host.disk_free_bytes < _LITTLE_DISK * total
        free = Span(f"{words.size(host.disk_free_bytes)} free", "warn" if little else "strong")
        rows.append(cut_row(row("disk   ", free, Span(f" of {words.size(total)}" if total else "", "dim")), width))
    if host.oom_kills:
        rows.append(cut_row(row(Span(f"× out of memory: {_killed(host.oom_kills)}", "bad")), width))
    return rows


def _killed(count: int) -> str:
    return f"{words.count(count, 'process', 'processes')} killed"


def _traffic(host: Host, width: int) -> list[Row]:
    pairs = (
        ("net    ", (("↓ ", host.net_received_bytes_s), ("↑ ", host.net_sent_bytes_s))),
        ("i/o    ", (("read ", host.io_read_bytes_s), ("written ", host.io_write_bytes_s))),
    )
    rows = []
    for name, rates in pairs:
        said = "   ".join(f"{which}{words.size(rate)}/s" for which, rate in rates if rate is not None)
        rows += [cut_row(row(name, Span(said, "dim")), width)] if said else []
    return rows


def _machine(host: Host, width: int) -> list[Row]:
    """The machine as a whole, whoever uses it."""
    total = host.machine_memory_total_bytes
    parts = [f"cpu {percent(host.machine_cpu_percent)}"] if host.machine_cpu_percent is not None else []
    if host.machine_memory_used_bytes is not None and total:
        parts.append(f"{words.size(host.machine_memory_used_bytes)} of {words.size(total)}")
    return [cut_row(row(Span(f"machine {'   '.join(parts)}", "dim")), width)] if parts else []
