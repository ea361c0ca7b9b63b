"""Which tool calls go through in approve mode without a question: patterns, and a shell splitter that doubts.

A pattern is a command (`ls *`, `python train.py *`) or a tool and what it works on (`write:notes/*`, `submit:`). In a
command each word of the pattern stands for one word, and a last `*` for any further ones. A command is let through
only where it is a single simple one, in characters whose meaning is plain: whatever else a shell would make
something of (operators, redirections, substitutions, variables, assignments, line ends, escapes) asks. What always
asks is looked for the other way round, anywhere in the call, so that no wrapper hides it.
"""

import posixpath
import re
from collections.abc import Iterable, Mapping
from fnmatch import fnmatchcase

SUBJECTS: Mapping[str, str] = {
    "bash": "command", "python": "code", "write": "path", "edit": "path", "submit": "summary",
}  # fmt: skip
"""What a pattern is held against, for each tool that can be asked for."""

_PLAIN = frozenset("_./,:=+@%^-*?[]")
_GLOB = frozenset("*?[]")
_NOT_IN_DOUBLE_QUOTES = frozenset("$`\\!")
# Programs whose first argument says what is done, so that a class of calls needs it.
_TAKES_VERB = frozenset({"python", "python3", "pip", "pip3", "git", "uv", "npm", "cargo", "make", "conda", "docker"})
# Programs that run what their arguments say: letting them through lets everything through.
_RUNS_OTHERS = frozenset(
    {
        "bash", "sh", "dash", "zsh", "eval", "exec", "source", ".", "env", "sudo", "su", "xargs", "find", "nohup",
        "timeout", "nice", "ionice", "setsid", "command", "builtin", "ssh", "perl", "ruby", "node", "awk", "gawk",
        "time", "sed", "parallel", "watch", "trap", "alias", "export", "declare", "taskset", "stdbuf", "script",
    }
)  # fmt: skip
_PYTHONS = ("python", "python3")


def simple_words(command: str) -> list[str] | None:
    """The words of a single simple command, quotes taken off; None where a shell may make anything else of it."""
    words: list[str] = []
    word: str | None = None
    quote = ""
    globbed_first = False
    for sign in command.strip(" \t"):
        if not (sign.isprintable() or sign == "\t"):
            return None
        if quote:
            if sign == quote:
                quote = ""
            elif quote == '"' and sign in _NOT_IN_DOUBLE_QUOTES:
                return None
            else:
                word = (word or "") + sign
        elif sign in " \t":
            if word is not None:
                words.append(word)
            word = None
        elif sign in "'\"":
            quote, word = sign, word or ""
        elif sign in _PLAIN or (sign.isalnum() if sign.isascii() else sign.isalpha()):
            globbed_first = globbed_first or (not words and sign in _GLOB)
            word = (word or "") + sign
        else:
            return None
    if quote or word is None:
        return None
    words.append(word)
    # A first word with an equals sign sets a variable for what follows; one with a glob is whatever the folder holds.
    return None if globbed_first or "=" in words[0] or not words[0] else words


def is_let_through(patterns: Iterable[str], tool: str, arguments: Mapping[str, object]) -> bool:
    """Whether one of the patterns lets the call through."""
    return any(_lets_through(*_parted(pattern), tool, _subject(tool, arguments)) for pattern in patterns)


def always_asks(patterns: Iterable[str], tool: str, arguments: Mapping[str, object]) -> bool:
    """Whether one of the patterns has the call asked for; a doubt is a yes."""
    return any(_asks(*_parted(pattern), tool, _subject(tool, arguments)) for pattern in patterns)


def rule_for(tool: str, arguments: Mapping[str, object]) -> str:
    """The pattern of the class that a call belongs to; empty where none can safely be let through."""
    subject = _subject(tool, arguments)
    if tool in ("write", "edit"):
        plain = bool(subject) and subject == posixpath.normpath(subject) and not _GLOB & set(subject)
        return f"{tool}:{subject}" if plain and ".." not in subject.split("/") and subject.isprintable() else ""
    if tool == "python":
        return "python:*"
    words = simple_words(subject) if tool == "bash" else None
    return _command_rule(words) if words else ""


def problem(pattern: str) -> str:
    """Why a pattern could never mean anything; empty where it can."""
    tool, text = _parted(pattern)
    if not pattern.strip():
        return "a pattern is empty"
    if tool == "bash" and (not text.strip() or _pattern_words(text) is None):
        return f"{pattern!r} is no single simple command (no operators, redirections, variables)"
    return ""


def _command_rule(words: list[str]) -> str:
    count = 1
    program = posixpath.basename(words[0])
    if program in _RUNS_OTHERS or not re.fullmatch(r"[\w./+-]+", words[0]):
        return ""
    if program in _TAKES_VERB:
        count = 3 if program in _PYTHONS and words[1:2] == ["-m"] else 2
        verb = words[count - 1 : count]
        if not verb or verb[0].startswith("-"):
            return ""
    kept = words[:count]
    if not all(re.fullmatch(r"[\w./+=:@-]+", word) for word in kept) or any(".." in word.split("/") for word in kept):
        return ""
    return " ".join([*kept, "*"])


def _parted(pattern: str) -> tuple[str, str]:
    tool, colon, rest = pattern.partition(":")
    return (tool, rest.strip()) if colon and tool in SUBJECTS else ("bash", pattern)


def _subject(tool: str, arguments: Mapping[str, object]) -> str:
    return str(arguments.get(SUBJECTS.get(tool, ""), ""))


def _pattern_words(pattern: str) -> list[str] | None:
    """The words of a pattern; unlike a command it may begin with a glob."""
    words = simple_words(f"x {pattern}")
    return words[1:] if words else None


def _lets_through(wanted: str, pattern: str, tool: str, subject: str) -> bool:
    if wanted != tool:
        return False
    if tool in ("write", "edit"):
        path = posixpath.normpath(subject)
        outside = ".." in path.split("/") or path.startswith(("/", "~")) != pattern.startswith(("/", "~"))
        return not outside and fnmatchcase(path, pattern)
    if tool != "bash":
        return fnmatchcase(subject, pattern or "*")
    words, wanted_words = simple_words(subject), _pattern_words(pattern)
    return bool(words and wanted_words) and _words_match(words or [], wanted_words or [])


def _words_match(words: list[str], pattern: list[str]) -> bool:
    if pattern[-1] == "*":
        pattern = pattern[:-1]
        words = words[: len(pattern)]
    return len(words) == len(pattern) and all(map(_word_matches, words, pattern))


def _word_matches(word: str, pattern: str) -> bool:
    """A word matches whole; what a glob stands for is no option, no way up and no other glob."""
    if word == pattern:
        return True
    sneaks = word.startswith("-") and not pattern.startswith("-")
    return not sneaks and ".." not in word.split("/") and not _GLOB & set(word) and fnmatchcase(word, pattern)


def _asks(wanted: str, pattern: str, tool: str, subject: str) -> bool:
    if wanted == "bash" and tool in ("bash", "python"):
        return _found_in(subject, pattern)
    if wanted != tool:
        return False
    if tool in ("write", "edit"):
        parts = posixpath.normpath(subject).split("/")
        return any(fnmatchcase("/".join(parts[start:]), pattern) for start in range(len(parts))) or fnmatchcase(
            subject, pattern
        )
    return fnmatchcase(subject, pattern or "*")


def _found_in(command: str, pattern: str) -> bool:
    """Whether the pattern matches from any word on, with quotes, escapes, operators and folders taken away."""
    wanted = _pattern_words(pattern) or [pattern]
    bare = re.sub(r"['\"\\]", "", command)
    whole = re.split(r"[\s;&|()<>{}$`=,\[\]]+", bare)
    last_parts = [posixpath.basename(word) or word for word in whole]
    return any(_begins(words[start:], wanted) for words in (whole, last_parts) for start in range(len(words)))


def _begins(words: list[str], pattern: list[str]) -> bool:
    if len(pattern) > 1 and pattern[-1] == "*":
        pattern = pattern[:-1]
    return len(words) >= len(pattern) and all(map(fnmatchcase, words, pattern))
