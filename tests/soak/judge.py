"""What is wrong after a soak, judged from the records and the machine alone."""

import os
import subprocess
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from agent.record.home import Home
from agent.record.lock import is_held
from agent.sandbox.containers import RUN_LABEL
from tests.soak.follower import seen_events
from tests.soak.record_judge import Finding as Finding
from tests.soak.record_judge import complaints as complaints
from tests.soak.record_judge import judge_record


def judge(home: Home, *, seen: Path | None, daemons: Sequence[str], may_fail: Iterable[str] = ()) -> list[Finding]:
    """All that is wrong. `seen` is what a follower noted, `may_fail` are runs whose container was killed."""
    excused = set(may_fail)
    noted: dict[str, dict[int, str]] = {}
    for run, seq, fingerprint in seen_events(seen) if seen is not None else ():
        noted.setdefault(run, {})[seq] = fingerprint
    found = list(_left_on_machine(home, daemons))
    for folder in sorted(home.folders(), key=lambda folder: folder.run):
        found += judge_record(folder, noted.get(folder.run, {}), may_fail=folder.run in excused)
    return found


def _left_on_machine(home: Home, daemons: Sequence[str]) -> Iterator[Finding]:
    """What there is of any run of this home: locks, sockets, containers, processes."""
    for folder in home.folders():
        if is_held(folder.lock):
            yield Finding("leftover", folder.run, "its lock is held")
        yield from (Finding("leftover", folder.run, path.name) for path in folder.path.glob("*.sock"))
    yield from _containers(set(home.run_ids()), daemons)
    yield from _processes(home)


def _containers(runs: set[str], daemons: Sequence[str]) -> Iterator[Finding]:
    for daemon in daemons:
        command = ["docker", "--host", daemon, "ps", "--all", "--filter", f"label={RUN_LABEL}"]
        command += ["--format", f'{{{{.Label "{RUN_LABEL}"}}}}\t{{{{.Names}}}}\t{{{{.Status}}}}']
        for line in subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines():
            run, name, state = line.split("\t")
            if run in runs:
                yield Finding("leftover", run, f"container {name}: {state}")


def _processes(home: Home) -> Iterator[Finding]:
    """Whoever has a run folder of this home on the command line, in the environment, or as working folder."""
    mark = os.fsencode(home.runs) + b"/"
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit() or int(entry.name) == os.getpid():
            continue
        try:
            command = (entry / "cmdline").read_bytes()
            place = os.fsencode(os.readlink(entry / "cwd"))
            told = b"\0".join((command, (entry / "environ").read_bytes(), place))
        except OSError:
            continue
        if mark in told:
            run = told.partition(mark)[2][:8].decode(errors="replace")
            shown = command.replace(b"\0", b" ").decode(errors="replace")[:100]
            yield Finding("leftover", run, f"process {entry.name}: {shown}")
