"""Command output in the record: whole, in order, bounded, whatever the command prints."""

from agent.record import events as ev
from agent.record.values import Blob
from tests.process.runner_runs import Run, Runs, bash, script_line


def _output(run: Run) -> str:
    return "".join(run.text(body.text) for body in run.bodies(ev.ToolOutput))


def test_long_output_is_stored_whole_and_shown_to_the_model_clipped(runs: Runs) -> None:
    run = runs.start([bash("seq 1 50000"), script_line("submit")])
    run.ended()
    assert _output(run) == "".join(f"{number}\n" for number in range(1, 50001))
    finished = run.bodies(ev.ToolFinished)[0]
    observation = run.text(finished.observation)
    assert len(observation) < 17_000
    assert observation.startswith("1\n2\n")
    assert "\n50000\n[exit code 0" in observation
    assert "characters left out" in observation
    assert finished.output_lines == 50000
    assert not any(isinstance(body.text, Blob) for body in run.bodies(ev.ToolOutput))


def test_ten_thousand_redraws_make_a_few_rows_and_end_as_a_terminal_would(runs: Runs) -> None:
    bar = "for i in $(seq 1 10000); do printf '\\r%5d/10000 it' $i; done; echo; echo done"
    run = runs.start([bash(bar), script_line("submit")])
    run.ended()
    assert len(run.bodies(ev.ToolOutput)) < 30
    observation = run.text(run.bodies(ev.ToolFinished)[0].observation)
    assert observation.startswith("10000/10000 it\ndone\n")


def test_character_split_between_two_writes_arrives_whole(runs: Runs) -> None:
    run = runs.start([bash(r"printf 'caf\303'; sleep 0.3; printf '\251 \377 end\n'"), script_line("submit")])
    run.ended()
    assert _output(run) == "café � end\n"


def test_nuls_and_escapes_are_kept_as_they_came(runs: Runs) -> None:
    run = runs.start([bash(r"printf 'a\000b \033[31mred\n'"), script_line("submit")])
    run.ended()
    assert _output(run) == "a\0b \x1b[31mred\n"


def test_progress_in_the_output_is_seen_while_the_command_runs(runs: Runs) -> None:
    lines = "for i in 1 2 3; do echo step $i/3 loss 0.$i; sleep 0.2; done; sleep 30"
    run = runs.start([bash(lines)])
    run.wait_for(ev.ProgressSeen, lambda body: body.progress.step == 3)
    assert run.bodies(ev.ToolFinished) == []
    assert [body.progress.values["loss"] for body in run.bodies(ev.ProgressSeen)] == [0.1, 0.2, 0.3]
    assert run.summary().loss_tail == (0.1, 0.2, 0.3)


def test_checkpoints_are_seen_once_they_have_settled(runs: Runs) -> None:
    save = "mkdir -p ckpt/step_300 && head -c 5000 /dev/zero > ckpt/step_300/model.safetensors; sleep 30"
    run = runs.start([bash(save)])
    seen = run.wait_for(ev.CheckpointSeen)
    assert (seen.path, seen.size_bytes, seen.training_step) == ("ckpt/step_300/model.safetensors", 5000, 300)
