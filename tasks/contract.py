"""What a task folder's `data.py` and `grade.py` offer, as types, and how they are loaded.

`private` below is the folder that `data.py` filled; a grader reads `private / split` and finds only that split
there when it runs in a container. Both files may import the standard library, what the task `requires`, and light
modules of ours; `grade.py` runs where no other package is installed.
"""

import importlib
import importlib.util
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from types import ModuleType
from typing import NotRequired, Protocol, TypedDict

Options = Mapping[str, int | float | str | bool]
Report = Callable[[int, int, str], None]
"""Called with (done, total, what) while a grader works."""

PACKAGE = Path(__file__).parent


class Broken(TypedDict):
    """A rule of the task that a submission breaks, by the rule's name, and the evidence."""

    rule: str
    evidence: str


class Grade(TypedDict):
    """What a task's grader found."""

    value: float
    standard_error: NotRequired[float | None]
    details: NotRequired[dict[str, float]]
    violations: NotRequired[list[Broken]]
    baseline: NotRequired[float]
    """The starter's own value, measured on the very data of this grading; replaces the stored one."""
    baseline_spread: NotRequired[float]
    files: NotRequired[dict[str, str]]
    """Texts to be kept beside the score, by file name: what a measuring tool wrote itself."""
    untouched: NotRequired[bool]
    """The submission says what the starter would say; the hash alone could not tell."""


class DataPart(Protocol):
    """`data.py`. Writes `out/public/**` (put into the agent's work folder) and `out/private/{dev,test}/**`."""

    def generate(self, out: Path, *, seed: int, options: Options) -> None:
        """Make the data from a seed."""
        ...

    def download(self, out: Path, options: Options) -> None:
        """Fetch the data from where it is published; needed where a scale's `data` is not `generated`."""
        ...


class GradePart(Protocol):
    """`grade.py`."""

    def grade(
        self, submission: Path, private: Path, *, split: str, options: Options, report: Report
    ) -> Grade | Mapping[str, object]:
        """Measure a submission. `ValueError("one line")` says that there is nothing valid to score."""
        ...


def module_name(folder: Path, part: str) -> str:
    """The import name of a part of one of our own tasks; empty for a folder that lies elsewhere."""
    if folder.parent.parent != PACKAGE:
        return ""
    return f"tasks.{folder.parent.name}.{folder.name}.{part}"


def load_part(folder: Path, part: str) -> ModuleType:
    """A task folder's `data` or `grade` as a module."""
    name = module_name(folder, part)
    if name:
        return importlib.import_module(name)
    return load_file(folder / f"{part}.py")


def load_file(path: Path) -> ModuleType:
    """A Python file as a module; modules beside it can be imported."""
    spec = importlib.util.spec_from_file_location(f"mlrb_task_{path.parent.name}_{path.stem}", path)
    if spec is None or spec.loader is None:
        raise ImportError(f"cannot load {path.name}", path=str(path))
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    if str(path.parent) not in sys.path:
        sys.path.insert(0, str(path.parent))
    spec.loader.exec_module(module)
    return module
