"""The story of a long run: a small language model trained on a GPU, with all that happens in two hours of it."""

import math
import random

from agent.record import events as ev
from agent.record.values import Gpu, Host, Limits, Progress, Proof, Score, Usage
from tests.logs.story import Story

_GB = 1024**3
_TASK = "Train a language model on at most 10 M words. It is graded by BLiMP with lm-eval on held-out paradigms."


def events() -> list[ev.Event]:
    """The whole run."""
    told = _Run()
    told.begin()
    told.look_around()
    told.first_training()
    told.broken_load()
    told.operator_helps()
    told.long_training()
    told.end()
    return told.story.events


class _Run:
    def __init__(self) -> None:
        self.story = Story()
        self.random = random.Random(7)

    # ── telemetry ────────────────────────────────────────────────────────────────────────────────────────

    def sample(self, memory_gb: float, busy: float) -> None:
        """One sample of GPU and host."""
        jitter = self.random.uniform(-3, 2)
        gpu = Gpu(
            index=0,
            name="A100 40 GB",
            memory_used_bytes=int(memory_gb * _GB),
            memory_total_bytes=40 * _GB,
            utilization_percent=max(0.0, min(100.0, busy + jitter)),
            power_w=90 + busy * 2,
            temperature_c=38 + busy / 4,
        )
        self.story.add(ev.GpuSampled(gpus=(gpu,)), 0.1)
        host = Host(
            cpu_percent=180 + jitter * 12 + busy,
            cpu_cores=8,
            memory_used_bytes=int(6.2 * _GB + memory_gb * 2e8),
            memory_limit_bytes=64 * _GB,
            processes=9,
        )
        self.story.add(ev.HostSampled(host=host), 0.1)

    def train(self, call_id: str, *, steps: int, seconds: float, start: float, floor: float, saves: int) -> None:
        """A training command: output, progress, samples and checkpoints."""
        points = 120
        for point in range(1, points + 1):
            step = steps * point // points
            loss = floor + (start - floor) * math.exp(-5.2 * point / points) + self.random.gauss(0, 0.02)
            rate = 18_200 * min(1.0, 0.4 + point / 12) + self.random.gauss(0, 160)
            eta = seconds * (points - point) / points
            line = f"step {step:>5}/{steps}  loss {loss:.3f}  lr {3e-4 * (1 - point / points):.1e}  "
            self.story.output(call_id, f"{line}{rate / 1000:.1f}k tok/s  eta {eta / 60:.0f}m\n", seconds / points)
            values = {"loss": round(loss, 4), "lr": 3e-4 * (1 - point / points)}
            if point % 20 == 0:
                values["eval_loss"] = round(loss + 0.09, 4)
            progress = Progress(values=values, step=step, total=steps, rate=round(rate), rate_unit="tok/s", eta_s=eta)
            self.story.add(ev.ProgressSeen(call_id=call_id, progress=progress))
            if point % 2 == 0:
                self.sample(31.2 if point > 6 else 4.0 + point * 4, 97 if point % 34 else 22)
            if point % (points // saves) == 0:
                path = f"ckpt/{step}/model.safetensors"
                self.story.add(ev.CheckpointSeen(path=path, size_bytes=66_400_000, training_step=step), 0.4)
                self.story.output(call_id, f"saved ckpt/{step}  66.4 MB\n", 0.1)

    def validate(self, value: float, *, took: float = 22.0) -> None:
        """The agent grades itself on the development split."""
        call_id = self.story.call("validate", "validate")
        self.story.add(ev.GradingStarted(grading_id=f"g{self.story.step}", purpose="validate", split="dev"), 0.2)
        score = Score(
            metric="BLiMP",
            value=value,
            scale="full",
            split="dev",
            baseline=0.535,
            valid=True,
            standard_error=0.004,
            isolation="docker",
        )
        graded = ev.Graded(grading_id=f"g{self.story.step}", purpose="validate", score=score, duration_s=took)
        self.story.add(graded, took)
        self.story.finish(call_id, "validate", exit_code=None, observation=f"dev BLiMP {value}")

    # ── the story ────────────────────────────────────────────────────────────────────────────────────────

    def begin(self) -> None:
        """Asked for, started, told of its task."""
        story = self.story
        limits = Limits(time_s=24 * 3600.0, steps=200, cost_usd=40.0, tokens=6_000_000)
        story.add(
            ev.RunCreated(
                run="7f3a21c4",
                task="mlrb/baby_lm",
                scale="full",
                scaffold="react",
                model="anthropic:claude-sonnet-4-5",
                sandbox="docker@gpu1",
                seed=3,
                limits=limits,
                who="lea",
                version="0.1.0",
            )
        )
        story.add(ev.RunStarted(pid=41_210, host="deck"), 0.4)
        story.add(
            ev.SandboxStarted(
                sandbox="docker@gpu1", name="mlrb-7f3a21c4", image="mlrb-sandbox:0.1.0", workdir="/home/agent/workspace"
            ),
            6.1,
        )
        story.add(ev.MessageAdded(message_id="msg-0", role="system", text="You are a careful ML researcher."), 0.1)
        story.add(ev.MessageAdded(message_id="msg-1", role="user", text=_TASK, origin="task"), 0.1)
        self.sample(0.4, 0)

    def look_around(self) -> None:
        """Reads the starter, plans, prepares the data."""
        story = self.story
        story.begin_step()
        story.think(
            "I start with what is there: the starter, the data, and how long one pass over it takes.",
            reasoning="The budget is generous, 24 hours. What matters is the word limit, not the time.",
        )
        story.command(
            "ls -la && wc -w data/train.txt && nvidia-smi -L",
            "train.py  model.py  prepare.py  check_load.py  data/\n",
            " 9982114 data/train.txt\n",
            "GPU 0: NVIDIA A100-SXM4-40GB\n",
        )
        story.begin_step()
        story.think("The starter is a four-layer model. I read it before I widen it.")
        call_id = story.call("read", "model.py", path="model.py")
        story.finish(call_id, "read", exit_code=None, observation="class GPT(nn.Module): …", lines=212)
        plan = (
            "prepare with a 16 k vocabulary",
            "train the starter for a baseline",
            "widen to 512",
            "tune the schedule",
        )
        story.add(ev.PlanChanged(items=plan), 0.4)
        story.begin_step()
        story.think(
            "Three epochs over 10 M words take about 50 minutes at this speed, so I can afford six.\n"
            "I will keep the tokenizer at 16 k and widen the model to 512."
        )
        story.command(
            "python prepare.py --vocab 16384",
            "reading data/train.txt\n",
            "wrote data/train.bin  9,982,114 words  13,401,772 tokens\n",
            after=36.0,
        )

    def first_training(self) -> None:
        """The starter as it is, for a baseline."""
        story = self.story
        story.begin_step()
        story.think("First the starter as it is, so that I know what an improvement is worth.")
        call_id = story.call("bash", "python train.py --layers 4 --width 256 --steps 4000")
        self.train(call_id, steps=4000, seconds=1_150, start=9.7, floor=3.9, saves=2)
        story.finish(call_id, lines=122, observation="step 4000/4000  loss 3.93")
        story.begin_step()
        story.think("A first score, before anything else.", takes=4.0)
        self.validate(0.486)
        story.add(ev.RequestReceived(request_id=1, verb="pause", text="at next step", who="lea", origin="app"))
        story.add(ev.RunPaused(strength="step", by="lea", why="lunch; back at one", request_id=1), 0.2)
        story.add(ev.RequestAnswered(request_id=1, detail="paused before the next step"))
        story.add(ev.RequestReceived(request_id=2, verb="resume", who="lea", origin="app"), 551.0)
        story.add(ev.RunResumed(by="lea", request_id=2))
        story.add(ev.RequestAnswered(request_id=2, detail="goes on"))

    def broken_load(self) -> None:
        """A checkpoint that does not load, found and mended."""
        story = self.story
        story.begin_step()
        story.think("Before the long run, check that a checkpoint loads with AutoModelForCausalLM.")
        trace = "".join(f'  File "transformers/modeling_utils.py", line {4000 + n}, in load\n' for n in range(38))
        story.command(
            "python check_load.py ckpt/4000",
            "Traceback (most recent call last):\n",
            trace,
            "KeyError: 'lm_head.weight'\n",
            exit_code=1,
            after=2.4,
            lines=41,
        )
        story.begin_step()
        story.think(
            "The head is tied to the embedding, but only in training. I tie it in the module itself.",
            reasoning="`state_dict` drops tied weights on saving; loading needs `_tied_weights_keys`, or a tie "
            "in `__init__`.",
        )
        call_id = story.call(
            "edit",
            "model.py",
            path="model.py",
            old="        self.lm_head = nn.Linear(width, vocab, bias=False)\n        self.apply(_init)",
            new="        self.lm_head = nn.Linear(width, vocab, bias=False)\n"
            "        # lm-eval loads by name: the tie has to be there before the weights are.\n"
            "        self.lm_head.weight = self.wte.weight\n        self.apply(_init)",
        )
        story.finish(call_id, "edit", exit_code=None, observation="edited model.py at line 88")
        story.command("python check_load.py ckpt/4000", "loaded, 15.2 M parameters, 1 sentence scored\n", after=6.2)
        story.begin_step()
        call = story.think("Now the wide model for three epochs.", takes=6.0, pieces=1)
        story.add(
            ev.ModelFailed(
                call_id=call, reason="429: rate limit, 80,000 input tokens a minute", attempt=1, retry_in_s=20.0
            ),
            0.2,
        )
        story.think("Now the wide model for three epochs.", takes=6.0)
        call_id = story.call("bash", "python train.py --layers 8 --width 512 --steps 8000")
        self.train(call_id, steps=8000, seconds=2_300, start=9.9, floor=3.5, saves=4)
        story.finish(call_id, lines=124, observation="step 8000/8000  loss 3.52")
        story.begin_step()
        story.think("Better by eye. The score decides.", takes=4.0)
        self.validate(0.581)

    def operator_helps(self) -> None:
        """An alarm, a person who saw it, and a message that was answered."""
        story = self.story
        message = "loss has been flat for the last 1,200 training steps"
        story.add(ev.AlertRaised(alert="plateau", message=message, hint="i to say something"), 30.0)
        story.add(
            ev.RequestReceived(
                request_id=3, verb="inject", who="lea", origin="app", text="try a cosine schedule with 2 % warm-up"
            ),
            41.0,
        )
        story.begin_step()
        story.add(
            ev.MessageAdded(
                message_id="msg-9",
                role="user",
                origin="operator",
                request_id=3,
                text="try a cosine schedule with 2 % warm-up",
            ),
            0.1,
        )
        story.add(ev.RequestDelivered(request_id=3, call_id="m-next"), 0.1)
        story.think(
            "The operator suggests a cosine schedule. With 12,000 steps, 2 % warm-up is 240 steps. The plateau "
            "after step 6,500 fits a rate that is too high at the end, so this is worth the hour.",
            usage=Usage(input_tokens=52_000, output_tokens=1_400, cache_read_tokens=44_000),
            cost_usd=0.34,
        )
        story.add(ev.RequestAnswered(request_id=3, detail="the model replied"))

    def long_training(self) -> None:
        """The run that counts."""
        story = self.story
        call_id = story.call("bash", "python train.py --schedule cosine --warmup 240 --steps 12000")
        self.train(call_id, steps=12_000, seconds=3_260, start=9.9, floor=3.32, saves=6)
        story.finish(call_id, lines=126, observation="step 12000/12000  loss 3.34")
        story.begin_step()
        story.think("The curve is smooth to the end. One more look at the development split.", takes=5.0)
        self.validate(0.634)

    def end(self) -> None:
        """Handed in, graded, taken down."""
        story = self.story
        story.begin_step()
        story.think("0.634 on dev, from 0.486. The model loads by name and holds no pretrained weight. I hand it in.")
        call_id = story.call("submit", "submit", summary="8 layers, width 512, cosine, 12,000 steps")
        story.finish(call_id, "submit", exit_code=None, observation="submitted")
        story.add(
            ev.GradingStarted(grading_id="final", purpose="final", split="test", artefact_sha256="9c1f" * 16), 1.0
        )
        for done in range(0, 50, 10):
            story.add(ev.GradingProgressed(grading_id="final", done=done, total=50, what="paradigms"), 8.0)
        score = Score(
            metric="BLiMP",
            value=0.629,
            scale="full",
            split="test",
            baseline=0.535,
            valid=True,
            standard_error=0.003,
            artefact_sha256="9c1f" * 16,
            isolation="docker",
            details={"agreement": 0.71, "islands": 0.52},
        )
        story.add(ev.Graded(grading_id="final", purpose="final", score=score, duration_s=49.0), 8.0)
        proofs = (Proof("container", True, "removed"), Proof("processes", True, "0 left"), Proof("gpu 0", True, "free"))
        story.add(ev.SandboxStopped(proofs=proofs), 2.2)
        story.add(ev.RunEnded(outcome="submitted"), 0.1)
