"""Words of Lean 3 and 4 that no honest proof of a given statement needs: holes, new axioms, code, other meanings."""

import re
from collections.abc import Sequence

from evaluation.lean.errors import ParseFailed
from evaluation.lean.syntax import without_comments

HOLES = ("sorry", "admit", "sorryAx", "undefined")
AXIOMS = ("axiom", "axioms", "constant", "constants", "opaque")
CODE = (
    "unsafe", "meta", "partial", "extern", "implemented_by", "native_decide", "run_cmd", "run_tac", "run_elab",
    "elab", "elab_rules", "macro", "macro_rules", "syntax", "initialize", "builtin_initialize", "unquote", "vm_eval",
    "IO", "dbg_trace", "unsafeCast", "reduceBool", "ofReduceBool", "csimp",
)  # fmt: skip
MEANINGS = (
    "notation", "infix", "infixl", "infixr", "prefix", "postfix", "set_option", "attribute", "instance", "namespace",
    "section", "variable", "variables", "parameter", "parameters", "universe", "include", "omit", "def", "abbrev",
    "structure", "class", "inductive", "coinductive", "deriving", "precedence", "reserve", "export", "mutual",
)  # fmt: skip
_KINDS = {
    **dict.fromkeys(HOLES, "leaves a hole"),
    **dict.fromkeys(AXIOMS, "supposes something new"),
    **dict.fromkeys(CODE, "runs code"),
    **dict.fromkeys(MEANINGS, "gives words another meaning"),
}
_OPAQUE = {'"': "a string: no proof needs one", "«": "«…» hides a name"}
_WORD = re.compile(r"#?[^\W\d]\w*[!?']*")
_IMPORT = re.compile(r"^\s*(?:public\s+)?import\s+(.*)$", re.MULTILINE)
_HASH = ("#eval", "#exit", "#reduce", "#print", "#check", "#synth")


def forbidden(script: str, imports: Sequence[str] = ()) -> list[str]:
    """One line for each thing in a script that isn't allowed; `imports` are the modules that it may import."""
    # Inside a string or such a name a comment's sign is none: what is code could not be told from what is not.
    found = [told for sign, told in _OPAQUE.items() if sign in script]
    try:
        text = without_comments(script)
    except ParseFailed as error:
        return [*found, str(error)]
    for line in _IMPORT.findall(text):
        found += [f"import {name}: not among the allowed" for name in line.split() if name not in imports]
    for word in dict.fromkeys(_WORD.findall(text)):
        if word in _KINDS:
            found.append(f"{word}: {_KINDS[word]}")
        elif word in _HASH or word.startswith("#"):
            found.append(f"{word}: is a command")
    theorems = re.findall(r"\b(?:theorem|lemma|example)\b", text)
    if len(theorems) > 1:
        found.append(f"{len(theorems)} theorems: one is asked for")
    return found
