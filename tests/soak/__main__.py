"""`make soak`: eight runs at a time under a seeded storm of faults, then a verdict from the records and the machine.

`SOAK_S` says for how long (600), `SOAK_SEED` which storm (1). The last line on stdout is one JSON object.
"""

import asyncio
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from agent.record.home import RunFolder
from tests.soak.faults import Faults
from tests.soak.ground import Ground, follower, prepared
from tests.soak.judge import Finding, complaints, judge
from tests.soak.schedule import schedule
from tests.soak.slots import Slot, state_of
from tests.soak.storm import Storm

_SETTLE_S = 20.0
"""What is only just going away is no leftover."""


def main() -> int:
    """Soak, judge, report; 1 where anything is wrong."""
    seconds, seed = float(os.environ.get("SOAK_S") or 600), int(os.environ.get("SOAK_SEED") or 1)
    root = Path(tempfile.mkdtemp(prefix="mlrb-soak-"))
    with prepared(root) as ground:
        if ground.why_less:
            tell(ground.why_less)
        tell(f"seed {seed}, {seconds:.0f} s: {', '.join(ground.places)}; in {root}")
        slots = [Slot(n, place, ground.home, ground.commands(place), seed) for n, place in enumerate(ground.places)]
        faults = Faults(slots, ground.daemon)
        with follower(ground) as seen:
            try:
                storm = Storm(slots, faults, tell)
                stuck = asyncio.run(storm.rage(schedule(seed, seconds, ground.places), seconds))
            finally:
                _kill_rest(slots)
        found = [Finding("request", run, "it did not end by itself") for run in stuck]
        found += _verdict(ground, seen, faults)
    return _report(ground, faults, found, seed)


def tell(said: str) -> None:
    """A line of progress."""
    print(f"soak {time.strftime('%H:%M:%S')} {said}", file=sys.stderr, flush=True)


def _kill_rest(slots: list[Slot]) -> None:
    """Nothing of a soak goes on after it, even where that was broken off."""
    for slot in slots:
        for run in slot.runs:
            if state_of(RunFolder(slot.home.runs / run)).state != "ended":
                command = [sys.executable, "-m", "mlrb_tui.cli", "kill", run]
                subprocess.run(command, env={**os.environ, **slot.commands.environment}, check=False)


def _verdict(ground: Ground, seen: Path, faults: Faults) -> list[Finding]:
    deadline = time.monotonic() + _SETTLE_S
    while True:
        found = judge(ground.home, seen=seen, daemons=ground.daemons, may_fail=faults.shot_containers)
        if not any(one.kind == "leftover" for one in found) or time.monotonic() > deadline:
            return [*found, *(Finding("leftover", "-", said) for said in complaints(ground.complaints))]
        time.sleep(1.0)


def _report(ground: Ground, faults: Faults, found: list[Finding], seed: int) -> int:
    outcomes = Counter(state_of(folder).outcome for folder in ground.home.folders())
    tell(f"faults: {', '.join(f'{count} {fault}' for fault, count in faults.done.most_common())}")
    tell(f"runs: {', '.join(f'{count} {outcome}' for outcome, count in outcomes.most_common())}")
    for one in found:
        tell(f"{one.kind}: run {one.run}: {one.what}")
    if found:
        tell(f"kept for a look: {ground.root}")
    else:
        shutil.rmtree(ground.root, ignore_errors=True)
    kinds = Counter(one.kind for one in found)
    counts = {"runs": outcomes.total(), "faults": faults.done.total(), "events_lost": kinds["event"]}
    print(json.dumps({**counts, "leftovers": kinds["leftover"], "unanswered": kinds["request"], "seed": seed}))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
