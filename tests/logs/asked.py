"""The golden log `asked`: a run in approve mode; one call was changed, one rejected, one waits for a person's word."""

from agent.record import events as ev
from agent.record.values import Limits, ToolCall
from tests.logs.story import Story

RESTART = "rm -rf ckpt_old && python train.py --resume ckpt/8000 --lr 3e-4"


def events() -> list[ev.Event]:
    """The run, from launch to the question that waits."""
    story = Story()
    story.add(
        ev.RunCreated(
            run="7f3a21c4", task="mlrb/baby_lm", scale="smoke", scaffold="react", model="anthropic:claude-sonnet-4-5",
            sandbox="docker", seed=0, limits=Limits(time_s=3600.0, steps=60), who="ada", approve=True,
        )
    )  # fmt: skip
    story.add(ev.RunStarted(pid=7, host="box"), 0.3)
    story.add(
        ev.SandboxStarted(sandbox="docker", name="mlrb-7f3a21c4", image="mlrb:latest", workdir="/home/agent/workspace"),
        2.0,
    )
    _turn(story, "I raise the learning rate.", "python train.py --lr 1e-2", "python train.py *")
    _word(story, "edited", edited="python train.py --lr 3e-3")
    _run(story, "python train.py --lr 3e-3", "step 8000/12000  loss 3.41  18.2k tok/s\n")
    _turn(story, "The loss plateaus; I look at what others did.", "curl https://example.org/answers", "curl *")
    _word(story, "rejected", reason="work it out from the data you have")
    story.add(ev.ToolCalled(call_id=f"c{story.step}", tool="bash", summary="curl https://example.org/answers"))
    story.add(
        ev.ToolFinished(
            call_id=f"c{story.step}", message_id="t", tool="bash", failed=True, rejected_by="ada",
            observation="the operator did not let this bash call run. Their reason: work it out from the data you have",
        )
    )  # fmt: skip
    thought = "The loss plateaus near 3.4; I will remove the old checkpoints to make room and restart from step 8000."
    _turn(story, thought, RESTART, "")
    return story.events


def _turn(story: Story, thought: str, command: str, rule: str) -> None:
    story.begin_step()
    call_id = f"c{story.step}"
    story.think(thought, calls=(ToolCall(call_id=call_id, tool="bash", arguments={"command": command}),))
    story.add(
        ev.ApprovalAsked(
            approval_id=f"q{story.step}", call_id=call_id, tool="bash", summary=command,
            arguments=f'{{"command": "{command}"}}', editable="command", rule=rule,
        ),
        0.1,
    )  # fmt: skip


def _word(story: Story, decision: str, **more: str) -> None:
    assert decision in ("accepted", "edited", "rejected")
    request_id = story.step
    story.add(ev.RequestReceived(request_id=request_id, verb="approve", text=decision, who="ada", origin="app"), 40.0)
    story.add(
        ev.ApprovalGiven(approval_id=f"q{story.step}", decision=decision, by="ada", request_id=request_id, **more),  # type: ignore[arg-type]
    )
    story.add(ev.RequestAnswered(request_id=request_id, detail=decision))


def _run(story: Story, command: str, output: str) -> None:
    call_id = f"c{story.step}"
    story.add(ev.ToolCalled(call_id=call_id, tool="bash", arguments={"command": command}, summary=command))
    story.add(ev.ToolOutput(call_id=call_id, text=output), 30.0)
    story.add(ev.ToolFinished(call_id=call_id, message_id="t", tool="bash", exit_code=0, duration_s=30.0), 0.2)
