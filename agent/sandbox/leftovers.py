"""What runs of this home have left behind without a runner: containers, process trees, runners, tunnels.

A run whose lock is held has a runner, and nothing of it is a leftover. Containers of other homes, and those that do
not say whose they are, are found too and told apart.
"""

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Literal

from msgspec import Struct

from agent.errors import SandboxUnavailable
from agent.record.home import Home, RunFolder
from agent.record.index import of_folder
from agent.record.lock import is_held
from agent.record.values import Proof
from agent.sandbox import containers, tickets
from agent.sandbox.choose import where_graded
from agent.sandbox.containers import Container
from agent.sandbox.daemons import daemon_of
from agent.sandbox.ending import end_all
from agent.sandbox.far_containers import far_machines, look_afar
from agent.sandbox.guest.processes import Process, descendants, look, table
from agent.sandbox.stale_tunnels import stale_tunnels

Kind = Literal["container", "processes", "runner", "tunnel"]
Whose = Literal["ours", "another home's", "unknown"]
Standing = Literal["lost", "ended", "without a folder", "unknown"]

LIST_TIMEOUT_S = 5.0
_SHOWN = 60
_RUNNER = "agent.runner"


class Leftover(Struct, frozen=True, kw_only=True):
    """One thing that is there and that no runner looks after."""

    kind: Kind
    run: str
    name: str
    """The container's name, or the process that all others come from."""
    detail: str
    whose: Whose = "ours"
    """`unknown` for a container that was labelled without a home."""
    run_is: Standing = "unknown"
    role: str = ""
    """Of a container: `sandbox` or `grader`."""
    container: str = ""
    """Its id."""
    host: str = ""
    """Of a container: the machine that it is on; empty for this one."""
    pids: tuple[int, ...] = ()

    @property
    def adoptable(self) -> bool:
        """Whether a new runner can take up the run that it belongs to."""
        return self.whose == "ours" and self.run_is == "lost"


class Found(Struct, frozen=True, kw_only=True):
    """All that was found, and what could not be looked at."""

    leftovers: tuple[Leftover, ...] = ()
    docker: str = ""
    """Why containers were not looked for; empty where they were."""
    out_of_reach: tuple[str, ...] = ()
    """The same of other machines."""

    @property
    def ours(self) -> tuple[Leftover, ...]:
        """Those of this home."""
        return tuple(one for one in self.leftovers if one.whose == "ours")


def find(home: Home, *, daemon: Path | None = None, timeout_s: float = LIST_TIMEOUT_S, reach: bool = False) -> Found:
    """Look for leftovers; changes nothing. Other machines are looked at where a tunnel is up, or all with `reach`."""
    try:
        seen, silent = containers.labelled(daemon=daemon, timeout_s=timeout_s), ""
        wished = tickets.outstanding(daemon=daemon, timeout_s=timeout_s)
    except SandboxUnavailable as error:
        seen, wished, silent = [], [], error.message
    standings = _Standings(home)
    far = look_afar(far_machines(home, reach=reach), timeout_s=timeout_s)
    found = [
        *_on_daemon(home, seen, wished, standings),
        *(one for host, there in far.seen.items() for one in _on_daemon(home, *there, standings, host)),
        *_trees(home, standings),
        *_runners(home),
        *_tunnels(),
    ]
    ordered = tuple(sorted(found, key=lambda one: (one.whose, one.run, one.kind)))
    return Found(leftovers=ordered, docker=silent, out_of_reach=far.silent)


def processes_of(home: Home, run: str) -> list[Process]:
    """The processes of a run's local sandbox that are alive."""
    return _marked(home, table()).get(run, [])


def clear_processes(home: Home, run: str) -> Proof:
    """End the processes of a run's local sandbox and look afterwards."""
    ended, left = end_all(lambda: processes_of(home, run))
    if not left:
        RunFolder(home.runs / run).guest_socket.unlink(missing_ok=True)
    detail = "still there: " + ", ".join(str(process.pid) for process in left) if left else f"{ended} ended"
    return Proof("processes", not left, detail)


def clear_containers(home: Home, run: str, sandbox: str) -> tuple[Proof, ...]:
    """Remove the containers of a run from where its sandbox was, and see to it that none comes later.

    Raises `SandboxUnavailable`, and `UsageError` where `hosts.toml` has a mistake.
    """
    ended, left = 0, list[str]()
    # A run on another machine may have been graded here.
    for place in where_graded(sandbox):
        with daemon_of(home, place) as daemon:
            more, still = containers.clear(run, home.mark(), daemon, claims=True)
        ended, left = ended + more, [*left, *still]
    return containers.proofs(ended, left)


def end_tree(pids: tuple[int, ...]) -> Proof:
    """End these processes and all that they started."""
    roots = [process for pid in pids if (process := look(pid)) is not None]
    ended, left = end_all(lambda: _alive_with_children(roots))
    detail = "still there: " + ", ".join(str(process.pid) for process in left) if left else f"{ended} ended"
    return Proof("processes", not left, detail)


def remove_container(home: Home, leftover: Leftover) -> Proof:
    """Remove that one container, whosever it is; raises `SandboxUnavailable` where its machine can't be reached."""
    with daemon_of(home, f"docker@{leftover.host}") as daemon:
        return _removed(leftover, daemon)


def _removed(leftover: Leftover, daemon: Path | None) -> Proof:
    wanted = [one for one in containers.labelled(daemon=daemon) if one.container_id == leftover.container]
    refused = [why for one in wanted if (why := containers.remove(one, daemon))]
    left = any(one.container_id == leftover.container for one in containers.labelled(daemon=daemon))
    return Proof("container", not left, "; ".join(refused) or ("still there" if left else "gone"))


def runner_command(pid: int) -> str:
    """The run folder that a runner with this process id was started for; empty where it is no runner."""
    words = _words(pid)
    for at, word in enumerate(words[:-2]):
        if word == "-m" and words[at + 1] == _RUNNER:
            return words[at + 2]
    return ""


class _Standings:
    """How runs of a home stand; each is looked at once."""

    def __init__(self, home: Home) -> None:
        self._home = home
        self._known: dict[str, Standing | None] = {}

    def of(self, run: str) -> Standing | None:
        """None for a run with a runner."""
        if run not in self._known:
            self._known[run] = self._look(RunFolder(self._home.runs / run))
        return self._known[run]

    def _look(self, folder: RunFolder) -> Standing | None:
        if not folder.path.is_dir():
            return "without a folder"
        if is_held(folder.lock):
            return None
        ended = of_folder(folder).state == "ended"
        # A runner may have come between the two looks.
        return None if is_held(folder.lock) else "ended" if ended else "lost"


def _on_daemon(
    home: Home, seen: list[Container], wished: list[str], standings: "_Standings", host: str = ""
) -> Iterator[Leftover]:
    there = {one.name for one in seen}
    yield from _containers(home, seen, standings, host)
    yield from _coming(home, [name for name in map(tickets.container_of, wished) if name not in there], standings, host)


def _containers(home: Home, seen: list[Container], standings: _Standings, host: str = "") -> Iterator[Leftover]:
    mark = home.mark() if seen else ""
    for one in seen:
        whose: Whose = "ours" if one.home == mark else "another home's" if one.home else "unknown"
        here = whose == "ours" or (whose == "unknown" and bool(one.run) and (home.runs / one.run).is_dir())
        standing = standings.of(one.run) if here else "unknown"
        if standing is not None:
            yield Leftover(
                kind="container", run=one.run, name=one.name, detail=one.since or one.state, whose=whose,
                run_is=standing, role=one.role, container=one.container_id, host=host,
            )  # fmt: skip


def _coming(home: Home, names: list[str], standings: _Standings, host: str) -> Iterator[Leftover]:
    """Containers that a runner had asked for when it died."""
    for name in names:
        run = name.removeprefix(tickets.NAME_PREFIX).partition("-")[0]
        standing = standings.of(run) if (home.runs / run).is_dir() else None
        if standing is not None:
            said = "may still be made"
            yield Leftover(kind="container", run=run, name=name, detail=said, run_is=standing, host=host)


def _trees(home: Home, standings: _Standings) -> Iterator[Leftover]:
    for run, processes in _marked(home, table()).items():
        standing = standings.of(run)
        if standing is not None:
            first = min(processes, key=lambda process: (process.started, process.pid))
            named = [_shown(process.pid) for process in processes if process is not first]
            many = f"{len(processes)} processes" if len(processes) > 1 else "1 process"
            yield Leftover(
                kind="processes", run=run, name=f"pid {first.pid}", detail=": ".join([many, *named[-1:]]),
                run_is=standing, pids=tuple(process.pid for process in processes),
            )  # fmt: skip


def _runners(home: Home) -> Iterator[Leftover]:
    """Runners whose run folder somebody has removed."""
    runs = os.path.realpath(home.runs)
    for process in _own(table()):
        folder = runner_command(process.pid)
        if folder and os.path.realpath(os.path.dirname(folder)) == runs and not os.path.isdir(folder):
            yield Leftover(
                kind="runner", run=os.path.basename(folder), name=f"pid {process.pid}", detail="its run folder is gone",
                run_is="without a folder", pids=(process.pid,),
            )  # fmt: skip


def _tunnels() -> Iterator[Leftover]:
    for one in stale_tunnels():
        named = [_shown(pid) for pid in one.pids]
        yield Leftover(
            kind="tunnel", run="", name=f"pid {one.pids[0]}", detail=f"{one.detail}: {named[0]}", pids=one.pids
        )


def _marked(home: Home, among: dict[int, Process]) -> dict[str, list[Process]]:
    """By run: processes that were given a run's mark and its work folder as their home, and all that they started."""
    spared = _ourselves(among)
    found: dict[str, dict[int, Process]] = {}
    for process in _own(among):
        run = _run_of(process.pid, home)
        if run:
            below = [process, *descendants(process.pid, among)]
            found.setdefault(run, {}).update({one.pid: one for one in below if one.alive and one.pid not in spared})
    return {run: list(processes.values()) for run, processes in found.items() if processes}


def _run_of(pid: int, home: Home) -> str:
    try:
        variables = Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
    except OSError:
        return ""
    given = dict(part.split(b"=", 1) for part in variables if part.startswith((b"MLRB_RUN=", b"HOME=")))
    run, work = os.fsdecode(given.get(b"MLRB_RUN", b"")), os.fsdecode(given.get(b"HOME", b""))
    if not run or "/" in run or os.path.basename(work) != "work" or os.path.basename(os.path.dirname(work)) != run:
        return ""
    return run if os.path.realpath(os.path.dirname(os.path.dirname(work))) == os.path.realpath(home.runs) else ""


def _own(among: dict[int, Process]) -> Iterator[Process]:
    """Those of this user that live."""
    for process in among.values():
        if process.alive and _user_of(process.pid) == os.getuid():
            yield process


def _user_of(pid: int) -> int:
    """Whose process it is; -1 where it is gone. The owner of its folder does not tell: a shielded one's is root."""
    try:
        status = Path(f"/proc/{pid}/status").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return -1
    line = next((line for line in status.splitlines() if line.startswith("Uid:")), "Uid: -1")
    return int(line.split()[1])


def _ourselves(among: dict[int, Process]) -> set[int]:
    """This process and those that it comes from: whoever looks from inside a sandbox must not end itself."""
    found = set()
    pid = os.getpid()
    while pid > 1 and pid not in found:
        found.add(pid)
        pid = among[pid].parent if pid in among else 0
    return found


def _alive_with_children(roots: list[Process]) -> list[Process]:
    among = table()
    found: dict[int, Process] = {}
    for root in roots:
        now = among.get(root.pid)
        if now is not None and now.key == root.key:
            found |= {one.pid: one for one in (now, *descendants(now.pid, among))}
    return [process for process in found.values() if process.alive]


def tree_of(pid: int) -> Callable[[], list[Process]]:
    """All that this process has started by now; what the answer finds later is what of them still lives."""
    below = [one for one in descendants(pid, table()) if one.alive]
    return lambda: _alive_with_children(below)


def _words(pid: int) -> list[str]:
    try:
        return [os.fsdecode(word) for word in Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")]
    except OSError:
        return []


def _shown(pid: int) -> str:
    return " ".join(word for word in _words(pid) if word)[:_SHOWN]
