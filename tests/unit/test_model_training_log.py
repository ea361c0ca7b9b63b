"""A training log is somebody else's file: whatever is in it, reading it gives a value and never a crash."""

from pathlib import Path

import pytest

from evaluation.model.training import LOG, LOG_BYTES, read_log


def _written(folder: Path, text: str) -> Path:
    (folder / LOG).write_text(text, encoding="utf-8")
    return folder


def test_an_honest_log_is_read(tmp_path: Path) -> None:
    log = read_log(
        _written(tmp_path, '{"step":1,"loss":6.0,"tokens":100}\n\n{"step":2,"loss":4,"tokens":250,"lr":0.1}\n')
    )
    assert (log.tokens, log.loss, log.trouble) == (250, 5.0, "")


@pytest.mark.parametrize(
    ("text", "trouble"),
    [
        ("", "is empty"),
        ("step 1 loss 3\n", "cannot be read"),
        ("[1, 2, 3]\n", "cannot be read"),
        ('{"step":1,"loss":2.0}\n', "cannot be read"),
        ('{"step":1,"loss":NaN,"tokens":5}\n', "cannot be read"),
        ('{"step":1,"loss":2.0,"tokens":-5}\n', "cannot be read"),
        ('{"step":1,"loss":null,"tokens":5}\n', "cannot be read"),
        ("[" * 100_000 + "\n", "cannot be read"),
        ('{"step":1,"loss":2.0,"tokens":Infinity}\n', "cannot be read"),
        ('{"step":2,"loss":2.0,"tokens":50}\n{"step":1,"loss":2.0,"tokens":60}\n', "go backwards"),
        ('{"step":1,"loss":2.0,"tokens":50}\n{"step":2,"loss":2.0,"tokens":40}\n', "go backwards"),
    ],
)
def test_a_log_that_cannot_be_believed_is_named(tmp_path: Path, text: str, trouble: str) -> None:
    assert trouble in read_log(_written(tmp_path, text)).trouble


def test_a_log_without_end_is_not_read_into_memory(tmp_path: Path) -> None:
    with (tmp_path / LOG).open("wb") as out:
        out.truncate(LOG_BYTES + 1)
    assert "longer than" in read_log(tmp_path).trouble


def test_bytes_that_are_no_text_are_named(tmp_path: Path) -> None:
    (tmp_path / LOG).write_bytes(b"\xff\xfe\x00{")
    assert "cannot be read" in read_log(tmp_path).trouble


def test_a_missing_log_is_named(tmp_path: Path) -> None:
    assert "missing" in read_log(tmp_path).trouble
