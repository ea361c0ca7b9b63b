"""A run of a supervisor with workers: two trainings side by side, a message to one, a plan that changes."""

from agent.record import events as ev
from agent.record.crew import PlanStep
from agent.record.values import Limits, Progress
from tests.logs.story import Story

_PREPARE = PlanStep(
    name="prepare data", task="Look at the corpus, pack it into blocks of 512 tokens, write data/train.bin."
)
_DEEP = PlanStep(
    name="train deep",
    task="Train 12 layers of 384 for 2,000 steps; leave checkpoints in deep/.",
    after=("prepare data",),
)
_WIDE = PlanStep(
    name="train wide",
    task="Train 6 layers of 640 for 2,000 steps; leave checkpoints in wide/.",
    after=("prepare data",),
)
_CHOOSE = PlanStep(
    name="choose", task="Compare both on the development split and put the better one into model/.",
    after=("train deep", "train wide"),
)  # fmt: skip
_COSINE = PlanStep(
    name="train cosine", task="As train deep, with a cosine schedule and 100 steps of warm-up.", after=("train deep",)
)


def events() -> list[ev.Event]:
    """The whole log; it ends while both trainings run."""
    story = Story()
    _begin(story)
    _prepare(story)
    _train(story)
    return story.events


def _begin(story: Story) -> None:
    story.add(
        ev.RunCreated(
            run="c0ffee12", task="mlrb/baby_lm", scale="smoke", scaffold="mlrb", model="openai:qwen3-coder",
            sandbox="docker", seed=0, limits=Limits(time_s=7_200.0, steps=200, cost_usd=20.0), who="ann",
            supervisor_model="anthropic:claude-sonnet-4-5",
        )
    )  # fmt: skip
    story.add(ev.RunStarted(pid=41, host="gpu1"), 0.4)
    story.add(ev.SandboxStarted(sandbox="docker", name="mlrb-c0ffee12", image="mlrb:latest"), 1.2)
    story.add(ev.MessageAdded(message_id="m1", role="system", text="You are the supervisor of a team."), 0.1)
    story.add(ev.MessageAdded(message_id="m2", role="user", text="Train a small language model.", origin="task"))
    story.begin_step()
    story.think("Data first; then two shapes side by side, since either fits into the time.")
    call = story.call(
        "plan", "prepare data; train deep (after prepare data); train wide (after prepare data); choose (after both)"
    )
    story.add(ev.PlanMade(steps=(_PREPARE, _DEEP, _WIDE, _CHOOSE), why="two shapes fit into the time"), 0.1)
    _finish(story, call, "plan", "the plan has 4 steps; it begins with prepare data")


def _prepare(story: Story) -> None:
    with_worker(story, 1, ev.WorkerStarted(step="prepare data"))
    story.begin_step()
    story.think("Six rows, each of tens of thousands of words. They have to be packed.")
    call = story.call("bash", "python prepare.py --block 512")
    story.add(ev.ToolOutput(call_id=call, text="wrote data/train.bin: 268,431 tokens\n"), 6.0)
    _finish(story, call, "bash", "wrote data/train.bin: 268,431 tokens\n[exit code 0, 6.2 s]", exit_code=0, took=6.2)
    story.begin_step()
    story.think("Done.")
    call = story.call("return", "packed 268,431 tokens into 524 blocks")
    _finish(story, call, "return", "returned")
    story.add(ev.WorkerEnded(outcome="returned", step="prepare data", submission="packed 268,431 tokens, 524 blocks"))


def _train(story: Story) -> None:
    calls = {}
    for worker, name, shape in (
        (2, "train deep", "--layers 12 --width 384"),
        (3, "train wide", "--layers 6 --width 640"),
    ):
        folder = f"workers/{worker}-{name.replace(' ', '-')}"
        with_worker(story, worker, ev.WorkerStarted(step=name, folder=folder))
        story.begin_step()
        story.think(f"The starter's trainer with {shape} fits into memory.")
        calls[worker] = story.call("bash", f"python train.py {shape} --steps 2000")
    for at in range(1, 13):
        for worker, loss in ((2, 5.2 - at * 0.11), (3, 5.0 - at * 0.13)):
            story.worker = worker
            said = f"step {at * 100}/2000 loss {loss:.3f} 21.4k tok/s\n"
            story.add(ev.ToolOutput(call_id=calls[worker], text=said), 4.0)
            progress = Progress(
                values={"loss": loss, "tok/s": 21_400.0}, step=at * 100, total=2000, eta_s=(20 - at) * 8.0
            )
            story.add(ev.ProgressSeen(call_id=calls[worker], progress=progress))
        if at == 8:
            _review(story)
    story.worker = 3
    story.add(
        ev.RequestReceived(request_id=1, verb="inject", text="keep the last checkpoint too", who="ann", worker=3), 2.0
    )
    story.worker = 0


def _review(story: Story) -> None:
    for worker in (2, 3):
        with_worker(story, worker, ev.WorkerReported(text=f"Worker {worker} has made 1 step. loss falls"))
    story.worker = 0
    story.begin_step()
    story.add(ev.MessageAdded(message_id="m5", role="user", text="The plan now: …\nReview the work."), 0.2)
    story.think("Both learn. A schedule is worth a third training once the deep one is through.")
    call = story.call("plan", "prepare data; train deep; train wide; train cosine; choose")
    last = PlanStep(name="choose", task=_CHOOSE.task, after=("train deep", "train wide", "train cosine"))
    story.add(ev.PlanMade(steps=(_PREPARE, _DEEP, _WIDE, _COSINE, last), why="a schedule is worth one more training"))
    _finish(story, call, "plan", "the plan has 5 steps")


def with_worker(story: Story, worker: int, body: ev.AnyBody) -> None:
    """That worker's event; what follows is theirs too."""
    story.worker = worker
    story.add(body, 0.3)


def _finish(
    story: Story, call: str, tool: str, observation: str, *, exit_code: int | None = None, took: float = 0.1
) -> None:
    story.add(
        ev.ToolFinished(
            call_id=call, message_id=f"t-{call}", tool=tool, exit_code=exit_code, duration_s=took,
            observation=observation, output_lines=1 if exit_code is not None else 0,
        ),
        0.2,
    )  # fmt: skip
