"""`mlrb ls` with 1,000 runs: at most 0.3 s, and nothing heavy imported."""

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from tests.bench.figures import Bar, Figure, figure, interleaved_s
from tests.bench.made_runs import made_home

HEAVY = ("textual", "docker", "anthropic", "openai", "torch")


def ls_1000_runs() -> Iterator[Figure]:
    """Wall time beside a bare interpreter, and the heavy packages it loads."""
    with tempfile.TemporaryDirectory(prefix="mlrb-bench-") as folder:
        home = made_home(Path(folder) / "home", 1_000)
        environment = {**os.environ, "MLRB_HOME": str(home.path)}

        def ls() -> None:
            command = [str(Path(sys.executable).with_name("mlrb")), "ls"]
            subprocess.run(command, env=environment, check=True, stdout=subprocess.DEVNULL)

        def bare() -> None:
            subprocess.run([sys.executable, "-c", "pass"], env=environment, check=True)

        taken, reference = interleaved_s([ls, bare], 11)
        yield figure("ls_1000_runs", taken, "s", reference, Bar(0.3), "reference: a bare interpreter")
        loaded = _loaded(environment)
        yield figure(
            "ls_heavy_imports", loaded, "packages", len(HEAVY), Bar(0), "of textual docker anthropic openai torch"
        )


def _loaded(environment: dict[str, str]) -> int:
    code = (
        "import sys, io, contextlib, mlrb_tui.cli as cli\n"
        "with contextlib.redirect_stdout(io.StringIO()): cli.main(['ls'])\n"
        "print(*sys.modules)"
    )
    run = subprocess.run([sys.executable, "-c", code], env=environment, check=True, capture_output=True, text=True)
    return len(set(run.stdout.split()) & set(HEAVY))
