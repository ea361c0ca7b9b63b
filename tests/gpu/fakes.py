"""A machine with made-up GPUs: a small C library in the place of the driver's, scripted by a file."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

SOURCE = Path(__file__).parent / "fake_nvml.c"


class FakeNvml:
    """The library, built into a folder, and the file that says what it answers."""

    def __init__(self, folder: Path) -> None:
        compiler = shutil.which("gcc") or shutil.which("cc")
        if compiler is None:
            pytest.skip("no C compiler")
        self.folder = folder
        folder.mkdir(exist_ok=True)
        self._settings = folder / "fake.txt"
        self.set()
        library = folder / "libnvidia-ml.so.1"
        flags = ("-shared", "-fPIC", "-Wall", "-Werror", "-Wl,-soname,libnvidia-ml.so.1")
        subprocess.run([compiler, *flags, "-o", library, SOURCE], check=True)

    def set(self, **settings: int) -> None:
        """Have it answer so from now on; readers never see half of it. Dots in names are written `__`."""
        fresh = self._settings.with_suffix(".fresh")
        fresh.write_text("".join(f"{name.replace('__', '.')} {value}\n" for name, value in settings.items()))
        fresh.rename(self._settings)

    @property
    def environment(self) -> dict[str, str]:
        """The variables of a process that meets it."""
        return {**os.environ, "LD_LIBRARY_PATH": str(self.folder), "FAKE_NVML": str(self._settings)}
