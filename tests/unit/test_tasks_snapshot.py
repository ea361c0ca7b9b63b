"""A submission's hash: the same for the same content, another for any change."""

import os
from pathlib import Path

from tasks.snapshot import files_below, submission_sha256


def fill(folder: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder


def test_times_and_order_of_writing_do_not_count(tmp_path: Path) -> None:
    files = {"a.txt": "1", "b/c.txt": "2", "b/d.txt": "3"}
    one = fill(tmp_path / "one", files)
    other = fill(tmp_path / "other", dict(reversed(files.items())))
    os.utime(other / "a.txt", (1, 1))
    assert submission_sha256(one) == submission_sha256(other)


def test_any_change_of_name_content_or_boundary_counts(tmp_path: Path) -> None:
    variants = [{"ab": "c"}, {"a": "bc"}, {"a": "b", "c": ""}, {"a": "b"}, {"a/b": ""}, {"a": "B"}]
    hashes = {submission_sha256(fill(tmp_path / str(number), files)) for number, files in enumerate(variants)}
    assert len(hashes) == len(variants)


def test_only_the_named_paths_count(tmp_path: Path) -> None:
    folder = fill(tmp_path, {"model/a": "1", "notes": "x"})
    before = submission_sha256(folder, ["model"])
    (folder / "notes").write_text("y")
    assert submission_sha256(folder, ["model"]) == before
    assert submission_sha256(folder, ["model", "absent"]) == before


def test_a_link_is_not_followed(tmp_path: Path) -> None:
    secret = fill(tmp_path / "secret", {"key": "1"})
    folder = tmp_path / "given"
    folder.mkdir()
    (folder / "link").symlink_to(secret)
    before = submission_sha256(folder)
    (secret / "key").write_text("2")
    assert submission_sha256(folder) == before
    assert [name for name, _ in files_below(folder)] == ["link"]
