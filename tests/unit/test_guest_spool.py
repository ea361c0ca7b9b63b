"""A command's output on a disk that takes no more: kept in memory for a while, read as if nothing had been."""

import resource
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from agent.sandbox.guest.spool import MOST_IN_MEMORY_BYTES, Spool


@contextmanager
def _no_file_may_grow_past(size_bytes: int) -> Iterator[None]:
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size_bytes, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def _read(spool: Spool) -> bytes:
    data = b""
    while piece := spool.read(len(data), 777):
        data += piece
    return data


def test_output_of_a_full_disk_is_read_back_whole_before_there_is_room_and_after(tmp_path: Path) -> None:
    spool = Spool(str(tmp_path), 10**6)
    lines = [f"line {number}\n".encode() for number in range(3_000)]
    with _no_file_may_grow_past(5_000):
        for line in lines[:2_000]:
            spool.append(line)
        assert _read(spool) == b"".join(lines[:2_000])
        assert spool.kept_bytes == spool.written_bytes
    for line in lines[2_000:]:
        spool.append(line)
    assert _read(spool) == b"".join(lines)
    spool.close()


def test_what_memory_cannot_keep_is_counted_and_never_shown_half(tmp_path: Path) -> None:
    spool = Spool(str(tmp_path), 10**9)
    with _no_file_may_grow_past(1):
        for _ in range(6):
            spool.append(b"x" * 1024**2)
        spool.append(b"never")
    assert spool.kept_bytes == len(_read(spool)) == MOST_IN_MEMORY_BYTES + 1
    assert spool.written_bytes == 6 * 1024**2 + 5
    spool.close()
