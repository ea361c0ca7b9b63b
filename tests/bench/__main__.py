"""`make bench`: measure, print a table, write `bench.json`; `BENCH=name` runs one."""

import importlib
import sys
import time
from pathlib import Path

import msgspec

from tests.bench.figures import Bench, Figure

BENCHES = {
    "ls_1000_runs": "listing:ls_1000_runs",
    "first_paint": "screens:first_paint",
    "open_long_runs": "screens:open_long_runs",
    "open_plots": "screens:open_plots",
    "big_step": "screens:big_step",
    "stream": "streams:stream",
    "terminal_bytes": "streams:terminal_bytes",
    "docker_no_op": "commands:docker_no_op",
    "remote_no_op": "remote:remote_no_op",
    "twenty_runs": "fleets:twenty_runs",
    "latency": "latency:latency",
    "parse_output": "telemetry:parse_output",
    "telemetry": "telemetry:samples",
}


def main(names: list[str]) -> int:
    """Run the benches of those names (all by default); 1 where a bar is missed."""
    unknown = [name for name in names if name not in BENCHES]
    if unknown:
        print(f"no bench {unknown[0]!r}; there are {', '.join(BENCHES)}", file=sys.stderr)
        return 2
    found: list[Figure] = []
    print(f"{'figure':<28}{'value':>12} {'unit':<9}{'reference':>12}{'ratio':>10}{'bar':>10}")
    for name in names or BENCHES:
        start = time.monotonic()
        for figure in load(name)():
            found.append(figure)
            print(line(figure), flush=True)
        print(f"  {name} took {time.monotonic() - start:.0f} s", file=sys.stderr)
    Path("bench.json").write_bytes(msgspec.json.format(msgspec.json.encode(found)) + b"\n")
    return 0 if all(figure.ok for figure in found) else 1


def load(name: str) -> Bench:
    """The bench of that name."""
    module, _, function = BENCHES[name].partition(":")
    bench: Bench = getattr(importlib.import_module(f"tests.bench.{module}"), function)
    return bench


def line(figure: Figure) -> str:
    """One figure as a line of the table."""
    verdict = "ok" if figure.ok else "MISSED"
    return (
        f"{figure.name:<28}{figure.value:>12,.4g} {figure.unit:<9}{figure.reference:>12,.4g}{figure.ratio:>10,.3g}"
        f"{figure.bar:>10,.4g}  {verdict:<7} {figure.note}"
    )


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
