"""A fake `nvidia-smi`: a script of that name that prints what files beside it say, or hangs."""

from dataclasses import dataclass
from pathlib import Path

_SCRIPT = """#!/bin/sh
# A fake nvidia-smi, made by the tests.
here=$(dirname "$0")
[ -e "$here/hangs" ] && sleep 30
case "$1" in
  --query-gpu=*) cat "$here/query.csv"; exit "$(cat "$here/code")" ;;
  -L) cat "$here/list.txt" ;;
esac
"""
_ROW = "{index}, GPU-{index:08d}-aaaa-bbbb-cccc-dddddddddddd, {name}, {used}, {total}, {busy}, {mig}\n"


@dataclass
class FakeGpus:
    """Where the script lies, and what it says."""

    folder: Path

    def __post_init__(self) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        script = self.folder / "nvidia-smi"
        script.write_text(_SCRIPT)
        script.chmod(0o755)
        self.says("")

    def says(self, query: str, listed: str = "", code: int = 0) -> None:
        """Have it print just that."""
        (self.folder / "query.csv").write_text(query)
        (self.folder / "list.txt").write_text(listed)
        (self.folder / "code").write_text(str(code))

    def cards(self, count: int, *, used: int = 3) -> list[str]:
        """Have it list so many whole cards that hold so many MiB each; their UUIDs."""
        rows = [row(index, used=str(used)) for index in range(count)]
        self.says("".join(rows))
        return [line.split(", ")[1] for line in rows]

    def slices(self, cards: int, each: int) -> list[str]:
        """Have it list cards that are cut into so many MIG slices each; the slices' UUIDs."""
        lines, uuids = [], []
        for index in range(cards):
            lines.append(f"GPU {index}: NVIDIA A100-SXM4-40GB (UUID: {row(index).split(', ')[1]})")
            for number in range(each):
                uuids.append(f"MIG-{index:08d}-{number}")
                lines.append(f"  MIG 3g.20gb     Device  {number}: (UUID: {uuids[-1]})")
        self.says("".join(row(index, mig="Enabled") for index in range(cards)), "\n".join(lines) + "\n")
        return uuids

    def hang(self) -> None:
        """Have it answer after 30 s, as under a driver that hangs."""
        (self.folder / "hangs").touch()


def row(
    index: int, *, name: str = "NVIDIA A100-SXM4-40GB", used: str = "3", total: str = "40960", busy: str = "0",
    mig: str = "Disabled",
) -> str:  # fmt: skip
    """A line of the query's answer."""
    return _ROW.format(index=index, name=name, used=used, total=total, busy=busy, mig=mig)
