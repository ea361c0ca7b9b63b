"""A sandbox's use is read from its control group, in either version, with and without a limit."""

from pathlib import Path

import pytest

from agent.sandbox.guest import group
from agent.sandbox.guest.group import Use

GIB = 1024**3


def written(folder: Path, **files: str) -> str:
    """A group with those files; the first `_` in a name is a dot."""
    for name, text in files.items():
        (folder / name.replace("_", ".", 1)).write_text(text)
    return str(folder)


@pytest.mark.parametrize(("limit", "expected"), [("max\n", None), (f"{GIB}\n", GIB)])
def test_second_version(tmp_path: Path, limit: str, expected: int | None) -> None:
    found = written(
        tmp_path, memory_current="1000\n", memory_max=limit, memory_stat="anon 5\ninactive_file 400\n",
        memory_events="low 0\nhigh 0\nmax 9\noom 2\noom_kill 1\noom_group_kill 0\n", cpu_stat="usage_usec 2500000\n",
        io_stat="8:0 rbytes=10 wbytes=20 rios=1\n8:16 rbytes=1 wbytes=2\n",
    )  # fmt: skip
    assert group.use(found) == Use(2.5, 600, expected, 11, 22)
    assert group.oom_kills(found) == 1


@pytest.mark.parametrize(("limit", "expected"), [("9223372036854771712\n", None), (f"{GIB}\n", GIB)])
def test_first_version(tmp_path: Path, limit: str, expected: int | None) -> None:
    for name, text in {
        "memory/memory.usage_in_bytes": "1000\n",
        "memory/memory.limit_in_bytes": limit,
        "memory/memory.stat": "cache 1\ntotal_inactive_file 400\n",
        "memory/memory.oom_control": "oom_kill_disable 0\nunder_oom 0\noom_kill 3\n",
        "cpuacct/cpuacct.usage": "2500000000\n",
        "blkio/blkio.throttle.io_service_bytes": "8:0 Read 11\n8:0 Write 22\nTotal 33\n",
    }.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    assert group.use(str(tmp_path)) == Use(2.5, 600, expected, 11, 22)
    assert group.oom_kills(str(tmp_path)) == 3


def test_files_that_are_missing_or_make_no_sense_are_not_known(tmp_path: Path) -> None:
    assert group.use(str(tmp_path)) is None
    assert group.oom_kills(str(tmp_path)) is None
    found = written(tmp_path, memory_current="many\n", cpu_stat="usage_usec x\n", memory_events="oom_kill\n")
    assert group.use(found) is None
    assert group.oom_kills(found) is None
    partly = written(tmp_path, memory_current="1000\n", cpu_stat="usage_usec 5\n")
    assert group.use(partly) == Use(5e-6, 1000, None, 0, 0)
