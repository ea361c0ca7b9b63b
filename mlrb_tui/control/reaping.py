"""Leftovers dealt with: a lost run gets a new runner, or what is left of a run is removed with proof."""

from agent.errors import RunHeld
from agent.record.home import Home, RunFolder
from agent.record.values import Proof
from agent.record.viewer import user_name
from agent.runner.last_rites import end_run
from agent.sandbox import leftovers
from agent.sandbox.leftovers import Found, Leftover
from mlrb_tui.control.launch import take_up
from tasks.errors import MlrbError

WHY = "left over without a runner"


def told(found: Found) -> str:
    """One line on what is left over here; empty where nothing is."""
    count, runs = len(found.ours), len({one.run for one in found.ours if one.run})
    if not count:
        return ""
    things = "1 thing is left over" if count == 1 else f"{count} things are left over"
    if not runs:
        return f"{things}: mlrb reap"
    return f"{things} of {'1 run' if runs == 1 else f'{runs} runs'} without a runner: mlrb reap"


def remove(home: Home, chosen: list[Leftover]) -> list[tuple[Leftover, Proof]]:
    """Take them down; a run that was lost is ended, since nothing is left to take up."""
    results = []
    ended: dict[str, Proof] = {}
    for one in chosen:
        folder = RunFolder(home.runs / one.run)
        if one.whose == "ours" and one.run_is in ("lost", "ended"):
            if one.run not in ended:
                ended[one.run] = _end(folder)
            results.append((one, ended[one.run]))
        else:
            results.append((one, _remove_by_itself(home, one)))
    return results


def adopt(home: Home, chosen: list[Leftover]) -> list[tuple[Leftover, Proof]]:
    """Give each lost run a new runner; the others can't be adopted, and stay."""
    results = []
    taken: dict[str, Proof] = {}
    for one in chosen:
        if not one.adoptable:
            results.append((one, Proof("adopted", False, f"its run is {one.run_is}; --remove ends it")))
            continue
        if one.run not in taken:
            taken[one.run] = _take_up(RunFolder(home.runs / one.run))
        results.append((one, taken[one.run]))
    return results


def _end(folder: RunFolder) -> Proof:
    try:
        left = end_run(folder, by=user_name(), why=WHY)
    except RunHeld:
        return Proof("removed", False, "a runner has taken it up meanwhile")
    except MlrbError as error:
        return Proof("removed", False, error.message)
    return Proof("removed", not left, "; ".join(left) or "gone")


def _remove_by_itself(home: Home, one: Leftover) -> Proof:
    try:
        if one.kind == "container":
            return leftovers.remove_container(home, one)
        if one.kind in ("runner", "tunnel"):
            return leftovers.end_tree(one.pids)
        return leftovers.clear_processes(home, one.run)
    except MlrbError as error:
        return Proof("removed", False, error.message)


def _take_up(folder: RunFolder) -> Proof:
    try:
        take_up(folder)
    except MlrbError as error:
        return Proof("adopted", False, error.message)
    return Proof("adopted", True, "a new runner has it")
