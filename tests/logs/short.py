"""The story of a run of a minute: two steps, a local sandbox, one score."""

from agent.record import events as ev
from agent.record.values import Host, Limits, Score
from tests.logs.story import Story


def events() -> list[ev.Event]:
    """The whole run."""
    story = Story()
    limits = Limits(time_s=600.0, steps=20)
    story.add(
        ev.RunCreated(
            run="a1b2c3d4",
            task="mlgym/battle_of_sexes",
            scale="smoke",
            scaffold="react",
            model="scripted",
            sandbox="local",
            seed=0,
            limits=limits,
            who="kim",
            version="0.1.0",
        )
    )
    story.add(ev.RunStarted(pid=812, host="box"), 0.2)
    notice = "runs as you, on this machine: nothing is isolated"
    story.add(
        ev.SandboxStarted(sandbox="local", name="812", workdir="work", isolates=False, network=True, notice=notice), 0.1
    )
    story.add(ev.MessageAdded(message_id="msg-1", role="user", text="Win more than the other player.", origin="task"))
    story.begin_step()
    story.think("I read the opponent's rule first.", takes=0.6, cost_usd=0.0, pieces=1)
    story.command("cat strategy.py", "def row_strategy(history):\n    return 0\n")
    story.add(ev.HostSampled(host=Host(cpu_percent=12.0, cpu_cores=2, memory_used_bytes=48_000_000, processes=2)), 0.1)
    story.begin_step()
    story.think("Always the first move, as the other one copies.", takes=0.6, cost_usd=0.0, pieces=1)
    call_id = story.call("submit", "submit")
    story.finish(call_id, "submit", exit_code=None)
    story.add(ev.GradingStarted(grading_id="g", purpose="final", split="test"), 0.2)
    score = Score(metric="mean payoff", value=1.4142, baseline=1.0227, valid=True, scale="smoke", isolation="local")
    story.add(ev.Graded(grading_id="g", purpose="final", score=score, duration_s=0.8), 0.8)
    story.add(ev.RunEnded(outcome="submitted"), 0.1)
    return story.events
