"""The suites of lm-eval on the small world: stock task files, numbers of the command, ties, memory, progress."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from evaluation.lm.harness import evaluate
from evaluation.lm.offline import OFFLINE
from evaluation.lm.suites import BLIMP, COSMOSQA, MMLU, SUPER_GLUE, XSUM, Suite, task_names
from tasks.mlrb.hub import BLIMP_SET, MERGING_SET, MMLU_SET, SUPER_GLUE_SET, write_hub_set, write_hub_splits
from tasks.mlrb.world import merging
from tasks.mlrb.world.glue.items import CONFIGURATIONS, TASKS, super_glue
from tasks.mlrb.world.glue.prompts import PROMPTS
from tasks.mlrb.world.paradigms import items
from tasks.mlrb.world.quiz import mmlu, prompt
from tasks.mlrb.world.tokenizer import write_tokenizer

for missing in ("torch", "transformers", "lm_eval"):
    pytest.importorskip(missing)

pytestmark = [pytest.mark.eval, pytest.mark.slow]

REAL = os.environ.get("MLRB_BLIMP", "")
"""A folder with the published BLiMP files, one jsonl a paradigm, where somebody has them."""
SEED = 4


@pytest.fixture(scope="module")
def hub(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("hub")
    write_hub_splits(root, SUPER_GLUE_SET, super_glue(SEED, "test", 12))
    write_hub_splits(root, MMLU_SET, mmlu(SEED, "test", each=3))
    write_hub_set(root, BLIMP_SET, _minimal_pairs())
    write_hub_set(
        root,
        MERGING_SET,
        {"cosmosqa": merging.cosmosqa(SEED, "test", 16), "xsum": merging.xsum(SEED, "test", 3)},
    )
    return root


def _minimal_pairs() -> dict[str, list[dict[str, Any]]]:
    if not REAL:
        return dict(list(items(SEED, "test", 10).items())[:3])
    files = sorted(Path(REAL).glob("*.jsonl"))
    return {
        file.stem: [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()[:20]] for file in files
    }


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return _model(tmp_path_factory.mktemp("model"))


def _model(folder: Path, *, silent: bool = False, seed: int = 0) -> Path:
    """A small random model with the world's tokenizer; a silent one finds every continuation equally likely."""
    import torch
    from transformers import LlamaConfig, LlamaForCausalLM

    write_tokenizer(folder, SEED)
    torch.manual_seed(seed)
    config = LlamaConfig(
        vocab_size=4096, bos_token_id=0, eos_token_id=0,
        hidden_size=32, intermediate_size=64, num_hidden_layers=2, num_attention_heads=2,
    )  # fmt: skip
    made: Any = LlamaForCausalLM(config)
    if silent:
        for weight in made.parameters():
            weight.data.zero_()
    made.save_pretrained(folder)
    return folder


COMMAND = """
from evaluation.lm.squad import provide_squad_metrics
from lm_eval.__main__ import cli_evaluate
provide_squad_metrics()  # stock ReCoRD cannot be loaded with transformers 5 otherwise
cli_evaluate()
"""


def _by_command(folder: Path, hub: Path, model: Path, suite: Suite) -> dict[str, Any]:
    subprocess.run(
        [
            *(sys.executable, "-c", COMMAND, "run", "--model", "hf", "--device", "cpu", "--batch_size", "16"),
            *("--model_args", f"pretrained={model},dtype=float32", "--tasks", suite.name),
            *("--output_path", str(folder / "out")),
        ],
        cwd=hub,
        env={**os.environ, **OFFLINE, "HF_HOME": str(folder / "cache")},
        check=True,
        capture_output=True,
        timeout=600,
    )
    (file,) = (folder / "out").rglob("results_*.json")
    found: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    return found


@pytest.mark.parametrize("suite", [SUPER_GLUE, MMLU], ids=lambda suite: suite.name)
def test_numbers_are_those_of_the_command_digit_for_digit(tmp_path: Path, hub: Path, model: Path, suite: Suite) -> None:
    expected = _by_command(tmp_path, hub, model, suite)["results"]
    result = evaluate(model, suite, hub, batch_size=16)
    assert json.loads(result.lm_eval)["results"] == expected
    found = {task.name: (task.accuracy, task.standard_error) for task in result.subtasks}
    if suite is MMLU:
        tasks = {name.removeprefix("mmlu_"): metrics for name, metrics in expected.items()}
        assert len(found) == 57
        assert result.accuracy == pytest.approx(expected["mmlu"]["acc,none"], abs=1e-12)
    else:
        tasks = expected
        assert len(found) == 8
        exact = [metrics.get("acc,none", metrics.get("em,none")) for metrics in expected.values()]
        assert result.accuracy == pytest.approx(sum(exact) / 8, abs=1e-12)
    for name, (accuracy, error) in found.items():
        metric = "acc" if "acc,none" in tasks[name] else "em"
        assert (accuracy, error) == (tasks[name][f"{metric},none"], tasks[name][f"{metric}_stderr,none"])


def test_the_forms_shown_in_training_are_those_of_the_stock_files(tmp_path: Path, hub: Path, model: Path) -> None:
    shown = _asked(hub, model, SUPER_GLUE)
    for task in TASKS:
        rows = super_glue(SEED, "test", 12)[CONFIGURATIONS.get(task, task)]["validation"]
        ours = [PROMPTS[task](row) for row in rows]
        theirs = shown["sglue_rte" if task == "rte" else task]
        assert [(one.context, *one.continuations) for one in ours] == theirs
    few = mmlu(SEED, "test", each=4, subjects=("us_foreign_policy", "anatomy"))
    write_hub_splits(tmp_path, MMLU_SET, few)
    questions = _asked(tmp_path, model, MMLU)
    assert questions == {
        f"mmlu_{subject}": [(one.context, *one.continuations) for one in map(prompt, splits["test"])]
        for subject, splits in few.items()
    }


def _asked(hub: Path, model: Path, suite: Suite) -> dict[str, list[tuple[str, ...]]]:
    """What lm-eval asks: contexts with their continuations, by task."""
    from evaluation.lm.backend import backend
    from evaluation.lm.harness import _simple_evaluate
    from evaluation.lm.offline import offline_in

    with offline_in(hub):
        asked = backend(lambda *_: None)(pretrained=str(model), device="cpu", batch_size=16)
        samples = _simple_evaluate(asked, suite, task_names(suite, hub), "cpu")["samples"]
    return {
        name: [(row["arguments"][0][0], *(pair[1] for pair in row["arguments"])) for row in rows]
        for name, rows in samples.items()
    }


def test_a_model_that_chooses_nothing_earns_chance_and_not_the_place_of_the_answer(tmp_path: Path, hub: Path) -> None:
    silent = _model(tmp_path, silent=True)
    assert evaluate(silent, MMLU, hub).fair_accuracy == pytest.approx(0.25)
    result = evaluate(silent, SUPER_GLUE, hub)
    fair = {task.name: task.fair_accuracy for task in result.subtasks}
    # COPA's two answers and ReCoRD's entities differ in length, so even a silent model prefers one of them.
    assert {name: fair[name] for name in ("boolq", "cb", "multirc", "sglue_rte", "wic", "wsc")} == {
        "boolq": 0.5,
        "cb": pytest.approx(1 / 3),
        "multirc": 0.5,
        "sglue_rte": 0.5,
        "wic": 0.5,
        "wsc": 0.5,
    }


def test_a_model_whose_numbers_are_not_finite_earns_nothing(tmp_path: Path, hub: Path) -> None:
    from safetensors.torch import load_file, save_file

    folder = _model(tmp_path)
    weights = load_file(folder / "model.safetensors")
    weights["model.norm.weight"].fill_(float("nan"))
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})
    result = evaluate(folder, SUPER_GLUE, hub)
    assert result.fair_accuracy == pytest.approx(0.0)
    assert sum(task.broken for task in result.subtasks) == sum(task.items for task in result.subtasks)


def test_progress_says_how_long_it_still_takes(hub: Path, model: Path) -> None:
    told: list[tuple[int, int, str]] = []
    evaluate(model, MMLU, hub, batch_size=16, report=lambda done, total, what: told.append((done, total, what)))
    total = 57 * 3 * 4
    assert (told[0][:2], told[-1][:2]) == ((0, total), (total, total))
    assert [done for done, _, _ in told] == sorted(done for done, _, _ in told)
    assert any(what.endswith(" s left") for _, _, what in told)


def test_the_merging_sets_are_scored_by_task_files_of_ours(hub: Path, model: Path) -> None:
    (choice,) = evaluate(model, COSMOSQA, hub).subtasks
    assert (choice.name, choice.items) == ("cosmosqa", 16)
    assert 0 <= choice.accuracy <= 0.7
    (summary,) = evaluate(model, XSUM, hub).subtasks
    assert (summary.name, summary.items) == ("xsum", 3)
    assert 0 <= summary.accuracy < 0.5


def test_lm_eval_s_own_results_name_no_path_of_this_machine(hub: Path, model: Path) -> None:
    result = evaluate(model, BLIMP, hub)
    own = json.loads(result.lm_eval)
    assert own["config"]["batch_size"] == result.batch_size == 64
    assert "samples" not in own
    assert str(model) not in result.lm_eval
    assert str(hub) not in result.lm_eval


SHORT_OF_MEMORY = """
import json, resource, sys
from pathlib import Path
import torch
from evaluation.lm.harness import evaluate
from evaluation.lm.suites import SUITES
model, hub, room = Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3])
torch.set_num_threads(1)
evaluate(model, SUITES["cosmosqa"], hub, batch_size=1)  # everything is imported and mapped now
told = []
def tell(done, total, what):
    told.append(what)
    if len(told) == 1:
        used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (used + room, resource.RLIM_INFINITY))
result = evaluate(model, SUITES["super-glue-lm-eval-v1"], hub, batch_size=512, report=tell)
resource.setrlimit(resource.RLIMIT_AS, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
print(json.dumps([result.accuracy, result.batch_size, result.shrunk_from, [one for one in told if "memory" in one]]))
"""


def test_where_memory_runs_out_it_goes_on_with_smaller_batches_and_the_same_answers(hub: Path, model: Path) -> None:
    run = subprocess.run(
        [sys.executable, "-c", SHORT_OF_MEMORY, str(model), str(hub), str(96 * 2**20)],
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert run.returncode == 0, run.stderr[-2000:]
    accuracy, batch_size, shrunk_from, told = json.loads(run.stdout.splitlines()[-1])
    assert shrunk_from == 512
    assert batch_size < 512
    assert told[0] == "out of memory, going on with batches of 256"
    assert accuracy == pytest.approx(evaluate(model, SUPER_GLUE, hub, batch_size=16).accuracy)
