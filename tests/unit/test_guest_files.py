"""The guest's files and spools: nothing leads out, nothing grows without bound."""

import os
from pathlib import Path

import pytest

from agent.sandbox.guest import files
from agent.sandbox.guest.files import TooLong, Writing
from agent.sandbox.guest.spool import Spool


def test_link_swapped_in_after_the_listing_is_no_way_out(tmp_path: Path) -> None:
    root, secret = tmp_path / "work", tmp_path / "secret"
    root.mkdir()
    secret.write_text("held-out labels")
    (root / "model.bin").write_text("weights")
    assert [name for name, _, _ in files.listing(str(root), ["*"])] == ["model.bin"]
    (root / "model.bin").unlink()
    (root / "model.bin").symlink_to(secret)
    with pytest.raises(PermissionError):
        files.chunk(str(root), "model.bin", 0, 100)
    assert files.listing(str(root), ["**"]) == []


def test_folder_that_is_a_link_out_is_not_walked(tmp_path: Path) -> None:
    root, outside = tmp_path / "work", tmp_path / "work-of-another"
    root.mkdir()
    outside.mkdir()
    (outside / "x").write_text("x")
    (root / "link").symlink_to(outside)
    (root / "loop").symlink_to(root)
    (root / "mine").write_text("m")
    names = [name for name, _, _ in files.listing(str(root), ["link", "link/*", "*"])]
    assert "mine" in names
    assert not [name for name in names if name.startswith("link")]


@pytest.mark.parametrize("pattern", ["/etc/*", "../*", "a/../../*", "a\0b"])
def test_pattern_that_leads_out_is_refused(tmp_path: Path, pattern: str) -> None:
    with pytest.raises(PermissionError):
        files.listing(str(tmp_path), [pattern])


def test_name_that_is_no_text_is_listed_and_copied(tmp_path: Path) -> None:
    (tmp_path / os.fsdecode(b"caf\xe9 [x]")).write_bytes(b"1")
    [(name, size, _)] = files.listing(str(tmp_path), ["*"])
    assert (os.fsencode(name), size) == (b"caf\xe9 [x]", 1)
    assert files.chunk(str(tmp_path), name, 0, 10) == b"1"


def test_file_of_no_stated_size_is_read_and_bounded() -> None:
    assert files.read("/proc/self/status", 100_000).startswith(b"Name:")
    with pytest.raises(TooLong):
        files.read("/proc/self/status", 10)
    with pytest.raises(PermissionError):
        files.read("/dev/zero", 10)


def test_half_written_file_does_not_replace_the_whole_one(tmp_path: Path) -> None:
    path = tmp_path / "train.py"
    path.write_text("old")
    path.chmod(0o755)
    writing = Writing(str(path))
    writing.add(b"ne")
    assert path.read_text() == "old"
    writing.abandon()
    assert [entry.name for entry in tmp_path.iterdir()] == ["train.py"]
    writing = Writing(str(path))
    writing.add(b"new")
    writing.finish()
    assert path.read_text() == "new"
    assert path.stat().st_mode & 0o777 == 0o755


def test_spool_keeps_its_cap_counts_the_rest_and_says_so(tmp_path: Path) -> None:
    spool = Spool(str(tmp_path), 1000)
    for _ in range(30):
        spool.append(b"x" * 100)
    assert spool.written_bytes == 3000
    kept = spool.read(0, 100_000)
    assert kept.startswith(b"x" * 1000 + b"\n[the first 1,000 bytes")
    assert len(kept) == spool.kept_bytes
    assert spool.read(998, 2) == b"xx"
    assert spool.read(spool.kept_bytes + 5, 10) == b""
    assert list(tmp_path.iterdir()) == []
    spool.close()
