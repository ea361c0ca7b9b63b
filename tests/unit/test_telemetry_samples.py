"""Samples and checkpoints: what is news is told once, what is not is not."""

from agent.record.values import Gpu, Host
from agent.telemetry.checkpoints import CheckpointWatch, training_step
from agent.telemetry.gpu import differ
from agent.telemetry.host import KEEP_EVERY_S, HostSamples


def test_sample_is_kept_only_where_a_person_would_see_the_difference() -> None:
    samples = HostSamples()
    quiet = Host(cpu_percent=10.0, memory_used_bytes=1_000_000, processes=3)
    assert samples.is_news(quiet, 0.0)
    assert not samples.is_news(Host(cpu_percent=12.0, memory_used_bytes=1_001_000, processes=3), 1.0)
    assert samples.is_news(Host(cpu_percent=90.0, memory_used_bytes=1_001_000, processes=3), 2.0)
    assert samples.is_news(Host(cpu_percent=90.0, memory_used_bytes=1_001_000, processes=3), 2.0 + KEEP_EVERY_S)
    assert samples.is_news(Host(cpu_percent=None, memory_used_bytes=1_001_000, processes=3), 40.0)


def test_gpu_that_does_not_tell_its_use_is_not_news_each_time() -> None:
    silent = (Gpu(index=0, name="MIG", memory_used_bytes=None, utilization_percent=None),)
    assert differ((), silent)
    assert not differ(silent, silent)
    assert differ(silent, (Gpu(index=0, name="MIG", utilization_percent=50.0),))
    assert differ(silent, ())


def test_checkpoint_is_told_once_when_it_has_settled_and_again_when_it_is_overwritten() -> None:
    watch = CheckpointWatch()
    watch.start_with([("given.bin", 9_000, 1.0)])
    given = ("given.bin", 9_000, 1.0)
    assert watch.look([given, ("ckpt.pt", 5_000, 10.0)]) == []
    assert watch.look([given, ("ckpt.pt", 7_000, 11.0)]) == []
    (seen,) = watch.look([given, ("ckpt.pt", 7_000, 11.0)])
    assert (seen.path, seen.size_bytes) == ("ckpt.pt", 7_000)
    assert watch.look([given, ("ckpt.pt", 7_000, 11.0)]) == []
    assert watch.look([given, ("ckpt.pt", 7_000, 20.0)]) == []
    assert [again.path for again in watch.look([given, ("ckpt.pt", 7_000, 20.0)])] == ["ckpt.pt"]


def test_training_step_is_read_from_the_innermost_name() -> None:
    assert training_step("epoch_2/step_300/model.safetensors") == 300
    assert training_step("checkpoint-1500/pytorch_model.bin") == 1500
    assert training_step("out/model.pt") is None
