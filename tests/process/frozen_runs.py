"""What a freeze promises, judged from the machine: the processor time of what is frozen, and its output afterwards."""

import os
import secrets
import time
from pathlib import Path

from agent.record import events as ev
from agent.record.inbox import Pause, Resume
from tests.process.runner_runs import Run, Runs, bash, processes_with, script_line, until

TIMEOUT_S = 6.0
_FROZEN_S = 7.0
_SPIN = "import os\ni = 0\nwhile not os.path.exists('go'):\n  i += 1\n  if i % 2000 == 0: print(i // 2000, flush=True)"


def cpu_s(pid: int) -> float:
    """The processor time that the process has used."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def spinning(runs: Runs, sandbox: str) -> tuple[Run, int]:
    """A run whose command keeps a core busy and counts, and the process that does."""
    # Named apart from the same command of another test that runs beside this one.
    mark = f"# spins for {secrets.token_hex(8)}"
    command = f'python3 -c "{_SPIN}\n{mark}"'
    run = runs.start([bash(command, timeout_s=TIMEOUT_S), script_line("submit")], sandbox=sandbox)
    run.wait_for(ev.ToolOutput)
    (pid,) = [pid for pid in processes_with(mark) if _is_python(pid)]
    return run, pid


def check_frozen(run: Run, pid: int) -> None:
    """From the answer on it uses no processor time, its clocks stand, and no time-out fires."""
    assert run.answer_to(run.post(Pause(strength="now"), who="ann")).detail == "frozen"
    used_s, worked_s, frozen = cpu_s(pid), run.summary().working_s, time.monotonic()
    until(lambda: time.monotonic() - frozen > _FROZEN_S, "more than its time-out passes")
    assert cpu_s(pid) == used_s
    assert run.summary().working_s == worked_s
    assert run.bodies(ev.ToolFinished) == []


def check_goes_on(run: Run, pid: int) -> None:
    """The same process goes on, its output too, and nothing of it is missing or said twice."""
    used_s, said = cpu_s(pid), len(run.bodies(ev.ToolOutput))
    run.answer_to(run.post(Resume(), who="bob"))
    until(lambda: cpu_s(pid) > used_s, "it works again")
    run.wait_for(ev.ToolOutput, count=said + 1)


def check_whole(run: Run) -> None:
    """It ended by itself, and what it counted is in the record without a gap."""
    assert run.ended().outcome == "submitted"
    finished = run.bodies(ev.ToolFinished)[0]
    assert (finished.exit_code, finished.timed_out) == (0, False)
    counted = [int(line) for output in run.bodies(ev.ToolOutput) for line in run.text(output.text).split()]
    assert counted == list(range(1, len(counted) + 1))
    assert run.summary().paused_s > _FROZEN_S


def _is_python(pid: int) -> bool:
    return Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")[0].endswith(b"python3")
