"""Podman's Docker-compatible service with folders and a socket of its own, as an administrator starts it."""

import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from agent.sandbox.engine import DEFAULT_IMAGE, docker_answers
from tests.docker.private_daemon import AS_THE_IMAGE, packing

_START_S = 30.0
# A container may well be denied the limits that Podman asks for, where this machine is one itself.
_RUNTIME = r"""#!/usr/bin/python3
import json, os, resource, sys
arguments = sys.argv[1:]
path, process = "", lambda config: config
if "create" in arguments:
    path = os.path.join(arguments[arguments.index("--bundle") + 1], "config.json")
    process = lambda config: config["process"]
elif "--process" in arguments:
    path = arguments[arguments.index("--process") + 1]
if path:
    with open(path) as file:
        config = json.load(file)
    for limit in process(config).get("rlimits") or []:
        most = resource.getrlimit(getattr(resource, limit["type"]))[1]
        if most >= 0:
            limit["hard"], limit["soft"] = min(limit["hard"], most), min(limit["soft"], most)
    with open(path, "w") as file:
        json.dump(config, file)
os.execvp("runc", ["runc", *arguments])
"""


@dataclass
class PodmanService:
    """It, and its command."""

    folder: Path

    @property
    def socket(self) -> Path:
        """Where it listens."""
        return self.folder / "podman.sock"

    @property
    def address(self) -> str:
        """For `DOCKER_HOST`."""
        return f"unix://{self.socket}"

    @property
    def command(self) -> list[str]:
        """`podman` with its own folders; runc, since crun refuses a machine with both kinds of control groups."""
        places = {"--root": "root", "--runroot": "run", "--tmpdir": "tmp"}
        own = [word for option, name in places.items() for word in (option, str(self.folder / name))]
        return ["podman", *own, "--cgroup-manager", "cgroupfs", "--runtime", str(self.folder / "runtime")]

    def podman(self, *arguments: str) -> str:
        """What that command prints."""
        return subprocess.run([*self.command, *arguments], check=True, capture_output=True, text=True).stdout.strip()

    def start(self) -> "subprocess.Popen[bytes]":
        """Start it and wait until it answers."""
        (self.folder / "runtime").write_text(_RUNTIME)
        (self.folder / "runtime").chmod(0o755)
        with (self.folder / "podman.log").open("ab") as log:
            process = subprocess.Popen(
                [*self.command, "system", "service", "--time=0", self.address],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True,
            )  # fmt: skip
        deadline = time.monotonic() + _START_S
        while not docker_answers(self.socket):
            assert process.poll() is None, (self.folder / "podman.log").read_text()
            assert time.monotonic() < deadline, (self.folder / "podman.log").read_text()
            time.sleep(0.05)
        return process

    def load_image(self) -> None:
        """The sandbox's image, without its Python packages."""
        changes = [word for change in AS_THE_IMAGE for word in ("--change", change)]
        with packing() as packed:
            load = [*self.command, "import", *changes, "-", f"docker.io/library/{DEFAULT_IMAGE}"]
            subprocess.run(load, stdin=packed.stdout, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, check=True)


def why_no_podman() -> str:
    """Why it can't be tested here; empty where it can."""
    if os.geteuid() != 0:
        return "only root starts this service in the tests"
    lacking = [name for name in ("podman", "runc", "conmon") if shutil.which(name, path="/usr/bin:/usr/sbin") is None]
    # Graders get an init of Podman's, which is a package that it only recommends.
    if not any(Path(folder, "catatonit").exists() for folder in ("/usr/libexec/podman", "/usr/bin")):
        lacking.append("catatonit")
    hint = "apt-get install --no-install-recommends podman catatonit"
    return f"no {', '.join(lacking)}: {hint}" if lacking else ""


@contextmanager
def podman_service() -> Iterator[PodmanService]:
    """One that runs and has the sandbox's image; nothing of it is left afterwards."""
    if why := why_no_podman():
        pytest.skip(why)
    folder = Path(tempfile.mkdtemp(prefix="mlrbp-"))
    service = PodmanService(folder)
    process = service.start()
    try:
        service.load_image()
        yield service
    finally:
        subprocess.run([*service.command, "rm", "--all", "--force"], stdout=subprocess.DEVNULL, check=False)
        process.send_signal(signal.SIGTERM)
        process.wait()
        for line in reversed(Path("/proc/self/mounts").read_text().splitlines()):
            if line.split()[1].startswith(f"{folder}/"):
                subprocess.run(["umount", "--lazy", line.split()[1]], check=False)
        shutil.rmtree(folder, ignore_errors=True)
