"""Makes a task's data once, in a process of its own: `python -m tasks.prepare TASK --scale S --seed N --out DIR`.

DIR is what `prepared()` gives; afterwards it holds `public/` and `private/{dev,test}/`, closed to other users.
A second call finds the work done; of two at once, one waits for the other.
"""

import argparse
import fcntl
import hashlib
import json
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tasks import catalogue
from tasks.contract import load_part, module_name
from tasks.errors import MlrbError, TaskInvalid
from tasks.spec import Scale, Task

STAMP = "made.json"
OWNER_ONLY = 0o700


def prepared(data: Path, task: str, scale: Scale, seed: int) -> Path:
    """Where the data of a task lies below the home's data folder: `<data>/<task>/<scale>-<seed>`."""
    return data / task / f"{scale}-{seed}"


def is_prepared(task: Task, scale: Scale, seed: int, out: Path) -> bool:
    """Whether the data there was made by the task as it is now."""
    try:
        return (out / STAMP).read_text(encoding="utf-8") == _stamp(task, scale, seed)
    except OSError:
        return False


def prepare(task: Task, scale: Scale, seed: int, out: Path) -> bool:
    """Make the data at `out` unless it is there already; returns whether it had to be made."""
    if is_prepared(task, scale, seed, out):
        return False
    out.parent.mkdir(mode=OWNER_ONLY, parents=True, exist_ok=True)
    with _held(out.parent / f".{out.name}.lock"):
        if is_prepared(task, scale, seed, out):
            return False
        fresh = Path(tempfile.mkdtemp(prefix=f".{out.name}.", dir=out.parent))
        try:
            _make(task, scale, seed, fresh)
            _replace(out, fresh)
        finally:
            shutil.rmtree(fresh, ignore_errors=True)
    return True


def _make(task: Task, scale: Scale, seed: int, out: Path) -> None:
    conditions = task.at(scale)
    for folder in (out / "public", out / "private", out / "private" / "dev", out / "private" / "test"):
        folder.mkdir(mode=OWNER_ONLY)
    part = load_part(task.folder, "data")
    if conditions.data == "generated":
        part.generate(out, seed=seed, options=conditions.options)
    else:
        part.download(out, conditions.options)
    (out / STAMP).write_text(_stamp(task, scale, seed), encoding="utf-8")
    for made, _, _ in os.walk(out):
        os.chmod(made, OWNER_ONLY)


def _replace(out: Path, fresh: Path) -> None:
    """Put the fresh folder in place; whoever holds files of an older one open keeps them."""
    if not out.exists():
        fresh.rename(out)
        return
    old = Path(tempfile.mkdtemp(prefix=f".{out.name}.old.", dir=out.parent))
    out.rename(old / "data")
    fresh.rename(out)
    shutil.rmtree(old)


def _stamp(task: Task, scale: Scale, seed: int) -> str:
    """What the data depends on: the generator's source, the options and the seed."""
    source = hashlib.sha256()
    for file in _sources(task.folder):
        source.update(file.name.encode() + file.read_bytes())
    conditions = task.at(scale)
    return json.dumps(
        {
            "task": task.spec.name,
            "scale": scale,
            "seed": seed,
            "data": conditions.data,
            "options": conditions.options,
            "source_sha256": source.hexdigest(),
        },
        sort_keys=True,
    )


def _sources(folder: Path) -> Iterator[Path]:
    """The task's own files but its grader, and for a task of ours what its suite's tasks share."""
    yield from (file for file in sorted(folder.glob("*.py")) if file.name != "grade.py")
    if module_name(folder, "data"):
        yield from sorted(folder.parent.glob("*.py"))
        shared = (other for other in sorted(folder.parent.iterdir()) if not (other / "task.toml").exists())
        for other in shared:
            yield from sorted(other.rglob("*.py"))


@contextmanager
def _held(lock: Path) -> Iterator[None]:
    """Hold a lock that the kernel drops when its holder dies."""
    with lock.open("w") as stream:
        lock.chmod(0o600)
        fcntl.flock(stream, fcntl.LOCK_EX)
        yield


def main(arguments: list[str] | None = None) -> int:
    """The command line; errors are one line and a hint on stderr."""
    parser = argparse.ArgumentParser(prog="python -m tasks.prepare", description="Make a task's data.")
    parser.add_argument("task")
    parser.add_argument("--scale", choices=("smoke", "full"), default="smoke")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, required=True, help="the folder to fill")
    given = parser.parse_args(arguments)
    try:
        task = catalogue.load(given.task)
        if given.scale not in task.spec.scales:
            raise TaskInvalid(f"{given.task} has no scale {given.scale!r}")
        prepare(task, given.scale, given.seed, given.out.absolute())
    except MlrbError as error:
        print(error.message, *([f"hint: {error.hint}"] if error.hint else []), sep="\n", file=sys.stderr)
        return error.exit_code
    except ImportError as error:
        print(
            f"{given.task} needs {error.name}",
            f"hint: pip install 'mlrb[eval]' or {error.name}",
            sep="\n",
            file=sys.stderr,
        )
        return 2
    except (OSError, ValueError) as error:
        print(f"the data of {given.task} cannot be made: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
