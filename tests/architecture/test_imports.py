"""Imports run one way, and what is heavy stays out of what must be quick."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.bench.made_runs import made_home

HEAVY = (
    "textual",
    "rich",
    "docker",
    "anthropic",
    "openai",
    "torch",
    "transformers",
    "lm_eval",
    "numpy",
    "sqlite_utils",
    "apprise",
    "plotext",
    "textual_plotext",
)
QUICK = {
    "mlrb_tui.cli": HEAVY,
    "mlrb_tui.commands.runs": HEAVY,
    "mlrb_tui.commands.steer": HEAVY,
    "mlrb_tui.commands.reap": HEAVY,
    "mlrb_tui.commands.run": HEAVY,
    "mlrb_tui.commands.record": HEAVY,
    "mlrb_tui.commands.tasks": HEAVY,
    "mlrb_tui.control.launch": HEAVY,
    "mlrb_tui.control.plan": HEAVY,
    "mlrb_tui.control.recording": HEAVY,
    "mlrb_tui.views.words": HEAVY,
    "mlrb_tui.views.plot_run": HEAVY,
    "mlrb_tui.views.plot_runs": HEAVY,
    "mlrb_tui.app": tuple(name for name in HEAVY if name not in ("textual", "rich")),
    "mlrb_tui.screens.fleet": tuple(name for name in HEAVY if name not in ("textual", "rich")),
    "mlrb_tui.screens.plots": tuple(name for name in HEAVY if name not in ("textual", "rich")),
    "mlrb_tui.screens.run": tuple(name for name in HEAVY if name not in ("textual", "rich")),
    "agent.runner.__main__": HEAVY,
    "agent.runner.aftermath": HEAVY,
    "agent.record.index": HEAVY,
    "agent.sandbox.leftovers": HEAVY,
    "agent.sandbox.local": HEAVY,
    "agent.sandbox.docker": HEAVY,
    "agent.models.choose": HEAVY,
    "evaluation.grade": HEAVY,
    "evaluation.lm.harness": HEAVY,
    "evaluation.model.measure": HEAVY,
    "evaluation.model.compressed": HEAVY,
    "evaluation.model.overlap": HEAVY,
    "evaluation.lean.check": HEAVY,
    "evaluation.lean.compiler": HEAVY,
    "tasks.catalogue": HEAVY,
}


def loaded_by(module: str) -> set[str]:
    """The top-level packages in `sys.modules` after importing `module` in a fresh interpreter."""
    code = f"import sys, {module}; print(*{{name.partition('.')[0] for name in sys.modules}})"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(run.stdout.split())


@pytest.mark.parametrize("module", QUICK)
def test_import_drags_in_nothing_heavy(module: str) -> None:
    assert loaded_by(module).isdisjoint(QUICK[module])


def test_listing_runs_does_not_load_the_log(tmp_path: Path) -> None:
    home = made_home(tmp_path / "home", 3)
    code = "import sys, mlrb_tui.cli as cli; cli.main(['ls', '--json']); print('agent.record.log' in sys.modules)"
    environment = {**os.environ, "MLRB_HOME": str(home.path)}
    run = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    *listed, loaded = run.stdout.split("\n")[:-1]
    assert (len(listed), loaded) == (3, "False")


def test_layers_hold() -> None:
    run = subprocess.run(
        [sys.executable, "-c", "from importlinter.cli import lint_imports; raise SystemExit(lint_imports())"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stdout
