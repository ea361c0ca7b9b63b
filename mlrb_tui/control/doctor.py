"""What works here and what does not: each finding with the command that mends it."""

import os
import shlex
import shutil
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Literal

from msgspec import Struct

from agent.errors import SandboxUnavailable
from agent.record.home import Home
from agent.sandbox.containers import daemon_version
from agent.sandbox.engine import DEFAULT_IMAGE, daemon_socket, image_is_there
from agent.sandbox.machines import Machine, machines, path_of
from agent.sandbox.on_machine import SeenMachine, look_at
from mlrb_tui.control.plan import MODEL_KINDS, missing_key
from mlrb_tui.control.settings import read_settings
from mlrb_tui.views import words
from tasks import catalogue
from tasks.errors import MlrbError

State = Literal["ok", "note", "bad"]
LITTLE_ROOM_BYTES = 2 * 1000**3
_ASK_S = 5.0
_FAR_FILE_SYSTEMS = ("nfs", "nfs4", "cifs", "smb3", "fuse.sshfs", "9p")


class Finding(Struct, frozen=True, kw_only=True):
    """One thing that was looked at."""

    about: str
    state: State
    """`note` is no fault: something is not there that one may want."""
    said: str
    mend: str = ""
    """The command, or what to do, that mends it."""


def examine(home: Home, environment: Mapping[str, str] = os.environ) -> Iterator[Finding]:
    """Look at everything; other machines come last, since they may take a while."""
    yield _terminal(environment)
    yield from _home(home)
    yield _read(
        "settings", lambda: f"{home.settings}" if read_settings(home) and home.settings.exists() else "defaults"
    )
    yield _read("tasks", lambda: words.count(len(catalogue.all_tasks()), "task"))
    yield _models(environment)
    yield from _docker()
    yield _leftovers(home)
    yield from _machines(home)


def _terminal(environment: Mapping[str, str]) -> Finding:
    term = environment.get("TERM", "")
    speaks = environment.get("LC_ALL") or environment.get("LC_CTYPE") or environment.get("LANG", "")
    if term in ("", "dumb"):
        return Finding(
            about="terminal", state="note", said=f"TERM is {term or 'not set'}: only the app needs a terminal",
            mend="export TERM=xterm-256color",
        )  # fmt: skip
    if "utf-8" not in speaks.lower() and "utf8" not in speaks.lower():
        return Finding(
            about="terminal", state="note", said=f"{term}, but the locale ({speaks or 'none'}) has no UTF-8",
            mend="export LC_ALL=C.UTF-8",
        )  # fmt: skip
    return Finding(about="terminal", state="ok", said=f"{term}, {speaks}")


def _home(home: Home) -> Iterator[Finding]:
    free = shutil.disk_usage(home.path).free
    said = f"{home.path}, {words.size(free)} free"
    little = free < LITTLE_ROOM_BYTES
    mend = f"make room on the disk of {home.path}, or export MLRB_HOME=/a/larger/disk"
    yield Finding(about="home", state="bad" if little else "ok", said=said, mend=mend if little else "")
    kind = file_system(home.path)
    if kind in _FAR_FILE_SYSTEMS:
        yield Finding(
            about="home", state="bad", said=f"it is on {kind}, where locks and databases of many writers are not safe",
            mend="export MLRB_HOME=/a/local/disk/mlrb",
        )  # fmt: skip


def file_system(path: Path, mounts: Path = Path("/proc/self/mounts")) -> str:
    """The kind of file system that holds a path; empty where that is not known."""
    try:
        lines = [line.split() for line in mounts.read_text().splitlines()]
    except OSError:
        return ""
    places = {fields[1].replace("\\040", " "): fields[2] for fields in lines}
    holding = [place for place in places if path.resolve().is_relative_to(place)]
    return places[max(holding, key=len)] if holding else ""


def _models(environment: Mapping[str, str]) -> Finding:
    lacking = {kind: key for kind in MODEL_KINDS if (key := missing_key(f"{kind}:any", "", environment))}
    there = [kind for kind in MODEL_KINDS if kind not in lacking]
    said = f"{', '.join(there)}" + (f"; no key for {', '.join(lacking)}" if lacking else "")
    mend = " or ".join(f"export {key}=…" for key in lacking.values())
    return Finding(about="models", state="note" if lacking else "ok", said=said, mend=mend)


def _docker() -> Iterator[Finding]:
    path = daemon_socket()
    try:
        version = daemon_version(path, _ASK_S)
    except SandboxUnavailable as error:
        yield Finding(about="docker", state="bad", said=error.message, mend=_docker_mend(path))
        return
    yield Finding(about="docker", state="ok", said=f"{version} at {path}")
    there = image_is_there(DEFAULT_IMAGE, path, _ASK_S)
    said = f"{DEFAULT_IMAGE} is {'there' if there else 'not there'}"
    yield Finding(about="image", state="ok" if there else "bad", said=said, mend="" if there else "mlrb image build")


def _docker_mend(path: Path | None) -> str:
    if path is None or os.environ.get("DOCKER_HOST"):
        return "unset DOCKER_HOST, or start the daemon that it names"
    if not path.exists():
        return "sudo apt-get install docker.io" if shutil.which("dockerd") is None else "sudo systemctl start docker"
    return (
        "sudo systemctl start docker" if os.access(path, os.W_OK) else 'sudo usermod -aG docker "$USER"; newgrp docker'
    )


def _leftovers(home: Home) -> Finding:
    from agent.sandbox.leftovers import find
    from mlrb_tui.control.reaping import told

    line = told(find(home, timeout_s=_ASK_S)).removesuffix(": mlrb reap")
    return Finding(
        about="leftovers", state="note" if line else "ok", said=line or "none", mend="mlrb reap" if line else ""
    )


def _machines(home: Home) -> Iterator[Finding]:
    try:
        known = list(machines(home).values())
    except MlrbError as error:
        yield Finding(about="hosts", state="bad", said=error.message, mend=error.hint)
        return
    far = any(not one.here for one in known)
    if far and shutil.which("ssh") is None:
        yield Finding(about="ssh", state="bad", said="there is no ssh", mend="sudo apt-get install openssh-client")
        return
    if not far:
        mend = f"write [NAME] for each into {path_of(home)}; --sandbox docker@NAME works without"
        yield Finding(about="hosts", state="note", said="only this machine is known", mend=mend)
    for seen, machine in zip(look_at(home, known), known, strict=True):
        yield from _machine(seen, machine)


def _machine(seen: SeenMachine, machine: Machine) -> Iterator[Finding]:
    about = f"host {seen.name}"
    if seen.gpu_trouble:
        call = "" if machine.here else shlex.join(["ssh", *machine.ssh_options, machine.target]) + " "
        yield Finding(about=about, state="bad", said=seen.gpu_trouble, mend=f"{call}nvidia-smi")
    elif seen.reachable:
        yield Finding(
            about=about, state="ok", said=f"{words.count(len(seen.gpus), 'GPU')}, {len(seen.runs)} runs there"
        )
    # What this machine lacks has been said already.
    if seen.trouble and not machine.here:
        yield Finding(about=about, state="bad", said=seen.trouble, mend=seen.hint)


def _read(about: str, read: Callable[[], str]) -> Finding:
    try:
        return Finding(about=about, state="ok", said=read())
    except MlrbError as error:
        return Finding(about=about, state="bad", said=error.message, mend=error.hint)
