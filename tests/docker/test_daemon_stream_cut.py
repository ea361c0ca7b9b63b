"""The stream to a container is cut, again and again, in the middle of a flood: no byte is lost and none comes twice."""

from pathlib import Path

from agent.record import events as ev
from agent.sandbox.containers import labelled
from tests.docker.relay import relay
from tests.process.runner_runs import Runs, bash, script_line, until

CUTS = 12
LINES = 30_000
# Much at once, and a little now and then: a cut falls into either.
FLOOD = (
    f'python3 -c \'import time\nfor i in range({LINES}):\n    print("line", i, flush=i % 50 == 0)\n'
    "    time.sleep(0.004) if i % 50 == 0 else None'; echo once >> runs.txt; wc -l < runs.txt; echo 5 > answer.txt"
)


def test_output_over_many_cuts_is_whole_and_the_command_ran_once(tmp_path: Path) -> None:
    runs = Runs.under(tmp_path)
    with relay() as between:
        runs.environment["DOCKER_HOST"] = between.address
        try:
            run = runs.start([bash(FLOOD), script_line("submit")], sandbox="docker")
            cut = 0
            for number in range(1, CUTS + 1):
                run.wait_for(ev.ToolOutput, count=number)
                if run.bodies(ev.ToolFinished):
                    break
                cut += between.cut()
            assert run.ended().outcome == "submitted", run.said()
        finally:
            runs.close()
    assert cut >= 5, "the stream was cut in the middle of the command"
    written = "".join(run.text(body.text) for body in run.bodies(ev.ToolOutput))
    assert written == "".join(f"line {number}\n" for number in range(LINES)) + "1\n"
    assert run.bodies(ev.ToolFinished)[0].exit_code == 0
    assert run.bodies(ev.SandboxLost) == []
    assert len(run.bodies(ev.SandboxStarted)) == 1
    assert run.bodies(ev.Graded)[-1].score.value == 5.0
    until(lambda: labelled(run.folder.run) == [], "nothing is left")
