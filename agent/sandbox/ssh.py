"""The user's own OpenSSH: how it is called, and what its complaints mean."""

import contextlib
import os
import shlex
import signal
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

from agent.errors import SandboxUnavailable
from agent.record.redact import without_secrets
from agent.record.text import one_line
from agent.sandbox.machines import Machine

CONNECT_S = 10
_KEEP_ALIVE_S = 5
_KEEP_ALIVES = 3
_DIES_S = 1.0

# Nothing may ever ask: a prompt would hang a runner that has no terminal. An unknown host key is then refused,
# unless the user's own configuration accepts it.
_SILENT = ("-o", "BatchMode=yes", "-o", "LogLevel=ERROR")
# Forwardings that the user's configuration has for this host are for their own sessions: a port that one of those
# holds must not keep ours from coming up, and ours must not take it from them.
_ALONE = ("-o", "ClearAllForwardings=yes", "-o", "PermitLocalCommand=no", "-o", "ControlPersist=no")
_OURS_ALONE = ("-o", "StreamLocalBindUnlink=yes", "-o", "StreamLocalBindMask=0177")
_PATIENT = (
    *("-o", f"ConnectTimeout={CONNECT_S}", "-o", f"ServerAliveInterval={_KEEP_ALIVE_S}"),
    *("-o", f"ServerAliveCountMax={_KEEP_ALIVES}"),
)
# A client that only speaks to a connection that is there, and never makes one of its own.
_THROUGH = ("-F", "/dev/null", "-o", "BatchMode=yes", "-o", "ProxyCommand=false", "-o", "ControlMaster=no")
_ANYBODY = "mlrb-tunnel"


def environment() -> dict[str, str]:
    """Ours without its secrets, which others of this user could read there, and complaints in a language we know."""
    return {**without_secrets(), "LC_ALL": "C"}


def master(machine: Machine, control: Path) -> list[str]:
    """The connection that all others go through; what the user gives for this host comes before our patience."""
    own = (*_SILENT, *_ALONE, *_OURS_ALONE, *machine.ssh_options, *_PATIENT)
    return ["ssh", "-nNT", "-M", "-S", str(control), *own, machine.target]


def forward(control: Path, here: Path, there: str) -> list[str]:
    """Have the connection lead a socket here to one over there."""
    return ["ssh", *_THROUGH, "-S", str(control), "-O", "forward", "-L", f"{here}:{there}", _ANYBODY]


def through(control: Path, command: Sequence[str]) -> list[str]:
    """Run a command over there, over the connection that is there."""
    return ["ssh", *_THROUGH, "-nT", "-S", str(control), _ANYBODY, shlex.join(command)]


def output_of(command: Sequence[str], timeout_s: float) -> "subprocess.CompletedProcess[str]":
    """Run it here; one that takes too long ends with 124, as under `timeout`."""
    # Files and not pipes: a process that not even KILL ends, as under a driver that hangs, would hold a pipe open.
    with tempfile.TemporaryFile("w+", errors="replace") as out, tempfile.TemporaryFile("w+", errors="replace") as err:
        try:
            process = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=out, stderr=err, env=environment(), start_new_session=True
            )
        except OSError as error:
            return subprocess.CompletedProcess(command, 127, "", error.strerror or str(error))
        try:
            code = process.wait(timeout_s)
        except subprocess.TimeoutExpired:
            code = 124
            os.killpg(process.pid, signal.SIGKILL)
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(_DIES_S)
        out.seek(0)
        err.seek(0)
        said = err.read() if code != 124 else f"no answer within {timeout_s:.0f} s"
        return subprocess.CompletedProcess(command, code, out.read(), said)


def call(machine: Machine) -> str:
    """How a person reaches it by hand."""
    return shlex.join(["ssh", *machine.ssh_options, machine.target])


def trouble(machine: Machine, said: str) -> SandboxUnavailable:
    """What ssh complained of, as one error with what mends it."""
    name, by_hand = machine.name, call(machine)
    for mark, message, hint in (
        ("IDENTIFICATION HAS CHANGED", "the host key of {name} is not the one that is known",
         "ask whoever runs it why; if it is right: ssh-keygen -R {target}, then {call} true"),
        ("Host key verification failed", "the host key of {name} is not known yet",
         "{call} true, and compare the fingerprint before you accept it"),
        ("Permission denied", "{name} lets nobody in without a password or another key",
         "ssh-copy-id {target}, or ssh-add the key that it knows; {call} -o BatchMode=yes true must work"),
        ("Too many authentication failures", "{name} was offered too many keys", "name one: IdentitiesOnly yes"),
        ("Could not resolve hostname", "there is no host {target}", "put it into ~/.ssh/config or hosts.toml"),
        ("onfiguration option", "ssh does not understand its configuration", "{call} true"),
        ("Bad owner or permissions", "ssh refuses its configuration", "{call} true"),
    ):  # fmt: skip
        if mark in said:
            words = {"name": repr(name), "target": machine.target, "call": by_hand}
            return SandboxUnavailable(message.format(**words), hint=hint.format(**words))
    last = one_line(said.strip().splitlines()[-1], 200) if said.strip() else f"no answer within {CONNECT_S} s"
    return SandboxUnavailable(f"{name!r} is not reached: {last}", hint=f"{by_hand} true")
