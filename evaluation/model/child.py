"""Runs what may hang, crash or eat memory in a process group of its own, with a time limit and a memory limit."""

import contextlib
import functools
import importlib
import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

SOURCES = Path(__file__).parents[2]
LAST_WORDS = 8192
"""Characters of a child's output that are kept, from its end."""
_PASSED_ON = ("PATH", "LANG", "LC_ALL", "TZ", "LD_LIBRARY_PATH", "VIRTUAL_ENV", "CUDA_VISIBLE_DEVICES", "ELAN_HOME")
_OFFLINE = ("HF_HUB_OFFLINE", "HF_DATASETS_OFFLINE", "TRANSFORMERS_OFFLINE", "HF_HUB_DISABLE_TELEMETRY")
FILE_BYTES = 256 * 2**20
REPORT_BYTES = 16 * 2**20
"""Of a child's reports, or of its whole output, what is read."""

Send = Callable[[Mapping[str, Any]], None]
"""Hands one JSON object to the parent."""


@dataclass(frozen=True)
class Finished:
    """How a command ended."""

    code: int | None
    """None where it was ended because its time was up."""
    output: str
    """The end of stdout and stderr together."""
    wall_s: float
    reports: tuple[dict[str, Any], ...] = field(default=())
    """What a child started with `call` has sent, in order."""

    @property
    def timed_out(self) -> bool:
        """Whether the time limit ended it."""
        return self.code is None

    @property
    def how(self) -> str:
        """How it ended, in words."""
        if self.code is None:
            return f"not done after {self.wall_s:.0f} s"
        if self.code < 0:
            return f"ended by {_signal_name(-self.code)}"
        return f"exit code {self.code}"


def run(
    command: Sequence[str],
    *,
    timeout_s: float,
    memory_bytes: int = 0,
    file_bytes: int = FILE_BYTES,
    folder: Path | None = None,
    stdin: bytes = b"",
    pass_fd: int | None = None,
    whole_output: bool = False,
) -> Finished:
    """Run a command without network where the kernel lets us cut it off; `memory_bytes` limits its private memory,
    `file_bytes` each file that it writes, its output among them. Of the output the end is kept, or with
    `whole_output` all that a reasonable program says.

    The environment is a few known variables, the working directory a folder that is thrown away unless one is given.
    When it returns, nothing of the command's process group is left.
    """
    with tempfile.TemporaryDirectory(prefix="mlrb-child-") as scratch, _file_with(stdin) as given:
        output_file = Path(scratch) / "output"
        home = Path(scratch) / "home"
        home.mkdir()
        with output_file.open("w+b") as output:
            started = time.monotonic()
            process = subprocess.Popen(
                [*_without_network(), *command],
                stdin=given,
                stdout=output,
                stderr=output,
                cwd=folder or home,
                env=_environment(home),
                pass_fds=() if pass_fd is None else (pass_fd,),
                start_new_session=True,
                preexec_fn=functools.partial(_before, memory_bytes, file_bytes, os.geteuid()),
            )
            code = _wait(process, timeout_s)
            wall_s = time.monotonic() - started
            kept = REPORT_BYTES if whole_output else LAST_WORDS
            output.seek(max(0, os.fstat(output.fileno()).st_size - kept))
            return Finished(code, output.read().decode(errors="replace"), wall_s)


def call(function: str, arguments: Mapping[str, Any], *, timeout_s: float, memory_bytes: int = 0) -> Finished:
    """Call `module:function(arguments, send)` in a child; what it sends is in `reports`, its prints are not."""
    with tempfile.TemporaryFile(prefix="mlrb-report-") as channel:
        os.set_inheritable(channel.fileno(), True)
        ended = run(
            [sys.executable, "-B", "-m", "evaluation.model.child", function, str(channel.fileno())],
            timeout_s=timeout_s,
            memory_bytes=memory_bytes,
            stdin=json.dumps(arguments).encode(),
            pass_fd=channel.fileno(),
        )
        channel.seek(0)
        return Finished(ended.code, ended.output, ended.wall_s, tuple(_reports(channel)))


def main(arguments: list[str]) -> int:
    """The child's side of `call`."""
    module, _, name = arguments[0].partition(":")
    channel = int(arguments[1])
    os.set_inheritable(channel, False)
    function = getattr(importlib.import_module(module), name)

    def send(value: Mapping[str, Any]) -> None:
        os.write(channel, json.dumps(value).encode() + b"\n")

    function(json.loads(sys.stdin.buffer.read()), send)
    return 0


def _reports(channel: IO[bytes]) -> list[dict[str, Any]]:
    lines = channel.read(REPORT_BYTES).splitlines()
    found = []
    for line in lines:
        # A line that a crash has cut is no report.
        with contextlib.suppress(ValueError):
            found.append(json.loads(line))
    return found


@contextlib.contextmanager
def _file_with(data: bytes) -> Any:
    with tempfile.TemporaryFile() as file:
        file.write(data)
        file.seek(0)
        yield file


def _wait(process: "subprocess.Popen[bytes]", timeout_s: float) -> int | None:
    """The exit code, None where it had to be ended; its process group is gone after this."""
    code: int | None = None
    try:
        with contextlib.suppress(subprocess.TimeoutExpired):
            code = process.wait(timeout=timeout_s)
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    return code


def _before(memory_bytes: int, file_bytes: int, user: int) -> None:
    """Between fork and exec: limits, and no way back to the user that the grader could become again."""
    os.setresuid(user, user, user)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_FSIZE, (file_bytes, file_bytes))
    if memory_bytes:
        resource.setrlimit(resource.RLIMIT_DATA, (memory_bytes, memory_bytes))


@functools.cache
def _without_network() -> tuple[str, ...]:
    """The words before a command that take its network away; none where that isn't allowed (in a container, say)."""
    if shutil.which("unshare") is None:
        return ()
    for words in (("unshare", "--net", "--"), ("unshare", "--map-root-user", "--net", "--")):
        if subprocess.run([*words, "true"], capture_output=True, timeout=10, check=False).returncode == 0:
            return words
    return ()


def _environment(home: Path) -> dict[str, str]:
    own = {name: os.environ[name] for name in _PASSED_ON if name in os.environ}
    offline = dict.fromkeys(_OFFLINE, "1") | {"TOKENIZERS_PARALLELISM": "false"}
    return own | offline | {"HOME": str(home), "TMPDIR": str(home), "PYTHONPATH": str(SOURCES)}


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
