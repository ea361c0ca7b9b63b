"""Tools that change files by their text, run one, and remember."""

import pytest

from agent.tools import pieces, run_file
from agent.tools.base import Tool
from agent.tools.memory import memory_tool
from agent.tools.recall import nearest
from tests.unit.tool_bench import Bench


async def _use(tool: Tool, bench: Bench, **arguments: object) -> tuple[bool, str]:
    result = await tool.run(bench, arguments)
    return not result.failed, result.observation


@pytest.mark.parametrize(
    ("tool", "arguments", "after"),
    [
        (pieces.INSERT, {"target": "a\n", "new": "b\n"}, "a\nb\na\n"),
        (pieces.INSERT, {"target": "a\n", "new": "b\n", "before": True}, "b\na\na\n"),
        (pieces.REPLACE, {"old": "a", "new": "c"}, "c\nc\n"),
        (pieces.DELETE, {"target": "a\n"}, ""),
    ],
)
async def test_text_is_changed_where_it_stands(tool: Tool, arguments: dict[str, object], after: str) -> None:
    bench = Bench({"f.py": b"a\na\n"})
    well, said = await _use(tool, bench, path="f.py", **arguments)
    assert well, said
    assert bench.sandbox.held["f.py"].decode() == after
    assert "2 times, first at line 1" in said


@pytest.mark.parametrize("tool", [pieces.INSERT, pieces.REPLACE, pieces.DELETE])
async def test_text_that_is_not_there_is_a_failure_and_changes_nothing(tool: Tool) -> None:
    bench = Bench({"f.py": b"a\n"})
    names = {"old": "zz", "new": "y"} if tool is pieces.REPLACE else {"target": "zz", "new": "y"}
    for path, word in (("f.py", "nothing was changed"), ("g.py", "no file")):
        well, said = await _use(tool, bench, path=path, **names)
        assert (well, word in said) == (False, True)
    assert bench.sandbox.held == {"f.py": b"a\n"}


async def test_file_is_run_by_its_name_whatever_that_is() -> None:
    bench = Bench()
    await _use(run_file.TOOL, bench, path="-c; rm -rf x.py", arguments="--lr 3")
    assert bench.commands == [("python -u './-c; rm -rf x.py' --lr 3", 600.0)]


def test_recall_finds_by_what_a_text_is_about_and_gives_nothing_for_nothing() -> None:
    texts = [
        "bash: python train.py --lr 3e-4 result: step 1200 loss 3.41", "bash: ls -l data",
        "bash: python prune.py result: the pruned model has perplexity 23.4",
    ]  # fmt: skip
    assert nearest("pruning and its perplexity", texts, 2)[0][0] == 2
    assert nearest("training loss", texts, 1)[0][0] == 0
    assert nearest("zebra", texts, 3) == []
    assert nearest("anything", [], 3) == []


async def test_memory_shows_the_nearest_first() -> None:
    tool = memory_tool(lambda: ["worker 1: the loss was 3.4", "worker 2: nothing of note"])
    well, said = await _use(tool, Bench(), query="loss")
    assert well
    assert said.startswith("[")
    assert "worker 1: the loss was 3.4" in said
    assert (await _use(memory_tool(list), Bench(), query="loss"))[1] == "nothing like that was done or noted yet"
