"""The real compiler's place: its messages are read in both dialects, it is shut in, and without it nothing is known.

No Lean can be had where these tests are written. The messages below are not recorded: they are written after the
formats of Lean 3.51 and Lean 4 (`--json`: one object a line), and the `lean` on the path is a shell script that says
them. `test_the_real_compiler_…` runs where a real one is.
"""

import json
import shutil
import stat
from pathlib import Path

import pytest

from evaluation.lean.compiler import NO_LEAN, compile_scripts
from evaluation.lean.messages import parse_messages

LEAN_3 = "\n".join(
    [
        '{"caption":"","file_name":"script.lean","pos_col":2,"pos_line":4,"severity":"error",'
        '"text":"linarith failed to find a contradiction\\nstate:\\nx : ℝ\\n⊢ false"}',
        '{"caption":"","file_name":"script.lean","pos_col":0,"pos_line":1,"severity":"warning",'
        '"text":"declaration \'t\' uses sorry"}',
        '{"caption":"print result","end_pos_col":6,"end_pos_line":9,"file_name":"script.lean","pos_col":0,"pos_line":9,'
        '"severity":"information","text":"1 + 1 = 2 : Prop"}',
    ]
)
LEAN_4 = "\n".join(
    [
        '{"severity":"error","pos":{"line":3,"column":2},"keepFullRange":false,"kind":"[anonymous]",'
        '"fileName":"script.lean","endPos":{"line":3,"column":10},"caption":"",'
        '"data":"unsolved goals\\nx : Nat\\n⊢ x = 1"}',
        '{"severity":"warning","pos":{"line":1,"column":8},"keepFullRange":false,"kind":"hasSorry",'
        '"fileName":"script.lean","endPos":{"line":1,"column":9},"data":"declaration uses \'sorry\'","caption":""}',
        '{"severity":"info","pos":{"line":5,"column":0},"fileName":"script.lean","endPos":null,"data":"2","caption":""}',
    ]
)
GOOD = "theorem t : 1 = 1 := rfl"


@pytest.mark.parametrize(("output", "first"), [(LEAN_3, (4, 2)), (LEAN_4, (3, 2))])
def test_messages_of_both_versions_are_read(output: str, first: tuple[int, int]) -> None:
    error, hole, told = parse_messages(f"configuring mathlib\n{output}\n\n{{broken\n[1]\n")
    assert (error.line, error.column) == first
    assert error.is_error
    assert "⊢" in error.text
    assert hole.tells_a_hole
    assert (hole.severity, told.severity) == ("warning", "information")
    assert not told.tells_a_hole


def test_messages_for_people_are_read_with_the_lines_they_go_on_in() -> None:
    output = "/tmp/x.lean:3:2: error: unsolved goals\nx : ℕ\n⊢ x = 1\nx.lean:1:8: warning: declaration uses 'sorry'\n"
    error, hole = parse_messages(f"building\n{output}{LEAN_4.splitlines()[2]}\nafterwards")[:2]
    assert (error.line, error.column, error.text) == (3, 2, "unsolved goals\nx : ℕ\n⊢ x = 1")
    assert error.is_error
    assert hole.tells_a_hole
    assert hole.text == "declaration uses 'sorry'"


def test_messages_of_a_strange_shape_are_no_crash() -> None:
    odd = ['{"severity": 3}', '{"severity": "error", "pos": [], "data": {"a": 1}}', "[" * 100_000, "null", ""]
    assert [one.line for one in parse_messages("\n".join(odd))] == [0]


def _lean(folder: Path, monkeypatch: pytest.MonkeyPatch, body: str, version: str = "version 4.9.0, commit x") -> None:
    folder.mkdir(exist_ok=True)
    program = folder / "lean"
    program.write_text(f'#!/bin/sh\nif [ "$1" = --version ]; then echo "Lean ({version})"; exit 0; fi\n{body}\n')
    program.chmod(program.stat().st_mode | stat.S_IXUSR | stat.S_IXGRP | stat.S_IXOTH)
    monkeypatch.setenv("PATH", str(folder), prepend=":")


def _says(output: str, code: int = 0) -> str:
    return f"cat <<'MESSAGES'\n{output}\nMESSAGES\nexit {code}"


def test_without_lean_nothing_was_measured_and_nothing_is_zero(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    found = compile_scripts([GOOD])
    assert (found.compiled, found.reason, found.results) == (None, NO_LEAN, ())
    assert json.loads(json.dumps(found.to_json()))["compiled"] is None


def test_a_stand_in_without_a_toolchain_is_not_lean(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    _lean(tmp_path, monkeypatch, "exit 1", version="no default toolchain")
    found = compile_scripts([GOOD])
    assert found.compiled is None
    assert "names no version" in found.reason


@pytest.mark.parametrize(
    ("body", "ok", "reason"),
    [
        ("exit 0", True, ""),
        (_says(LEAN_4.splitlines()[2]), True, ""),
        (_says(LEAN_4, 1), False, "line 3: unsolved goals x : Nat ⊢ x = 1"),
        (_says(LEAN_3, 1), False, "line 4: linarith failed to find a contradiction state: x : ℝ ⊢ false"),
        (_says(LEAN_4.splitlines()[1]), False, "it leaves a hole (sorry)"),
        (_says(LEAN_3.splitlines()[1]), False, "it leaves a hole (sorry)"),
        ("echo no json; exit 3", False, "lean: exit code 3"),
        ("kill -SEGV $$", False, "lean: ended by SIGSEGV"),
        ("sleep 60", False, "not done after 2 s"),
    ],
)
def test_a_script_is_right_only_without_error_hole_crash_and_hang(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, body: str, ok: bool, reason: str
) -> None:
    _lean(tmp_path, monkeypatch, body)
    found = compile_scripts([GOOD], timeout_s=2)
    assert (found.compiled, found.version) == (int(ok), "4.9.0")
    assert (found.results[0].ok, found.results[0].reason) == (ok, reason)


def test_a_script_that_runs_code_never_reaches_the_compiler(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    _lean(tmp_path, monkeypatch, f"touch {tmp_path}/reached")
    found = compile_scripts(['#eval IO.Process.spawn {cmd := "sh"}', "theorem t : 1 = 2 := by sorry"])
    assert [one.ok for one in found.results] == [False, False]
    assert not (tmp_path / "reached").exists()


def test_lean_itself_is_asked_whether_the_claim_is_the_one_asked_for(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    _lean(tmp_path, monkeypatch, f'cat "$2" > {tmp_path}/seen')
    asked = "theorem asked {n : ℕ} (x y : ℝ) (h : x > (1 : ℝ)) : y > 3 :=\nbegin\n  sorry\nend"
    compile_scripts(["theorem made (x y : ℝ): y > 3 := by linarith"], statements=[asked], preamble="import tactic")
    assert (tmp_path / "seen").read_text().split("\n\n") == [
        "import tactic",
        "theorem made (x y : ℝ): y > 3 := by linarith",
        "example : ∀ {n : ℕ} (x y : ℝ) (h : x > (1 : ℝ)), y > 3 := @made\n",
    ]


@pytest.mark.skipif(shutil.which("lean") is None, reason="no Lean")
def test_the_real_compiler_tells_right_from_wrong() -> None:
    found = compile_scripts(
        [GOOD, "theorem t : 1 = 2 := rfl", GOOD],
        statements=["theorem t : 1 = 1", "theorem t : 1 = 2", "theorem t : 2 = 2"],
    )
    assert [one.ok for one in found.results] == [True, False, False]
