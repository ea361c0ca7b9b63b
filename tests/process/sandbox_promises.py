"""What every sandbox promises, as tests that the local one and the docker one both run."""

import asyncio
import os
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from agent.errors import SubmissionTooLarge
from agent.sandbox.base import CommandResult, Sandbox, SandboxPlan
from agent.sandbox.guest.command import TICK_S

DEADLINE_S = 20.0
STILL_S = 0.5
"""How long something must not change to count as standing still: fifty of the kernel's clock ticks. What runs gets
some of them on a busy machine, too, and absence can be seen no other way than by looking for a while."""


@dataclass
class Bench:
    """A started sandbox and a short way to run commands in it."""

    sandbox: Sandbox
    plan: SandboxPlan
    count: int = 0

    async def run(self, command: str, timeout_s: float = 30.0) -> tuple[CommandResult, str]:
        """Run a command to its end."""
        started = self.begin(command, timeout_s)
        result = await started.task
        return result, started.text

    def begin(self, command: str, timeout_s: float = 30.0) -> "Started":
        """Run a command beside the test."""
        self.count += 1
        started = Started(f"command-{self.count}")
        started.task = asyncio.create_task(
            self.sandbox.execute(command, command_id=started.name, timeout_s=timeout_s, on_output=started.output.extend)
        )
        return started

    async def processes(self) -> int:
        """How many processes there are beside the guest and its waiting shell."""
        return ((await self.sandbox.sample()).processes or 0) - 1


@dataclass
class Started:
    """A command that runs."""

    name: str
    output: bytearray = field(default_factory=bytearray)
    task: "asyncio.Task[CommandResult]" = field(init=False)

    @property
    def text(self) -> str:
        """What it wrote so far."""
        return self.output.decode()

    async def says(self, text: str) -> None:
        """Wait until it has written `text`."""
        await until(lambda: text in self.output.decode(errors="replace"))


async def until(holds: Callable[[], bool], deadline_s: float = DEADLINE_S) -> None:
    """Wait until something holds; fails after the deadline."""
    ends = time.monotonic() + deadline_s
    while not holds():
        assert time.monotonic() < ends, "the deadline passed"
        await asyncio.sleep(0.01)


async def passes(seconds: float) -> None:
    """Let time pass: what must not be counted has to be there first."""
    began = time.monotonic()
    await until(lambda: time.monotonic() - began > seconds)


async def stands(read: Callable[[], object]) -> None:
    """What it reads now is what it reads for `STILL_S`."""
    before, ends = read(), time.monotonic() + STILL_S
    while time.monotonic() < ends:
        assert read() == before, "it went on"
        await asyncio.sleep(0.01)


async def comes_to_stand(read: Callable[[], object], still_s: float, deadline_s: float) -> None:
    """Wait until what it reads has been the same for so long; fails after the deadline."""
    before, since = read(), time.monotonic()
    ends = since + deadline_s
    while time.monotonic() - since < still_s:
        assert time.monotonic() < ends, "the deadline passed"
        await asyncio.sleep(0.01)
        if (now := read()) != before:
            before, since = now, time.monotonic()


def make_plan(folder: Path, **more: object) -> SandboxPlan:
    """A plan with a small workspace: `start.txt`, and `data/rows.csv` that may only be read."""
    workspace, place = folder / "workspace", folder / "run"
    (workspace / "data").mkdir(parents=True)
    place.mkdir()
    (workspace / "start.txt").write_text("start\n")
    (workspace / "data" / "rows.csv").write_text("a,b\n1,2\n")
    fields: dict[str, object] = {"run": f"test-{os.urandom(4).hex()}", "read_only": ("data",), **more}
    return SandboxPlan(workspace=workspace, folder=place, **fields)  # type: ignore[arg-type]


class SandboxPromises:
    """The tests; a subclass gives the fixture `bench`."""

    async def test_command_that_fails_is_a_value(self, bench: Bench) -> None:
        result, text = await bench.run("cat start.txt; echo bad >&2; exit 7")
        assert (result.exit_code, result.timed_out, result.interrupted) == (7, False, False)
        assert text == "start\nbad\n"
        assert result.output_bytes == len(text)

    async def test_syntax_error_is_output_and_not_a_lost_sandbox(self, bench: Bench) -> None:
        result, text = await bench.run("if then (")
        assert result.exit_code == 2
        assert "syntax error" in text

    async def test_directory_variables_and_functions_carry_over(self, bench: Bench) -> None:
        await bench.run("mkdir -p 'a b'; cd 'a b'; export GREETING=$'two\\nlines \"x\"'; greet() { echo hi $1; }")
        result, text = await bench.run('printf "%s" "$GREETING"; greet you; pwd')
        assert text.startswith('two\nlines "x"hi you\n')
        assert text.rstrip().endswith("/a b")
        assert result.workdir.endswith("/a b")
        _, text = await bench.run("unset GREETING; cd /; exit 3")
        result, text = await bench.run('echo "[$GREETING]"')
        assert (text, result.workdir) == ("[]\n", "/")

    async def test_state_survives_an_own_exit_trap_and_a_failing_set_e(self, bench: Bench) -> None:
        _, text = await bench.run("trap 'echo bye' EXIT; export KEPT=1; set -e; cd data; false; echo not reached")
        assert text == "bye\n"
        result, text = await bench.run("echo still here")
        assert (result.exit_code, text) == (0, "still here\n")

    async def test_killed_shell_keeps_the_state_of_the_command_before(self, bench: Bench) -> None:
        await bench.run("export KEPT=1")
        result, _ = await bench.run("kill -9 $$")
        assert result.exit_code == 137
        assert (await bench.run("echo $KEPT"))[1] == "1\n"

    async def test_output_arrives_while_the_command_runs(self, bench: Bench) -> None:
        started = bench.begin("echo first; while [ ! -e go ]; do sleep 0.05; done; echo second")
        await started.says("first")
        assert not started.task.done()
        await bench.sandbox.write_file("go", b"")
        await started.task
        assert started.text == "first\nsecond\n"

    async def test_split_character_nuls_and_bad_bytes_pass_untouched(self, bench: Bench) -> None:
        started = bench.begin("printf 'caf\\303'; sleep 0.1; printf '\\251\\0\\377\\033[31m'")
        await started.task
        assert bytes(started.output) == b"caf\xc3\xa9\0\xff\x1b[31m"

    async def test_long_line_and_many_lines_are_whole(self, bench: Bench) -> None:
        result, text = await bench.run("head -c 90000 /dev/zero | tr '\\0' z")
        assert text == "z" * 90_000
        result, text = await bench.run("seq 50000")
        assert text == "".join(f"{number}\n" for number in range(1, 50_001))
        assert result.output_bytes == len(text)

    async def test_command_longer_than_an_argument_may_be(self, bench: Bench) -> None:
        _, text = await bench.run(f"cat <<'E' | wc -c\n{'x' * 300_000}\nE")
        assert text.strip() == "300001"

    async def test_timed_out_loop_is_gone_within_two_seconds(self, bench: Bench) -> None:
        started = time.monotonic()
        result, _ = await bench.run("trap '' TERM; while true; do :; done", timeout_s=1.0)
        assert time.monotonic() - started < 1.0 + 2.0
        assert (result.exit_code, result.timed_out, result.left_alive) == (None, True, 0)
        assert await bench.processes() == 0

    async def test_interrupt_ends_daemons_and_sessions_too(self, bench: Bench) -> None:
        started = bench.begin(
            "sleep 999 & setsid sleep 999 & (setsid sh -c 'sleep 999 & sleep 999' & ); echo up; sleep 999"
        )
        await started.says("up")
        assert await bench.sandbox.interrupt()
        result = await started.task
        assert (result.interrupted, result.exit_code, result.left_alive) == (True, None, 0)
        assert await bench.processes() == 0
        assert not await bench.sandbox.interrupt()

    async def test_cancelled_caller_leaves_no_command_behind(self, bench: Bench) -> None:
        started = bench.begin("echo up; sleep 999")
        await started.says("up")
        started.task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await started.task
        assert await bench.processes() == 0

    async def test_background_process_is_reported_and_not_killed_by_the_next_command(self, bench: Bench) -> None:
        result, _ = await bench.run("while sleep 0.01; do echo noise; done & echo $! > pid")
        assert result.left_alive >= 1
        _, text = await bench.run("sleep 0.2; kill -0 $(cat pid) && echo alive")
        assert text == "alive\n"
        result, _ = await bench.run("sleep 999", timeout_s=0.3)
        assert result.timed_out
        assert (await bench.run("kill $(cat pid) && echo alive"))[1] == "alive\n"

    async def test_output_past_its_cap_is_counted_and_not_kept(self, bench: Bench) -> None:
        cap = bench.plan.limits.output_bytes
        result, text = await bench.run(f"head -c {cap + 5_000_000} /dev/zero | tr '\\0' y; echo done >&2")
        assert result.output_bytes == cap + 5_000_000 + len("done\n")
        assert text.startswith("y" * cap + "\n[the first ")
        assert len(text) < cap + 200

    async def test_frozen_sandbox_writes_nothing_and_its_time_does_not_count(self, bench: Bench) -> None:
        timeout_s = 2.0
        began = time.monotonic()
        started = bench.begin("i=0; while :; do i=$((i+1)); [ $((i % 5000)) = 0 ] && echo $i; done", timeout_s)
        await started.says("5000\n")
        await bench.sandbox.freeze()
        ran_s = time.monotonic() - began
        # What was on its way arrives first. Only from a pause this long does the guest conclude that it stood still.
        await comes_to_stand(lambda: len(started.output), still_s=6 * TICK_S, deadline_s=5.0)
        silent_at = len(started.output)
        assert not started.task.done()
        thawed = time.monotonic()
        await bench.sandbox.thaw()
        result = await started.task
        assert result.timed_out
        assert ran_s + time.monotonic() - thawed > timeout_s - TICK_S, "the frozen time was counted"
        assert len(started.output) > silent_at

    async def test_short_freezes_do_not_add_up_to_a_time_out(self, bench: Bench) -> None:
        started = bench.begin("echo up; until [ -e go ]; do sleep 0.02; done; echo over", 3.0)
        await started.says("up")
        for _ in range(20):
            await bench.sandbox.freeze()
            await passes(0.3)
            await bench.sandbox.thaw()
        await bench.sandbox.write_file("go", b"")
        result = await started.task
        assert not result.timed_out
        assert result.exit_code == 0
        assert result.duration_s < 3.0

    async def test_interrupt_works_in_a_frozen_sandbox(self, bench: Bench) -> None:
        started = bench.begin("echo up; sleep 999")
        await started.says("up")
        await bench.sandbox.freeze()
        assert await bench.sandbox.interrupt()
        await bench.sandbox.thaw()
        assert (await started.task).interrupted

    async def test_keys_of_the_runner_are_not_in_its_environment(self, bench: Bench) -> None:
        _, text = await bench.run("env; cat /proc/*/environ 2>/dev/null | tr '\\0' '\\n' | grep -a ^MLRB_RUN=test")
        assert "ANTHROPIC_API_KEY" not in text
        assert "PATH=" in text

    async def test_files_are_written_whole_and_read_as_they_are(self, bench: Bench) -> None:
        data = os.urandom(3_000_000)
        await bench.run("cd data/..; mkdir deep; cd deep")
        await bench.sandbox.write_file("new/file.bin", data)
        assert await bench.sandbox.read_file("new/file.bin") == data
        assert await bench.sandbox.read_file("../start.txt") == b"start\n"
        await bench.sandbox.write_file("empty", b"")
        assert await bench.sandbox.read_file("empty") == b""

    async def test_file_troubles_are_the_usual_errors(self, bench: Bench) -> None:
        await bench.run("mkfifo pipe; head -c 2000 /dev/zero > long")
        with pytest.raises(FileNotFoundError):
            await bench.sandbox.read_file("nowhere")
        with pytest.raises(IsADirectoryError):
            await bench.sandbox.read_file("data")
        with pytest.raises(PermissionError):
            await bench.sandbox.read_file("pipe")
        with pytest.raises(ValueError, match="2,000 bytes"):
            await bench.sandbox.read_file("long", max_bytes=1000)
        with pytest.raises(IsADirectoryError):
            await bench.sandbox.write_file("data", b"")
        with pytest.raises((NotADirectoryError, FileExistsError)):
            await bench.sandbox.write_file("start.txt/below", b"")

    async def test_copies_do_not_follow_links_out_of_the_work_folder(self, bench: Bench, tmp_path: Path) -> None:
        await bench.run(
            "mkdir -p out/step-2 out/step-1; echo one > out/step-1/w; echo two > out/step-2/w; "
            "ln -s step-2 out/best; ln -s /etc out/etc; ln -s /etc/passwd out/passwd; ln -s ../../.. out/up; "
            "printf x > \"out/$(printf 'odd\\nname')\"; mkfifo out/pipe"
        )
        out = tmp_path / "copied"
        names = await bench.sandbox.copy_out(["out", "out/best/*"], out)
        assert sorted(names) == ["out/best/w", "out/odd\nname", "out/step-1/w", "out/step-2/w"]
        assert (out / "out/best/w").read_text() == "two\n"
        assert not (out / "out/best/w").is_symlink()
        with pytest.raises(PermissionError):
            await bench.sandbox.copy_out(["../*"], out)
        with pytest.raises(PermissionError):
            await bench.sandbox.copy_out(["/etc/passwd"], out)

    async def test_copy_larger_than_allowed_is_refused_before_it_starts(self, bench: Bench, tmp_path: Path) -> None:
        await bench.run(f"truncate -s {bench.plan.limits.copy_bytes + 1} sparse")
        with pytest.raises(SubmissionTooLarge, match=r"bytes, .* are allowed"):
            await bench.sandbox.copy_out(["sparse"], tmp_path / "copied")
        await bench.run(f"mkdir many; cd many; seq {bench.plan.limits.copy_files + 1} | xargs touch; cd ..")
        with pytest.raises(SubmissionTooLarge, match=r"files to copy, .* are allowed"):
            await bench.sandbox.copy_out(["many"], tmp_path / "copied")

    async def test_listing_names_checkpoints_with_size_and_time(self, bench: Bench) -> None:
        await bench.run("mkdir -p ckpt/a; printf 12345 > ckpt/a/model.bin")
        [(name, size, modified)] = await bench.sandbox.files(["ckpt/**/*.bin", "ckpt/*/model.bin"])
        assert (name, size) == ("ckpt/a/model.bin", 5)
        assert abs(time.time() - modified) < 60

    async def test_stopping_twice_is_harmless_and_proven(self, bench: Bench) -> None:
        await bench.run("setsid sleep 999 & setsid sleep 999 &")
        assert all(proof.proven for proof in await bench.sandbox.stop())
        assert all(proof.proven for proof in await bench.sandbox.stop())
