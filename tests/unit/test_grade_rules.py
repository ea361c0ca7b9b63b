"""The checks that hold for every task: what is refused, what is reported, with what evidence."""

import os
from pathlib import Path

import pytest

from evaluation.errors import SubmissionMissing
from evaluation.rules import changed_protected, is_untouched, require_artefact


@pytest.fixture
def folders(tmp_path: Path) -> tuple[Path, Path]:
    submission, starter = tmp_path / "submission", tmp_path / "starter"
    for folder in (submission, starter):
        folder.mkdir()
        (folder / "strategy.py").write_text("x = 1\n")
        (folder / "target.py").write_text("one\ntwo\nthree\n")
    return submission, starter


def refused(submission: Path, paths: list[str], max_bytes: int = 1000) -> str:
    with pytest.raises(SubmissionMissing) as caught:
        require_artefact(submission, paths, max_bytes)
    return caught.value.message


def test_an_absent_artefact_is_named(folders: tuple[Path, Path]) -> None:
    assert refused(folders[0], ["strategy.py", "model"]) == "there is no model"


def test_an_empty_folder_is_no_artefact(folders: tuple[Path, Path]) -> None:
    (folders[0] / "model" / "deep").mkdir(parents=True)
    assert refused(folders[0], ["model"]) == "model is empty"


def test_a_link_to_elsewhere_is_refused(folders: tuple[Path, Path], tmp_path: Path) -> None:
    (tmp_path / "private").write_text("labels")
    (folders[0] / "strategy.py").unlink()
    (folders[0] / "strategy.py").symlink_to(tmp_path / "private")
    assert refused(folders[0], ["strategy.py"]) == "strategy.py is a symbolic link; hand in the file itself"
    (folders[0] / "model").mkdir()
    (folders[0] / "model" / "weights").symlink_to("/nowhere")
    assert "model/weights is a symbolic link" in refused(folders[0], ["model"])


def test_a_pipe_that_would_never_end_is_refused(folders: tuple[Path, Path]) -> None:
    os.mkfifo(folders[0] / "answer.csv")
    assert refused(folders[0], ["answer.csv"]) == "answer.csv is not a plain file"


def test_an_artefact_that_is_too_big_is_refused_with_its_size(folders: tuple[Path, Path]) -> None:
    (folders[0] / "strategy.py").write_text("x" * 1001)
    assert refused(folders[0], ["strategy.py"]) == "the artefact has 1,001 bytes; at most 1,000 are allowed"
    require_artefact(folders[0], ["target.py"], 1000)


def test_a_single_changed_byte_is_a_change(folders: tuple[Path, Path]) -> None:
    submission, starter = folders
    assert is_untouched(submission, starter, ["strategy.py"])
    (submission / "strategy.py").write_text("x = 2\n")
    assert not is_untouched(submission, starter, ["strategy.py"])


def test_comments_and_blanks_alone_are_no_change(folders: tuple[Path, Path]) -> None:
    submission, starter = folders
    (starter / "strategy.py").write_text("def f(a):\n    if a:\n        return 'x y'\n    return 1\n")
    for same in (
        "# mine\n\ndef f( a ) :  # better\n  if a:\n         return 'x y'\n\n  return 1\n\n\n",
        "def f(a):\n\tif a:\n\t\treturn 'x y'\n\treturn 1",
    ):
        (submission / "strategy.py").write_text(same)
        assert is_untouched(submission, starter, ["strategy.py"])
    for other in (
        "def f(a):\n    if a:\n        return 'x  y'\n    return 1\n",
        "def f(a):\n    if a:\n        return 'x y'\n        return 1\n",
        "def f(a):\n    if a:\n        return 'x y'\n    return (1)\n",
        "def f(a:\n",
    ):
        (submission / "strategy.py").write_text(other)
        assert not is_untouched(submission, starter, ["strategy.py"])


@pytest.mark.parametrize("raw", [b"\xff\xfe", b"(" * 100_000, b'x = """', b"\0", b" x\n\ty\n  z\n", b"9" * 200_000])
def test_what_is_no_python_is_a_change_and_no_crash(folders: tuple[Path, Path], raw: bytes) -> None:
    submission, starter = folders
    (submission / "strategy.py").write_bytes(raw)
    assert not is_untouched(submission, starter, ["strategy.py"])


def test_an_artefact_that_no_starter_ships_is_never_untouched(folders: tuple[Path, Path]) -> None:
    assert not is_untouched(*folders, ["submission.csv"])


def test_protected_files_as_given_are_no_evidence(folders: tuple[Path, Path]) -> None:
    assert list(changed_protected(*folders, ["target.py"])) == []
    assert list(changed_protected(*folders, [])) == []


def test_a_changed_protected_file_is_shown_by_its_first_changed_lines(folders: tuple[Path, Path]) -> None:
    (folders[0] / "target.py").write_text("one\ncheat\nthree\n" + "more\n" * 50)
    [evidence] = changed_protected(*folders, ["target.py"])
    assert evidence.startswith("target.py was changed:\n+cheat\n+more\n")
    assert evidence.endswith("more lines")
    assert len(evidence) < 1000


def test_a_protected_file_that_is_gone_or_a_link_is_evidence(folders: tuple[Path, Path]) -> None:
    (folders[0] / "target.py").unlink()
    assert list(changed_protected(*folders, ["target.py"])) == ["target.py is gone"]
    (folders[0] / "target.py").symlink_to(folders[1] / "target.py")
    assert list(changed_protected(*folders, ["target.py"])) == ["target.py is no longer a plain file"]


def test_a_huge_or_binary_change_is_told_shortly(folders: tuple[Path, Path]) -> None:
    (folders[0] / "target.py").write_bytes(b"\xff" * 1_000_000)
    assert list(changed_protected(*folders, ["target.py"])) == ["target.py was changed (1,000,000 bytes now)"]
    (folders[0] / "target.py").write_bytes(b"\xff\x00" * 5000)
    [evidence] = changed_protected(*folders, ["target.py"])
    assert len(evidence) < 1000
