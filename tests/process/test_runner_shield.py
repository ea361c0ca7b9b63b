"""The runner's keys: a local sandbox's commands run as the same user and still cannot read them."""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from agent.record import events as ev
from tests.process.runner_runs import Runs, bash, script_line

KEY = "sk-very-secret-0123456789"
# A user without root's rights. Root without them is such a one, too, and needs no second account.
WITHOUT_RIGHTS = ("setpriv", "--bounding-set=-all", "--inh-caps=-all") if os.geteuid() == 0 else ()
# Of all processes it may look into, those that have the key in their environment; first of all itself.
SEARCH = f'K={KEY[:4]}; K=$K{KEY[4:]} bash -c \'echo "me $$"; grep -la "$K" /proc/[0-9]*/environ; true\' 2>/dev/null'


@pytest.fixture
def runs(tmp_path: Path) -> Iterator[Runs]:
    """A home with the probe task."""
    if WITHOUT_RIGHTS and shutil.which(WITHOUT_RIGHTS[0]) is None:
        pytest.skip("there is no setpriv to take root's rights away")
    made = Runs.under(tmp_path)
    made.environment["ANTHROPIC_API_KEY"] = KEY
    made.through = WITHOUT_RIGHTS
    yield made
    made.close()


def test_agent_of_the_same_user_does_not_find_the_key_in_its_runner(runs: Runs) -> None:
    run = runs.start([bash(SEARCH), script_line("submit")])
    run.ended()
    assert run.process is not None
    me, *found = run.text(run.bodies(ev.ToolFinished)[0].observation).split("\n")
    assert f"/proc/{me.removeprefix('me ')}/environ" in found, "the search finds what can be found"
    assert f"/proc/{run.process.pid}/environ" not in found


def test_memory_of_a_shielded_runner_can_still_be_watched(runs: Runs) -> None:
    run = runs.start([bash("grep VmHWM /proc/$(cat ../run.lock)/status"), script_line("submit")])
    run.ended()
    assert "VmHWM" in run.text(run.bodies(ev.ToolFinished)[0].observation)
