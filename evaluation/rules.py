"""Checks that hold for every task: a sane artefact that is not the starter's, and protected files as they were."""

import difflib
import io
import os
import stat
import tokenize
from collections.abc import Iterator, Sequence
from pathlib import Path

from evaluation.errors import SubmissionMissing
from tasks.snapshot import files_below

PROTECTED_RULE = "protected_files"
MAX_FILES = 100_000
_DIFF_LINES = 8
_DIFF_CHARACTERS = 800
_DIFFED_BYTES = 256 * 1024
_LAYOUT = (tokenize.INDENT, tokenize.DEDENT, tokenize.NEWLINE, tokenize.ENDMARKER)


def require_artefact(submission: Path, paths: Sequence[str], max_bytes: int) -> None:
    """Raise `SubmissionMissing` that says in one line what is absent or can't be taken."""
    for path in paths:
        if not os.path.lexists(submission / path):
            raise SubmissionMissing(f"there is no {path}")
    total = 0
    for number, (relative, file) in enumerate(files_below(submission, paths)):
        facts = file.lstat()
        if stat.S_ISLNK(facts.st_mode):
            raise SubmissionMissing(f"{relative} is a symbolic link; hand in the file itself")
        if not stat.S_ISREG(facts.st_mode):
            raise SubmissionMissing(f"{relative} is not a plain file")
        total += facts.st_size
        if number >= MAX_FILES:
            raise SubmissionMissing(f"the artefact has more than {MAX_FILES:,} files")
    if total > max_bytes:
        raise SubmissionMissing(f"the artefact has {total:,} bytes; at most {max_bytes:,} are allowed")
    for path in paths:
        if (submission / path).is_dir() and not files_below(submission, [path]):
            raise SubmissionMissing(f"{path} is empty")


def is_untouched(submission: Path, starter: Path, paths: Sequence[str]) -> bool:
    """Whether the artefact is the starter's: byte for byte, and in Python but for comments and blanks."""
    given, handed_in = files_below(starter, paths), files_below(submission, paths)
    if not given or [name for name, _ in given] != [name for name, _ in handed_in]:
        return False
    pairs = zip((file for _, file in given), (file for _, file in handed_in), strict=True)
    return all(_same(one, other) or _same_program(one, other) for one, other in pairs)


def changed_protected(submission: Path, starter: Path, protected: Sequence[str]) -> Iterator[str]:
    """One piece of evidence for each protected file that is not as it was given."""
    for relative, original in files_below(starter, protected) if protected else ():
        copy = submission / relative
        if not os.path.lexists(copy):
            yield f"{relative} is gone"
        elif copy.is_symlink() or not copy.is_file():
            yield f"{relative} is no longer a plain file"
        elif not _same(original, copy):
            yield _difference(relative, original, copy)


def _same(one: Path, other: Path) -> bool:
    return one.stat().st_size == other.stat().st_size and one.read_bytes() == other.read_bytes()


def _same_program(one: Path, other: Path) -> bool:
    if one.suffix != ".py" or max(file.stat().st_size for file in (one, other)) > _DIFFED_BYTES:
        return False
    said = _words(one)
    return said is not None and said == _words(other)


def _words(file: Path) -> list[str] | None:
    """A Python file's tokens without comments and blanks; None where it is no Python. No parser: it can't be hurt."""
    try:
        lines = io.StringIO(file.read_text(encoding="utf-8")).readline
        return [
            tokenize.tok_name[token.type] if token.type in _LAYOUT else token.string
            for token in tokenize.generate_tokens(lines)
            if token.type not in (tokenize.COMMENT, tokenize.NL)
        ]
    except (tokenize.TokenError, SyntaxError, UnicodeDecodeError):
        return None


def _difference(relative: str, original: Path, copy: Path) -> str:
    if max(original.stat().st_size, copy.stat().st_size) > _DIFFED_BYTES:
        return f"{relative} was changed ({copy.stat().st_size:,} bytes now)"
    before, after = (file.read_text(encoding="utf-8", errors="replace").splitlines() for file in (original, copy))
    lines = list(difflib.unified_diff(before, after, n=0, lineterm=""))[2:]
    # What was put in says more than what was taken out.
    shown = [*(line for line in lines if line[0] == "+"), *(line for line in lines if line[0] == "-")]
    more = len(shown) - _DIFF_LINES
    text = "\n".join(shown[:_DIFF_LINES])[:_DIFF_CHARACTERS]
    return f"{relative} was changed:\n{text}" + (f"\n… {more} more lines" if more > 0 else "")
