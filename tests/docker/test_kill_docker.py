"""No container outlives a kill or appears after it, and no home takes another one's for its own."""

import os
import signal
import subprocess
import time
from pathlib import Path

from agent.record import events as ev
from agent.record.home import Home
from agent.record.inbox import Kill, ScoreNow
from agent.sandbox import leftovers, tickets
from agent.sandbox.containers import HOME_LABEL, RUN_LABEL, labelled
from agent.sandbox.engine import DEFAULT_IMAGE, image_is_there
from mlrb_tui.control import reaping
from tests.docker.slow_daemon import SlowDaemon, slow_daemon
from tests.process.runner_runs import Run, Runs, bash, script_line, until
from tests.process.test_kill_hung import checklist, kept_stopped, mlrb, pid_of, reap_child

SLEEP = bash("echo 4 > answer.txt; touch here.txt; sleep 821.5")


def in_command(run: Run) -> None:
    """Wait until its container runs the command."""
    run.wait_for(ev.SandboxStarted)
    run.wait_for(ev.ToolCalled)
    until(lambda: any(one.state == "running" for one in labelled(run.folder.run)), "the container runs")


def ever_made(run: Run) -> int:
    """How many containers of the run the daemon has made, there or not any more: its own word."""
    since = str(run.events()[0].at)
    command = ["docker", "events", "--since", since, "--until", str(time.time()), "--filter", "event=create"]
    command += ["--filter", f"label={RUN_LABEL}={run.folder.run}", "--format", "{{.ID}}"]
    return len(subprocess.run(command, check=True, capture_output=True, text=True).stdout.split())


def dead_while_its_container_is_made(runs: Runs, slow: SlowDaemon) -> Run:
    """A run whose runner was shot when it had asked for its container; the wish is still under way."""
    runs.environment["DOCKER_HOST"] = slow.address
    run = runs.start([SLEEP, script_line("submit")], sandbox="docker")
    del runs.environment["DOCKER_HOST"]
    assert slow.asked.wait(60)
    os.kill(pid_of(run), signal.SIGKILL)
    reap_child(run)
    return run


def test_container_of_a_deaf_runner_is_gone_and_proven_gone(runs: Runs) -> None:
    run = runs.start([SLEEP], sandbox="docker")
    in_command(run)
    with kept_stopped(pid_of(run)):
        ran = mlrb(runs, "kill", run.folder.run)
        assert ran.returncode == 0, ran.stderr
    reap_child(run)
    assert labelled(run.folder.run) == []
    assert checklist(run) == {"model calls": True, "container": True, "processes": True}
    assert run.bodies(ev.RunEnded)[0].outcome == "killed"


def test_container_that_a_dead_runner_asked_for_never_comes_after_the_kill(runs: Runs) -> None:
    with slow_daemon() as slow:
        run = dead_while_its_container_is_made(runs, slow)
        ran = mlrb(runs, "kill", run.folder.run)
        assert ran.returncode == 0, ran.stderr
        slow.go_on.set()
        assert slow.answered.wait(30)
    assert slow.answer == b"HTTP/1.1 404 Not Found"
    assert ever_made(run) == 0
    assert tickets.outstanding(run.folder.run) == []
    assert checklist(run) == {"model calls": True, "container": True, "processes": True}


def test_container_that_may_still_come_is_a_leftover_and_reap_calls_it_off(runs: Runs) -> None:
    with slow_daemon() as slow:
        run = dead_while_its_container_is_made(runs, slow)
        [found] = leftovers.find(runs.home).ours
        assert (found.name, found.detail, found.run_is) == (f"mlrb-{run.folder.run}", "may still be made", "lost")
        assert mlrb(runs, "reap", "--remove", "--yes").returncode == 0
        slow.go_on.set()
        assert slow.answered.wait(30)
    assert ever_made(run) == 0
    assert run.bodies(ev.RunEnded)[0].outcome == "killed"
    assert leftovers.find(runs.home).ours == ()


def test_run_that_is_taken_up_has_one_container_whatever_its_dead_runner_had_asked_for(runs: Runs) -> None:
    with slow_daemon() as slow:
        run = dead_while_its_container_is_made(runs, slow)
        run.launch("--resume")
        in_command(run)
        slow.go_on.set()
        assert slow.answered.wait(30)
    assert slow.answer == b"HTTP/1.1 404 Not Found"
    assert len(labelled(run.folder.run)) == ever_made(run) == 1
    run.post(Kill())
    assert run.ended().outcome == "killed"


def test_kill_waits_for_a_container_that_is_just_being_made(runs: Runs) -> None:
    with slow_daemon() as slow:
        runs.environment["DOCKER_HOST"] = slow.address
        run = runs.start([SLEEP], sandbox="docker")
        assert slow.asked.wait(60)
        kill = run.post(Kill())
        run.wait_for(ev.RequestReceived)
        slow.go_on.set()
        assert run.ended().outcome == "killed"
    assert run.answer_to(kill).detail == "nothing is left over"
    assert labelled(run.folder.run) == []
    assert tickets.outstanding(run.folder.run) == []
    assert checklist(run)["container"]


def test_name_of_a_container_that_no_list_shows_is_found_taken_without_making_one(runs: Runs) -> None:
    run = lost(runs)
    name, free = f"mlrb-{run.folder.run}", "mlrb-0000-nobody"
    assert tickets.is_taken(name)
    assert not tickets.is_taken(free)
    assert tickets.wait_made([name, free], lambda: {name}) == []
    assert ever_made(run) == 1
    listed = subprocess.run(["docker", "ps", "--all", "--format", "{{.Names}}"], capture_output=True, text=True)
    assert free not in listed.stdout.split()


def test_image_without_a_name_outlives_the_run_that_used_it(runs: Runs) -> None:
    imported = "tar -cf - --files-from /dev/null | docker import -"
    image = subprocess.run(["sh", "-c", imported], check=True, capture_output=True, text=True).stdout.strip()
    try:
        ticket = tickets.take_out(image, "mlrb-0000-image")
        tickets.give_back(ticket)
        assert image_is_there(image)
        assert not image_is_there(ticket)
    finally:
        subprocess.run(["docker", "rmi", "--force", image], check=True, capture_output=True)


def test_grader_of_a_score_that_was_asked_for_does_not_outlive_a_kill(runs: Runs) -> None:
    run = runs.start([bash("echo slow > answer.txt; sleep 822.5")], sandbox="docker")
    in_command(run)
    run.post(ScoreNow())
    until(lambda: any(one.role == "grader" for one in labelled(run.folder.run)), "the grader's container is there")
    run.post(Kill())
    assert run.ended().outcome == "killed"
    assert labelled(run.folder.run) == []
    assert checklist(run)["container"]


def lost(runs: Runs) -> Run:
    """A run in docker whose runner was shot."""
    run = runs.start([SLEEP, script_line("submit")], sandbox="docker")
    in_command(run)
    os.kill(pid_of(run), signal.SIGKILL)
    reap_child(run)
    return run


def test_another_homes_container_is_told_apart_and_left_alone(runs: Runs, tmp_path: Path) -> None:
    run = lost(runs)
    other = Home(tmp_path / "other").ensure()
    seen = [one for one in leftovers.find(other).leftovers if one.run == run.folder.run]
    assert [one.whose for one in seen] == ["another home's"]
    assert [one.whose for one in leftovers.find(runs.home).leftovers if one.run == run.folder.run] == ["ours"]
    runs.environment["MLRB_HOME"] = str(other.path)
    assert mlrb(runs, "reap", "--remove", "--yes").returncode == 0
    assert [one.run for one in labelled(run.folder.run)] == [run.folder.run]


def test_lost_run_is_removed_by_reap_with_its_container(runs: Runs) -> None:
    run = lost(runs)
    ran = mlrb(runs, "reap", "--remove", "--yes", "--json")
    assert ran.returncode == 0, ran.stderr
    assert labelled(run.folder.run) == []
    assert run.bodies(ev.RunEnded)[0].outcome == "killed"


def test_container_without_a_home_is_listed_and_removed_only_when_it_is_named(runs: Runs) -> None:
    run = "feedbeef"
    made = ("docker", "create", "--label", f"{RUN_LABEL}={run}", DEFAULT_IMAGE, "true")
    container = subprocess.run(made, check=True, capture_output=True, text=True).stdout.strip()
    try:
        found = [one for one in leftovers.find(runs.home).leftovers if one.run == run]
        assert [(one.whose, one.adoptable) for one in found] == [("unknown", False)]
        assert mlrb(runs, "reap", "--remove", "--yes").returncode == 0
        assert len(labelled(run)) == 1
        [(_, proof)] = reaping.remove(runs.home, found)
        assert proof.proven
        assert labelled(run) == []
    finally:
        subprocess.run(["docker", "rm", "--force", container], check=False, capture_output=True)


def test_every_container_says_whose_it_is(runs: Runs) -> None:
    run = runs.start([SLEEP], sandbox="docker")
    in_command(run)
    [container] = labelled(run.folder.run)
    shown = subprocess.run(
        ["docker", "inspect", "--format", f'{{{{index .Config.Labels "{HOME_LABEL}"}}}}', container.container_id],
        check=True, capture_output=True, text=True,
    ).stdout.strip()  # fmt: skip
    assert shown == runs.home.mark() == container.home
    run.post(Kill())
    run.ended()
