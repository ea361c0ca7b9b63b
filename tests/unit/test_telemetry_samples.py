"""Samples and checkpoints: what is news is told once, what is not is not."""

from agent.record.values import Gpu, Host
from agent.telemetry.checkpoints import CheckpointWatch, holds_weights, stated_step, training_step
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


def test_shards_are_one_checkpoint_and_none_before_all_are_there() -> None:
    watch = CheckpointWatch()
    shards = [(f"out/model-0000{number}-of-00003.safetensors", 2_000, 10.0 + number) for number in (1, 2, 3)]
    for _ in range(3):
        assert watch.look(shards[:2]) == []
    watch.look(shards)
    (seen,) = watch.look(shards)
    assert (seen.path, seen.size_bytes, seen.written_at) == ("out/model-*-of-00003.safetensors", 6_000, 13.0)
    assert watch.look(shards) == []


def test_what_lies_beside_the_weights_is_no_checkpoint() -> None:
    names = ("optimizer.pt", "scheduler.pt", "rng_state_0.pth", "training_args.bin", "data/train.bin", "val.bin",
             "bf16_zero_pp_rank_0_mp_rank_00_optim_states.pt", "fineweb_tokens.bin")  # fmt: skip
    files = [(f"checkpoint-5/{name}", 5_000, 1.0) for name in names]
    watch = CheckpointWatch()
    assert watch.look(files) == watch.look(files) == []
    assert all(holds_weights(path) for path in ("a/model.pt", "train_step_5.pt", "pytorch_model.bin", "best_val.pt"))


def test_file_that_is_written_over_and_over_is_told_now_and_then() -> None:
    watch = CheckpointWatch()
    told = [at for at in range(0, 100, 2) if watch.look([("last.pt", 5_000, float(at))])]
    assert told == [2, 32, 62, 92]


def test_file_written_just_before_the_end_is_told_in_the_last_look() -> None:
    assert [seen.path for seen in CheckpointWatch().look([("last.pt", 5_000, 1.0)], last=True)] == ["last.pt"]


def test_step_is_read_from_what_the_trainer_noted() -> None:
    assert stated_step(b'{\n  "best_global_step": 9,\n  "epoch": 1.0,\n  "global_step": 32,\n  "log') == 32
    assert stated_step(b'{"global_step": null}') is None


def test_training_step_is_read_from_the_innermost_name() -> None:
    assert training_step("epoch_2/step_300/model.safetensors") == 300
    assert training_step("checkpoint-1500/pytorch_model.bin") == 1500
    assert training_step("epoch=3-step=300.ckpt") == 300
    assert training_step("out/model_epoch_7.pt") is None
    assert training_step("out/model.pt") is None
