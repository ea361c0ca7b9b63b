"""The golden log `gpu_trouble`: a training on four GPUs that goes wrong in several ways at once, as it stands then."""

import math
import random

from agent.record import events as ev
from agent.record.values import Gpu, Host, Limits, Progress
from tests.logs.story import Story

GB = 1_000_000_000
_REMINDER = (
    "[automatic reminder from the harness, not from a person]\nThe loss is not a finite number.\n"
    "(a smaller learning rate, clipped gradients, or bad data? interrupt it)"
)


def events() -> list[ev.Event]:
    """The run, up to a moment at which several alarms stand."""
    story, chance = Story(), random.Random(11)
    _begin(story)
    _train(story, chance)
    _diverge(story, chance)
    return story.events


def _begin(story: Story) -> None:
    story.add(
        ev.RunCreated(
            run="5d20aa17", task="mlrb/edge_llm_train", scale="full", scaffold="react", model="openai:gpt-5.2",
            sandbox="docker@gpu2", seed=1, who="ada", gpu_usd_per_hour=2.0,
            limits=Limits(time_s=8 * 3600.0, steps=120, cost_usd=40.0, tokens=4_000_000),
        )
    )  # fmt: skip
    story.add(ev.RunStarted(pid=7, host="deck"), 0.4)
    cards = tuple(f"GPU-{index}" for index in range(4))
    story.add(ev.RunPlaced(host="gpu2", gpus=cards, names=("A100 40 GB",) * 4, cost_per_hour=1.5), 1.0)
    story.add(ev.SandboxStarted(sandbox="docker@gpu2", name="m", image="mlrb:latest", workdir="/home/agent/work"), 5.0)
    story.begin_step()
    story.think("Four cards: I train with data parallelism, and evaluate every tenth of the way.")
    story.command("python prepare.py", "wrote data/train.bin  210,114,772 tokens\n", after=600.0)


def _train(story: Story, chance: random.Random) -> None:
    """A training that went well for hours."""
    story.begin_step()
    story.think("The data is there. First a short training, for a baseline.")
    call_id = story.call("bash", "torchrun --nproc-per-node 4 train.py --steps 20000")
    points = 150
    for point in range(1, points + 1):
        loss = 11.0 * math.exp(-5.5 * point / points) + 0.62 + chance.gauss(0, 0.01)
        values = {"loss": round(loss, 4), "lr": 6e-4}
        if point % 15 == 0:
            values["eval_loss"] = round(loss + 0.12, 4)
        _sample(story, chance, busy=97.0 if point % 9 else 2.0, after=45.0)
        _progress(story, call_id, point, points, values, 150_000 + chance.gauss(0, 900), after=45.0)
        if point % 50 == 0:
            path = f"ckpt/{point * 133}/model.safetensors"
            story.add(ev.CheckpointSeen(path=path, size_bytes=2 * GB, training_step=point * 133), 1.0)
    story.finish(call_id, lines=160, observation="done")


def _diverge(story: Story, chance: random.Random) -> None:
    """Then one with a higher rate that does not."""
    story.begin_step()
    story.think("0.63 after 20,000 steps. A higher learning rate should get there sooner.")
    call_id = story.call("bash", "torchrun --nproc-per-node 4 train.py --lr 6e-3 --steps 60000")
    points = 120
    for point in range(1, 41):
        loss = 11.0 * math.exp(-9.0 * point / points) + 0.3 + chance.gauss(0, 0.02)
        values = {"loss": round(loss, 4)}
        if point % 10 == 0:
            values["eval_loss"] = round(loss + 0.2, 4)
        _sample(story, chance, busy=96.0, after=60.0)
        _progress(story, call_id, point, points, values, 151_000.0, after=60.0)
    said = "the command needs 4.4 h more and the run's limit leaves 2.6 h"
    hint = "raise the limit, or have the agent train less or save what it has"
    story.add(ev.AlertRaised(alert="too_slow", message=said, hint=hint), 1.0)
    story.add(ev.AlertRaised(alert="loop", message="the same bash call 5 times in a row", hint="inject a message"), 1.0)
    story.add(ev.AlertCleared(alert="loop", message="no longer: the same bash call 5 times in a row"), 2.0)
    story.output(call_id, "step 20500/60000  loss nan  lr 6.0e-3  151.0k tok/s  eta 264m\n", 100.0)
    gone = Progress(diverged=("loss",), step=20_500, total=60_000, rate=151_000.0, rate_unit="tok/s",
                    command_eta_s=15_840.0)  # fmt: skip
    story.add(ev.ProgressSeen(call_id=call_id, progress=gone))
    hint = "a smaller learning rate, clipped gradients, or bad data? interrupt it"
    story.add(ev.AlertRaised(alert="diverged", message="the loss is not a finite number", hint=hint), 0.1)
    story.add(ev.MessageAdded(message_id="r1", role="user", text=_REMINDER), 0.1)
    _sample(story, chance, busy=96.0, faulty=True)
    said = "gpu 2 reported Xid 79"
    story.add(
        ev.AlertRaised(alert="gpu_trouble", message=said, hint="see `dmesg` on that machine; it may need a reset")
    )
    story.output(call_id, "step 20600/60000  loss nan  lr 6.0e-3  149.8k tok/s  eta 263m\n", 118.0)


def _progress(
    story: Story, call_id: str, point: int, points: int, values: dict[str, float], rate: float, *, after: float
) -> None:
    total = points * (133 if points == 150 else 500)
    step = total * point // points
    eta_s = (points - point) * after * (3.3 if points == 120 else 2.0)
    story.output(call_id, f"step {step}/{total}  loss {values['loss']:.3f}  {rate / 1000:.1f}k tok/s\n", after)
    found = Progress(
        values=values, step=step, total=total, rate=round(rate), rate_unit="tok/s", eta_s=eta_s, command_eta_s=eta_s
    )
    story.add(ev.ProgressSeen(call_id=call_id, progress=found))


def _sample(story: Story, chance: random.Random, *, busy: float, after: float = 0.1, faulty: bool = False) -> None:
    """One sample of the four cards, and of the sandbox."""
    gpus = []
    for index in range(4):
        bad = faulty and index == 2
        use = busy + chance.uniform(-4, 2) if index != 3 or chance.random() > 0.2 else 20.0
        gpus.append(
            Gpu(
                index=index, name="A100 40 GB", uuid=f"GPU-{index}",
                memory_used_bytes=int((33.4 - index) * GB), memory_total_bytes=40 * GB,
                utilization_percent=0.0 if bad else min(100.0, use), power_w=None if bad else 280 + use / 8,
                temperature_c=60.0 + index * 2, processes=1, own_processes=1, own_memory_bytes=int(33 * GB),
                ecc_errors=3 if bad else 0, xid=79 if bad else None,
            )
        )  # fmt: skip
    story.add(ev.GpuSampled(gpus=tuple(gpus)), after)
    host = Host(
        cpu_percent=410 + chance.uniform(-40, 40), cpu_cores=16, memory_used_bytes=int(61.5 * GB),
        memory_limit_bytes=64 * GB, processes=13, disk_free_bytes=31 * GB, disk_total_bytes=500 * GB,
        net_received_bytes_s=12_000.0, net_sent_bytes_s=900.0, io_read_bytes_s=180e6, io_write_bytes_s=2.1e6,
        oom_kills=1 if faulty else 0, machine_cpu_percent=64.0,
        machine_memory_used_bytes=210 * GB, machine_memory_total_bytes=512 * GB,
    )  # fmt: skip
    story.add(ev.HostSampled(host=host), 0.1)
