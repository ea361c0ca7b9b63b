"""Approve mode's rules: nothing that a shell could make something else of goes through on the back of a pattern."""

import pytest

from agent.record.approve_rules import always_asks, is_let_through, problem, rule_for, simple_words


def _passes(pattern: str, command: str) -> bool:
    return is_let_through([pattern], "bash", {"command": command})


@pytest.mark.parametrize(
    "command",
    [
        "ls; rm -rf /",
        "ls;rm -rf /",
        "ls && rm -rf /",
        "ls || rm -rf /",
        "ls | sh",
        "ls & rm -rf /",
        "ls &",
        "ls $(rm -rf /)",
        "ls `rm -rf /`",
        'ls "$(rm -rf /)"',
        'ls "`rm -rf /`"',
        "ls ${x}",
        "ls $HOME",
        "ls\nrm -rf /",
        "ls \\\nrm",
        "ls\rrm -rf /",
        "ls\x0brm",
        "ls\x00rm",
        "ls\u2028rm",
        "ls > answer.txt",
        "ls >> answer.txt",
        "ls < secret",
        "ls 2>&1",
        "ls <(rm x)",
        "ls <<EOF\nrm\nEOF",
        "ls {a,b}",
        "ls ~root",
        "ls # comment",
        "! ls",
        "(ls)",
        "{ ls; }",
        "PATH=/evil ls",
        "LD_PRELOAD=./x.so ls",
        "l\\s",
        "ls 'unclosed",
        'ls "unclosed',
        "./ls",
        "/tmp/ls",
        "lsof",
        "l*",
        "",
        "   ",
        "''",
    ],
)
def test_no_trick_of_the_shell_rides_on_a_let_through(command: str) -> None:
    assert not _passes("ls *", command)


@pytest.mark.parametrize(
    "command", ["ls", " ls ", "ls -la", "ls\t-l", "ls 'a; rm -rf /'", 'ls "a && b"', "ls data/*.txt", "l's' -l"]
)
def test_what_is_meant_goes_through(command: str) -> None:
    assert _passes("ls *", command)


def test_words_are_matched_one_by_one_and_globs_stand_for_no_option_and_no_way_up() -> None:
    assert _passes("python train.py *", "python train.py --lr 3e-4")
    assert not _passes("python train.py *", "python -c train.py")
    assert not _passes("python train.py *", "python train.py.evil")
    assert not _passes("python train.py", "python train.py --lr 1")
    assert _passes("cat data/*", "cat data/a.txt")
    assert not _passes("cat data/*", "cat data/../../etc/passwd")
    assert not _passes("cat *.txt x", "cat --show=a.txt x")
    assert not _passes("cat data/*", "cat data/a.txt data/b.txt")
    assert _passes("*", "anything at all")
    assert not _passes("*", "anything; at all")


def test_a_rule_for_one_tool_says_nothing_about_another() -> None:
    assert is_let_through(["write:notes/*"], "write", {"path": "notes/a.md", "content": "x"})
    for path in ("notes/../train.py", "../notes/a.md", "/notes/a.md", "train.py", "other/notes/a.md"):
        assert not is_let_through(["write:notes/*"], "write", {"path": path}), path
    assert not is_let_through(["write:notes/*"], "edit", {"path": "notes/a.md"})
    assert not is_let_through(["*"], "python", {"code": "print(1)"})
    assert not is_let_through(["*"], "submit", {})
    assert is_let_through(["submit:"], "submit", {"summary": "done"})


@pytest.mark.parametrize(
    "command",
    [
        "rm -rf x",
        "rm",
        "/bin/rm x",
        "\\rm x",
        "'rm' x",
        "r''m x",
        "ls; rm x",
        "ls&&rm x",
        "env rm x",
        "sudo /usr/bin/rm x",
        "bash -c 'rm x'",
        "find . -exec rm {} +",
        "ls | xargs rm",
        "echo $(rm x)",
        "X=1 rm x",
        "true\nrm x",
    ],
)
def test_what_always_asks_is_found_however_it_is_wrapped(command: str) -> None:
    assert always_asks(["rm *"], "bash", {"command": command})


def test_what_always_asks_does_not_ask_for_everything() -> None:
    assert not always_asks(["rm *"], "bash", {"command": "ls farm"})
    assert not always_asks(["git push *"], "bash", {"command": "git pull"})
    assert always_asks(["git push *"], "bash", {"command": "cd x && git push --force"})
    assert always_asks(["write:answer.txt"], "write", {"path": "/home/agent/workspace/./answer.txt"})
    assert always_asks(["submit:"], "submit", {})
    assert not always_asks(["submit:"], "bash", {"command": "ls"})


@pytest.mark.parametrize(
    ("command", "rule"),
    [
        ("ls -la", "ls *"),
        ("python train.py --lr 3e-4", "python train.py *"),
        ("python -m pytest -x", "python -m pytest *"),
        ("git status", "git status *"),
        ("python -c 'print(1)'", ""),
        ("python -m -x", ""),
        ("python", ""),
        ("git -c core.pager=evil log", ""),
        ("bash run.sh", ""),
        ("find . -name x", ""),
        ("env ls", ""),
        ("sudo ls", ""),
        ("ls | head", ""),
        ("rm -rf ckpt && python train.py", ""),
        ("ls\nls", ""),
        ("X=1 ls", ""),
        ("python ../x.py", ""),
        ("", ""),
    ],
)
def test_the_class_of_a_command_is_narrow_or_none(command: str, rule: str) -> None:
    assert rule_for("bash", {"command": command}) == rule
    if rule:
        assert _passes(rule, command)
        assert not _passes(rule, f"{command}; rm -rf /")


def test_the_class_of_other_tools() -> None:
    assert rule_for("write", {"path": "a/b.py"}) == "write:a/b.py"
    assert rule_for("edit", {"path": "../b.py"}) == ""
    assert rule_for("write", {"path": "*"}) == ""
    assert rule_for("write", {"path": ""}) == ""
    assert rule_for("submit", {"summary": "x"}) == ""


def test_a_pattern_that_can_never_match_is_a_mistake() -> None:
    assert problem("ls *") == problem("write:x/*") == problem("submit:") == problem("*") == ""
    for pattern in ("", "  ", "ls; rm", "ls > x", "echo $HOME", "a\nb", "bash:"):
        assert problem(pattern), pattern


def test_hostile_commands_are_read_without_a_crash() -> None:
    for command in ("\ud800", "é" * 100_000, "'" * 9_999, "\x1b]0;x\x07", "[/bold]"):
        simple_words(command)
        always_asks(["rm *"], "bash", {"command": command})
        rule_for("bash", {"command": command})
    assert not is_let_through(["ls *"], "bash", {"command": 5})
