"""A frozen container uses no processor time, as the machine sees it, and goes on where it stood."""

import subprocess

from agent.sandbox.containers import labelled
from tests.process.frozen_runs import check_frozen, check_goes_on, check_whole, spinning
from tests.process.runner_runs import Runs


def test_busy_loop_in_a_container_stands_still_and_its_output_goes_on_without_a_gap(runs: Runs) -> None:
    run, pid = spinning(runs, "docker")
    check_frozen(run, pid)
    check_goes_on(run, pid)
    [container] = labelled(run.folder.run)
    subprocess.run(["docker", "exec", container.container_id, "touch", "go"], check=True, capture_output=True)
    check_whole(run)
    assert labelled(run.folder.run) == []
