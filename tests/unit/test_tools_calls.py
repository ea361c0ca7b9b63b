"""Tools answer every call in words that help, whatever the model put into it."""

from collections.abc import Mapping

import pytest

from agent.record.values import Score, Violation
from agent.sandbox.base import CommandResult
from agent.tools.arguments import problems
from agent.tools.base import ToolResult
from agent.tools.catalogue import TOOLS
from tests.unit.tool_bench import WORKDIR, Bench


async def _use(bench: Bench, name: str, **arguments: object) -> ToolResult:
    tool = TOOLS[name]
    assert problems(tool.spec, arguments) == []
    return await tool.run(bench, arguments)


@pytest.mark.parametrize(
    ("tool", "arguments", "said"),
    [
        ("bash", {}, "missing argument 'command'"),
        ("bash", {"command": 5}, "argument 'command' must be a string, not 5"),
        ("bash", {"command": "ls", "timeout": 5}, "unknown argument 'timeout'; did you mean 'timeout_s'?"),
        ("bash", {"command": "ls", "timeout_s": "5"}, "argument 'timeout_s' must be a number, not '5'"),
        ("bash", {"command": "ls", "timeout_s": True}, "argument 'timeout_s' must be a number, not True"),
        ("read", {"path": "a", "limit": 2.5}, "argument 'limit' must be a whole number, not 2.5"),
        ("validate", {"x": 1}, "unknown argument 'x'; this tool takes none"),
        ("write", {"path": None, "content": {"a": "b" * 500}}, "argument 'path' must be a string, not None"),
    ],
)
def test_wrong_arguments_are_named_one_by_one(tool: str, arguments: Mapping[str, object], said: str) -> None:
    found = problems(TOOLS[tool].spec, arguments)
    assert any(said in problem for problem in found)
    assert all(len(problem) < 300 for problem in found)


@pytest.mark.parametrize("name", list(TOOLS))
def test_summary_of_a_call_survives_any_arguments(name: str) -> None:
    hostile: list[dict[str, object]] = [
        {},
        {"command": 5, "path": None, "note": ["x"], "code": {}, "summary": 1, "offset": []},
    ]
    for arguments in hostile:
        assert isinstance(TOOLS[name].summarize(arguments), str)


async def test_command_tells_how_it_ended_below_its_output() -> None:
    bench = Bench(result=CommandResult(exit_code=3, duration_s=1.25, left_alive=2, workdir="/home/agent/workspace/sub"))
    result = await _use(bench, "bash", command="x")
    assert result.observation == (
        "out\n[exit code 3, 1.2 s; 2 of its processes still run in the background; now in /home/agent/workspace/sub]"
    )
    assert result.failed
    assert bench.commands == [("x", 600.0)]


async def test_time_out_and_interrupt_are_told_as_what_they_were() -> None:
    ended = CommandResult(exit_code=None, duration_s=9.0, timed_out=True, workdir=WORKDIR)
    assert "timed out after 5 s" in (await _use(Bench(result=ended), "bash", command="x", timeout_s=5)).observation
    cut = CommandResult(exit_code=None, duration_s=9.0, interrupted=True, workdir=WORKDIR)
    result = await _use(Bench(result=cut), "python", code="x")
    assert "interrupted by the operator after 9.0 s" in result.observation
    assert result.interrupted


@pytest.mark.parametrize("timeout_s", [0, -1, float("nan"), float("inf")])
async def test_time_out_that_makes_no_sense_runs_nothing(timeout_s: float) -> None:
    bench = Bench()
    assert (await _use(bench, "bash", command="x", timeout_s=timeout_s)).failed
    assert bench.commands == []


async def test_python_runs_from_a_file_of_its_own_with_the_folder_importable() -> None:
    bench = Bench()
    await _use(bench, "python", code="import strategy\nprint('\ud800')")
    (file,) = bench.sandbox.held
    assert file.startswith("/home/agent/workspace/.mlrb/python-")
    assert bench.commands[0][0].endswith(f"python -u {file}")
    assert "PYTHONPATH" in bench.commands[0][0]


async def test_read_shows_a_numbered_window_and_says_what_is_left() -> None:
    bench = Bench({"a.txt": b"".join(b"line %d\n" % number for number in range(1, 1_001))})
    result = await _use(bench, "read", path="a.txt", offset=10, limit=2)
    assert result.observation == "   10  line 10\n   11  line 11\n[lines 10 to 11 of 1000]"
    whole = await _use(bench, "read", path="a.txt")
    assert whole.observation.endswith("[lines 1 to 400 of 1000]")
    beyond = await _use(bench, "read", path="a.txt", offset=5_000)
    assert (beyond.failed, beyond.observation) == (True, "a.txt has only 1000 lines")


async def test_read_tells_in_words_what_cannot_be_read() -> None:
    bench = Bench({"b.bin": b"\xff\xfe\x00", "empty": b"", "long": b"z" * 90_000})
    bench.sandbox.closed.add("shut")
    assert "there is no file nope" in (await _use(bench, "read", path="nope")).observation
    assert "is a folder" in (await _use(bench, "read", path="dir/")).observation
    assert "may not be read" in (await _use(bench, "read", path="shut")).observation
    assert "no UTF-8" in (await _use(bench, "read", path="b.bin")).observation
    assert (await _use(bench, "read", path="empty")).observation == "empty is empty"
    assert len((await _use(bench, "read", path="long")).observation) < 3_000


async def test_write_reports_what_it_wrote_and_why_it_could_not() -> None:
    bench = Bench()
    assert (await _use(bench, "write", path="a", content="é\nb")).observation == "wrote a: 2 lines, 4 bytes"
    assert bench.sandbox.held["a"] == "é\nb".encode()
    bench.sandbox.closed.add("shut")
    refused = await _use(bench, "write", path="shut", content="x")
    assert refused.failed
    assert "shut cannot be written" in refused.observation


async def test_edit_replaces_what_stands_there_exactly_once() -> None:
    bench = Bench({"a.py": b"def f():\r\n    return 1\r\n"})
    assert (
        await _use(bench, "edit", path="a.py", old="return 1", new="return 2")
    ).observation == "edited a.py at line 2"
    assert bench.sandbox.held["a.py"] == b"def f():\r\n    return 2\r\n"


@pytest.mark.parametrize(
    ("old", "said"),
    [
        ("x = 1", "stands 2 times in a.py (lines 1, 3)"),
        ("y = 9", "does not stand in a.py"),
        ("\ty = 2\n\tz = 4", "its first line stands at line 2, so white space or a later line differs"),
        ("", "`old` is empty"),
    ],
)
async def test_edit_that_cannot_be_meant_changes_nothing_and_says_why(old: str, said: str) -> None:
    source = b"x = 1\n    y = 2\nx = 1\n"
    bench = Bench({"a.py": source})
    result = await _use(bench, "edit", path="a.py", old=old, new="new")
    assert result.failed
    assert said in result.observation
    assert bench.sandbox.held["a.py"] == source


async def test_notes_are_kept_in_the_record_and_in_a_file() -> None:
    bench = Bench()
    await _use(bench, "scratchpad", note="first")
    await _use(bench, "scratchpad", note=" second ")
    assert bench.notes == ["first", "second"]
    assert bench.sandbox.held["/home/agent/workspace/scratchpad.md"] == b"- first\n- second\n"
    assert (await _use(bench, "scratchpad", note="  ")).failed


async def test_validation_tells_value_baseline_and_what_stands_against_it() -> None:
    bench = Bench()
    assert (await _use(bench, "validate")).observation == ("acc 0.5 on the dev split (higher is better; baseline 0.25)")
    bench.score = Score(
        metric="rmse", direction="minimize", value=3.0, standard_error=0.5, split="dev", error="breaks a rule",
        violations=(Violation("protected_files", "rules.txt changed", invalidates=False), Violation("size", "9 GB")),
        details={"n": 5.0},
    )  # fmt: skip
    told = (await _use(bench, "validate")).observation.splitlines()
    assert told == [
        "rmse 3 ± 0.5 on the dev split (lower is better); NOT VALID",
        "error: breaks a rule",
        "violation of protected_files (reported only): rules.txt changed",
        "violation of size: 9 GB",
        "  n 5",
    ]
    bench.score = Score(metric="rmse", split="dev", error="answer.txt is missing")
    nothing = await _use(bench, "validate")
    assert nothing.failed
    assert "answer.txt is missing" in nothing.observation


async def test_submit_ends_the_work() -> None:
    bench = Bench()
    assert not (await _use(bench, "submit", summary="done")).failed
    assert bench.submitted
