"""A model's figures are measured from the model, and a model that cannot be loaded or used is a value with a reason."""

import json
import math
import os
import pickle
import shutil
from pathlib import Path
from typing import Any

import pytest

from evaluation.model import pickles
from evaluation.model.artefact import clean_copy, load
from evaluation.model.limits import not_finite, over_memory, over_size, over_time, too_many_parameters
from evaluation.model.measure import Measured, measure
from evaluation.model.metrics import ModelMetrics, Perplexity, Spread
from tests.process.baby_lm_models import write_model

for missing in ("torch", "transformers"):
    pytest.importorskip(missing)

pytestmark = [pytest.mark.eval, pytest.mark.slow]

WORDS = ["the girls sleep and the boys run", "a dog that the girls admire sings"]
TEXT = "the girls sleep and the boys run " * 14


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("model") / "model"
    write_model(made, WORDS, width=64, context=96)
    return made


@pytest.fixture(scope="module")
def measured(folder: Path) -> Measured:
    return measure(folder, text=TEXT, window=64, stride=16, repeats=3)


def test_counts_size_and_dtypes_are_those_of_the_files(folder: Path, measured: Measured) -> None:
    from transformers import GPT2LMHeadModel

    model: Any = GPT2LMHeadModel.from_pretrained(folder)
    found = measured.metrics
    assert measured.failure == ""
    assert found.parameters == found.trainable_parameters == model.num_parameters()
    assert found.nonzero_parameters == sum(int(weight.count_nonzero()) for weight in model.parameters())
    assert 0 < found.nonzero_parameters < model.num_parameters()
    assert found.nonfinite_parameters == 0
    assert found.size_bytes == (folder / "model.safetensors").stat().st_size
    assert found.dtypes == {"F32": model.num_parameters()}


def test_perplexity_is_that_of_a_plain_computation(folder: Path, measured: Measured) -> None:
    import torch
    from transformers import AutoTokenizer, GPT2LMHeadModel

    model: Any = GPT2LMHeadModel.from_pretrained(folder)
    model.eval()
    tokenizer: Any = AutoTokenizer.from_pretrained(folder)
    ids = [tokenizer.bos_token_id, *tokenizer(TEXT)["input_ids"]]
    total = 0.0
    for place in range(1, len(ids)):
        # The window moves by 16, so a token's context begins where the first window that holds it does.
        start = 0 if place < 64 else -(-(place - 63) // 16) * 16
        with torch.inference_mode():
            logits = model(torch.tensor([ids[start:place]])).logits[0, -1]
        total -= float(logits.log_softmax(-1)[ids[place]])
    found = measured.metrics.perplexity
    assert isinstance(found, Perplexity)
    assert (found.tokens, found.window, found.stride) == (len(ids) - 1, 64, 16)
    assert found.value == pytest.approx(math.exp(total / (len(ids) - 1)), rel=1e-4)
    assert found.bits_per_byte == pytest.approx(total / math.log(2) / len(TEXT), rel=1e-4)


def test_speed_counts_new_tokens_only_and_says_its_lengths(measured: Measured) -> None:
    speed = measured.metrics.speed
    assert speed is not None
    assert (speed.prompt_tokens, speed.new_tokens, speed.cached, speed.threads) == (64, 32, True, 1)
    assert speed.prefill_tokens_per_s.repeats == 3
    assert speed.next_token_s.repeats == 3 * 31
    assert speed.decode_tokens_per_s.p95 <= speed.decode_tokens_per_s.median
    assert speed.first_token_s.p95 >= speed.first_token_s.median
    # The same work, told as a rate and as a time.
    assert speed.prefill_tokens_per_s.median * speed.first_token_s.median == pytest.approx(64)


@pytest.fixture(scope="module")
def wide(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("wide") / "model"
    write_model(made, WORDS, width=1024)
    return made


def test_memory_is_that_of_the_model_and_not_of_the_interpreter(wide: Path, measured: Measured) -> None:
    size = (wide / "model.safetensors").stat().st_size
    roomy = measure(wide, repeats=0, memory_cap_bytes=4 * size)
    assert roomy.failure == ""
    assert over_memory(roomy, 4 * size) == []
    small, found = measured.metrics.memory, roomy.metrics.memory
    assert small is not None
    assert found is not None
    assert found.interpreter_bytes > 100 * 2**20
    assert 0.8 * size < found.load_bytes < found.peak_bytes + 1 < 3 * size
    assert found.load_bytes - small.load_bytes > 0.8 * size
    # What was not asked for is null with its reason, and stays so in JSON.
    assert roomy.metrics.unmeasured == {"speed": "not asked for", "perplexity": "not asked for"}
    read = json.loads(json.dumps(roomy.metrics.to_json()))
    assert read["speed"] is None
    assert ModelMetrics.from_json(read) == roomy.metrics
    assert "speed" not in "".join(roomy.metrics.details())


def test_a_model_over_its_memory_is_stopped_by_the_kernel_and_named(wide: Path) -> None:
    cap = 8 * 2**20
    told = over_memory(measure(wide, repeats=0, memory_cap_bytes=cap), cap)
    assert [one["rule"] for one in told] == ["memory_limit"]
    assert "it gets no further within 8.0 MiB" in told[0]["evidence"]


def test_a_peak_over_the_cap_is_named_for_loading_and_for_generating(measured: Measured) -> None:
    told = [one["evidence"] for one in over_memory(measured, 1000)]
    assert [one.split()[0] for one in told] == ["loading", "generating"]
    assert "above the interpreter, the limit is 0.0 MiB" in told[0]


def test_pruned_weights_are_counted(folder: Path, tmp_path: Path) -> None:
    from safetensors.torch import load_file, save_file

    from evaluation.model.measuring import counts

    shutil.copytree(folder, tmp_path / "model")
    weights = load_file(tmp_path / "model/model.safetensors")
    weights["transformer.h.0.mlp.c_fc.weight"][:] = 0
    save_file(weights, tmp_path / "model/model.safetensors", {"format": "pt"})
    before, after = (counts(load(place).model) for place in (folder, tmp_path / "model"))
    assert after["parameters"] == before["parameters"]
    assert before["nonzero_parameters"] - after["nonzero_parameters"] == 64 * 256
    weights["transformer.wte.weight"][0, 0] = float("nan")
    save_file(weights, tmp_path / "model/model.safetensors", {"format": "pt"})
    with pytest.raises(ValueError, match="the weights hold values that are not finite numbers"):
        load(tmp_path / "model")


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("model.safetensors", b"\x80\x04garbage"),
        ("model.safetensors", b""),
        ("model.safetensors", (2**62).to_bytes(8, "little") + b"{}"),
        ("config.json", b"{"),
        ("config.json", b"[" * 100_000),
        ("config.json", b'{"model_type": "gpt2", "n_embd": 100000000, "vocab_size": 100000}'),
        ("config.json", b'{"model_type": "gpt2", "n_layer": 3000, "n_embd": 64, "n_head": 2}'),
        ("tokenizer.json", b'{"version": "1.0", "model": null}'),
    ],
)
def test_a_file_that_is_no_model_is_a_reason_and_no_crash(folder: Path, tmp_path: Path, name: str, data: bytes) -> None:
    shutil.copytree(folder, tmp_path / "model")
    (tmp_path / "model" / name).write_bytes(data)
    with pytest.raises(ValueError, match=r"model/ cannot be loaded: .+"):
        load(tmp_path / "model")


def test_a_broken_model_is_a_reason_for_the_measuring_too(folder: Path, tmp_path: Path) -> None:
    shutil.copytree(folder, tmp_path / "model")
    (tmp_path / "model/model.safetensors").write_bytes(b"\x80\x04garbage")
    found = measure(tmp_path / "model", repeats=0, timeout_s=120)
    assert "is not a safetensors file" in found.failure
    assert (found.metrics.parameters, found.metrics.memory, found.metrics.size_bytes) == (None, None, 9)
    assert over_memory(found, 2**30)[0]["evidence"].startswith("its memory could not be measured")


def _with_endless_tokenizer(folder: Path, place: Path) -> Path:
    """A tokenizer that doubles a text sixty times: the first word that it is asked never ends."""
    shutil.copytree(folder, place)
    tokenizer = json.loads((place / "tokenizer.json").read_text())
    double = {"type": "Replace", "pattern": {"String": "e"}, "content": "ee"}
    tokenizer["normalizer"] = {"type": "Sequence", "normalizers": [double] * 60}
    (place / "tokenizer.json").write_text(json.dumps(tokenizer))
    return place


def test_a_loader_that_hangs_is_ended_and_named(folder: Path, tmp_path: Path) -> None:
    model = _with_endless_tokenizer(folder, tmp_path / "model")
    with pytest.raises(ValueError, match="model/ cannot be loaded: not done after 3 s"):
        load(model, timeout_s=3)
    found = measure(model, repeats=0, timeout_s=3)
    assert "not done after 3 s" in found.failure
    assert found.metrics.size_bytes is not None


def test_a_tokenizer_that_takes_all_memory_crashes_alone(folder: Path, tmp_path: Path) -> None:
    model = _with_endless_tokenizer(folder, tmp_path / "model")
    found = measure(model, repeats=0, memory_cap_bytes=32 * 2**20)
    assert found.over_memory
    assert "SIGABRT" in found.failure or "memory" in found.failure


class _Bomb:
    """Leaves a file behind when it is unpickled."""

    def __init__(self, file: Path) -> None:
        self.file = file

    def __reduce__(self) -> tuple[Any, tuple[str, str]]:
        return os.rename, (str(self.file), f"{self.file}.gone")


def test_a_pickle_with_code_is_refused_with_what_it_would_call_and_never_loaded(tmp_path: Path) -> None:
    import torch

    model, trap = tmp_path / "model", tmp_path / "trap"
    model.mkdir()
    trap.touch()
    (model / "config.json").write_text('{"model_type": "gpt2"}')
    for write in (
        lambda: (model / "pytorch_model.bin").write_bytes(pickle.dumps(_Bomb(trap))),
        lambda: (model / "pytorch_model.bin").write_bytes(pickle.dumps(_Bomb(trap), protocol=0)),
        lambda: torch.save({"w": torch.ones(2), "x": _Bomb(trap)}, model / "pytorch_model.bin"),
    ):
        write()
        with pytest.raises(ValueError, match=r"only as a pickle: pytorch_model.bin and would call posix.rename"):
            clean_copy(model).__enter__()
    assert trap.is_file()
    torch.save({"w": torch.ones(2)}, model / "pytorch_model.bin")
    with pytest.raises(ValueError, match=r"only as a pickle: pytorch_model.bin; save them as safetensors"):
        clean_copy(model).__enter__()


def test_a_pickle_that_is_damaged_or_endless_is_no_crash(tmp_path: Path) -> None:
    for data in (b"", b"\x80\x04", b"PK\x03\x04broken", b"\x8c\xff" * 99, b"(" * 5_000_000, os.urandom(4096)):
        (tmp_path / "x.bin").write_bytes(data)
        assert pickles.foreign_calls(tmp_path / "x.bin") == []


def test_limits_tell_their_figures() -> None:
    assert too_many_parameters(10, 9)[0]["evidence"] == "10 parameters, the limit is 9"
    assert too_many_parameters(9, 9) == too_many_parameters(10**12, 0) == too_many_parameters(None, 9) == []
    assert over_time(3601, 3600, "the merge")[0]["evidence"] == "the merge took 3,601 s, the limit is 3,600 s"
    assert over_time(math.nan, 3600, "the merge") != []
    assert over_size(ModelMetrics(size_bytes=2**21), 2**20)[0]["evidence"].startswith("the weights take 2.0 MiB")
    assert over_size(ModelMetrics(), 1) == []
    assert not_finite(ModelMetrics(nonfinite_parameters=3))[0]["evidence"] == "3 weights are not finite numbers"


def test_a_spread_of_rates_turns_the_slow_end_over() -> None:
    rates = Spread.of_rates(10, [1.0, 1.0, 2.0])
    assert rates.median == 10
    assert rates.p95 < 6
