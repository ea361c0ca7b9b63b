"""A dockerd of our own, which can be stopped, shot and started again without anybody else's containers noticing."""

import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from agent.sandbox.containers import RUN_LABEL
from agent.sandbox.engine import DEFAULT_IMAGE, docker_answers

_START_S = 60.0
_STOP_S = 30.0
_POLL_S = 0.05
# What no test needs makes nine tenths of the image: a copy of the rest is there in seconds.
_LEFT_OUT = (
    "./opt/build", "./opt/venv/lib/python3*/site-packages", "./usr/share/*", "./usr/lib/git-core", "./var/cache/*",
    "./var/lib/apt", "*/perl*", "*/gconv", "*.a",
)  # fmt: skip
AS_THE_IMAGE = (
    "ENV VIRTUAL_ENV=/opt/venv",
    "ENV PATH=/opt/venv/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
    "USER agent",
    "WORKDIR /home/agent/workspace",
)


@dataclass
class PrivateDaemon:
    """A dockerd with folders and a socket of its own."""

    folder: Path
    live_restore: bool = True
    """Whether containers live on while it is away."""
    _process: "subprocess.Popen[bytes] | None" = field(default=None)

    @property
    def socket(self) -> Path:
        """Where it listens."""
        return self.folder / "docker.sock"

    @property
    def address(self) -> str:
        """For `DOCKER_HOST`."""
        return f"unix://{self.socket}"

    def start(self) -> None:
        """Start it and wait until it answers."""
        self.launch()
        deadline = time.monotonic() + _START_S
        while not docker_answers(self.socket):
            if self._process is None or self._process.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError(f"dockerd does not start: {self.said()}")
            time.sleep(_POLL_S)

    def launch(self) -> None:
        """Start it and don't wait."""
        self._clear_stale()
        # A daemon without a bridge removes the one that it finds, whosever it is: so it gets a network of its own.
        command = [
            "unshare", "--net",
            "dockerd", "--data-root", str(self.folder / "data"), "--exec-root", str(self.folder / "exec"),
            "--pidfile", str(self._pid_file), "--host", self.address, "--bridge=none", "--iptables=false",
            "--ip6tables=false", "--ip-forward=false", "--ip-masq=false", f"--live-restore={self.live_restore}".lower(),
        ]  # fmt: skip
        with (self.folder / "dockerd.log").open("ab") as log:
            self._process = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True
            )

    def stop(self) -> None:
        """End it as an administrator does."""
        self._end(signal.SIGTERM)

    def shoot(self) -> None:
        """End it with SIGKILL: its containers' own keepers live on."""
        self._end(signal.SIGKILL)

    def let_containers_live(self) -> None:
        """From now on they live on while it is away."""
        self.stop()
        self.live_restore = True
        self.start()

    def hold(self) -> None:
        """Have it answer nobody, though it is there."""
        assert self._process is not None
        self._process.send_signal(signal.SIGSTOP)

    def let_go(self) -> None:
        """Let it answer again."""
        assert self._process is not None
        self._process.send_signal(signal.SIGCONT)

    @property
    def is_up(self) -> bool:
        """Whether it answers."""
        return docker_answers(self.socket)

    def states(self, run: str) -> list[str]:
        """How each container of a run stands."""
        return self.docker("ps", "--all", "--filter", f"label={RUN_LABEL}={run}", "--format", "{{.State}}").split()

    def docker(self, *arguments: str) -> str:
        """What this `docker` command prints."""
        command = ["docker", "--host", self.address, *arguments]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()

    def load_image(self) -> None:
        """Copy the sandbox's image over from the machine's own daemon, without its Python packages."""
        changes = [word for change in AS_THE_IMAGE for word in ("--change", change)]
        with packing() as packed:
            load = ["docker", "--host", self.address, "import", *changes, "-", DEFAULT_IMAGE]
            subprocess.run(load, stdin=packed.stdout, stdout=subprocess.DEVNULL, check=True)

    def said(self) -> str:
        """The end of its log."""
        log = self.folder / "dockerd.log"
        return log.read_text(errors="replace")[-2000:] if log.exists() else "nothing"

    def clear(self) -> None:
        """Remove all its containers, end it, and let go of what it has mounted."""
        if not docker_answers(self.socket):
            self.start()
        if containers := self.docker("ps", "--all", "--quiet").split():
            self.docker("rm", "--force", "--volumes", *containers)
        self.stop()
        for line in reversed(Path("/proc/self/mounts").read_text().splitlines()):
            place = line.split()[1]
            if place.startswith(f"{self.folder}/"):
                subprocess.run(["umount", "--lazy", place], check=False)

    @property
    def _pid_file(self) -> Path:
        return self.folder / "docker.pid"

    def _end(self, number: int) -> None:
        assert self._process is not None
        self._process.send_signal(number)
        try:
            self._process.wait(_STOP_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def _clear_stale(self) -> None:
        """A dockerd that was shot leaves its containerd for a moment; a second one could not open its files."""
        deadline = time.monotonic() + _STOP_S
        while (left := self._containerds()) and time.monotonic() < deadline:
            for pid in left:
                os.kill(pid, signal.SIGTERM)
            time.sleep(_POLL_S)
        # Their numbers may still be taken, by a dead process that nobody has taken in.
        for stale in (self._pid_file, self.folder / "exec" / "containerd" / "containerd.pid"):
            stale.unlink(missing_ok=True)

    def _containerds(self) -> list[int]:
        mark = f"{self.folder}/exec/containerd/containerd.toml".encode()
        found = []
        for entry in Path("/proc").iterdir():
            try:
                words = (entry / "cmdline").read_bytes().split(b"\0") if entry.name.isdigit() else []
            except OSError:
                continue
            if words and words[0].endswith(b"containerd") and mark in words:
                found.append(int(entry.name))
        return found


@contextmanager
def packing() -> Iterator["subprocess.Popen[bytes]"]:
    """The image's files as they come out of the machine's own daemon, on stdout; without what no test needs."""
    pack = ["docker", "run", "--rm", "--user", "0", "--network", "none", DEFAULT_IMAGE, "tar", "-C", "/"]
    pack += ["--one-file-system", *(f"--exclude={pattern}" for pattern in _LEFT_OUT), "-cf", "-", "."]
    with subprocess.Popen(pack, stdout=subprocess.PIPE) as packed:
        yield packed
    if packed.returncode != 0:
        raise RuntimeError("the image could not be copied")


def may_run_daemons() -> bool:
    """Whether this machine lets us start one."""
    return os.geteuid() == 0 and shutil.which("dockerd") is not None


@contextmanager
def private_daemon(*, live_restore: bool = True) -> Iterator[PrivateDaemon]:
    """One that runs and has the sandbox's image; nothing of it is left afterwards."""
    # A socket's name has 107 bytes at most, so no test's own deep folder.
    folder = Path(tempfile.mkdtemp(prefix="mlrbd-"))
    daemon = PrivateDaemon(folder, live_restore)
    try:
        daemon.start()
        daemon.load_image()
        yield daemon
    finally:
        daemon.clear()
        shutil.rmtree(folder, ignore_errors=True)
