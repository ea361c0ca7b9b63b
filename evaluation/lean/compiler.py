"""Compiles generated scripts with the real `lean`, shut in; says that nothing was measured where there is none."""

import re
import shutil
import tempfile
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from evaluation.lean.forbidden import forbidden
from evaluation.lean.messages import Message, parse_messages
from evaluation.model.child import run
from evaluation.model.words import one_line

NO_LEAN = "not measured (no Lean)"
TIMEOUT_S = 60.0
MEMORY_BYTES = 8 * 2**30
_VERSION = re.compile(r"version (\d+)\.(\d+)\.(\d+)")
_HEADER = re.compile(r"\b(?:theorem|lemma)\s+(?P<name>[^\s({\[⦃:]+)(?P<claim>.*)", re.DOTALL)


@dataclass(frozen=True)
class Compiled:
    """What became of one script."""

    ok: bool
    """It compiles without an error and without a hole, and states what was asked for where that was given."""
    reason: str = ""
    """Why it is not, in one line."""
    messages: tuple[Message, ...] = ()
    wall_s: float = 0.0


@dataclass(frozen=True)
class Compilation:
    """What became of all scripts. Unknown is None, never zero."""

    compiled: int | None
    """How many are right; None where nothing was measured."""
    scripts: int
    version: str | None = None
    reason: str = ""
    """Why nothing was measured."""
    results: tuple[Compiled, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Plain values for `json.dumps`."""
        return asdict(self)


def compile_scripts(
    scripts: Sequence[str],
    *,
    statements: Sequence[str] = (),
    imports: Sequence[str] = (),
    preamble: str = "",
    timeout_s: float = TIMEOUT_S,
    memory_bytes: int = MEMORY_BYTES,
) -> Compilation:
    """Compile each script in a process group of its own, without network, under a time and a memory limit.

    `preamble` (imports and openings) is put before every script. With `statements` (theorems, with or without a proof)
    each script must prove its own: Lean itself is asked whether what was proved is that claim. `imports` are the
    modules a script may import itself.
    """
    if statements and len(statements) != len(scripts):
        raise ValueError(f"{len(scripts)} scripts for {len(statements)} statements")
    lean = shutil.which("lean")
    if lean is None:
        return Compilation(None, len(scripts), reason=NO_LEAN)
    version = _version(lean)
    if version is None:
        return Compilation(None, len(scripts), reason="not measured (lean does not run: it names no version)")
    asked = statements or [""] * len(scripts)
    results = []
    for script, statement in zip(scripts, asked, strict=True):
        bad = forbidden(script, imports)
        if bad:
            results.append(Compiled(False, bad[0]))
            continue
        whole = "\n\n".join(part for part in (preamble, script, _same_claim(script, statement)) if part)
        results.append(_compile(lean, whole + "\n", timeout_s, memory_bytes))
    return Compilation(sum(one.ok for one in results), len(scripts), version, "", tuple(results))


def _version(lean: str) -> str | None:
    """The version that `lean --version` names; elan's stand-in without a toolchain names none."""
    said = run([lean, "--version"], timeout_s=30)
    found = _VERSION.search(said.output)
    return ".".join(found.groups()) if found and said.code == 0 else None


def _compile(lean: str, text: str, timeout_s: float, memory_bytes: int) -> Compiled:
    with tempfile.TemporaryDirectory(prefix="mlrb-lean-") as name:
        file = Path(name) / "script.lean"
        file.write_text(text, encoding="utf-8", errors="replace")
        Path(name).chmod(0o755)
        ended = run([lean, "--json", str(file)], timeout_s=timeout_s, memory_bytes=memory_bytes, whole_output=True)
    messages = parse_messages(ended.output)
    error = next((one for one in messages if one.is_error), None)
    if ended.timed_out:
        reason = ended.how
    elif error is not None:
        reason = f"line {error.line}: {one_line(error.text)}"
    elif any(one.tells_a_hole for one in messages):
        reason = "it leaves a hole (sorry)"
    elif ended.code != 0:
        reason = f"lean: {ended.how}"
    else:
        reason = ""
    return Compiled(not reason, reason, messages, ended.wall_s)


def _same_claim(script: str, statement: str) -> str:
    """A check by Lean itself that the script's theorem is the one asked for, to be put behind it; empty without one."""
    asked = _HEADER.search(statement)
    if asked is None:
        return ""
    given = _HEADER.search(script)
    name = given["name"] if given else "missing"
    claim = asked["claim"].split(":=", 1)[0].strip()
    binders, goal = _split_claim(claim)
    whole = f"∀ {binders}, {goal}" if binders else goal
    return f"example : {whole} := @{name}"


def _split_claim(claim: str) -> tuple[str, str]:
    """The binders and the goal of `(x : T) (h : P) : GOAL`: the first colon outside brackets stands between them."""
    depth = 0
    for place, character in enumerate(claim):
        depth += (character in "([{⟨⦃") - (character in ")]}⟩⦄")
        if character == ":" and depth == 0:
            return " ".join(claim[:place].split()), " ".join(claim[place + 1 :].split())
    return "", claim
