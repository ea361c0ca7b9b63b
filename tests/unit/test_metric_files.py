"""Metrics files are read as they grow, each row once; data sets and rubbish are left alone."""

import json
import struct
from pathlib import Path

import pytest

from agent.telemetry import tfevents
from agent.telemetry.metric_files import MOST_FILES, MOST_ROWS, PIECE_BYTES, Events, MetricFiles, NoMetrics, json_row

_RECORDED = Path(__file__).parents[1] / "logs" / "training" / "events.out.tfevents.recorded"


class Reading:
    """Files in memory, read as a run reads them."""

    def __init__(self, given: dict[str, bytes] | None = None) -> None:
        self.files = dict(given or {})
        self.metrics = MetricFiles()
        self.metrics.start_with(self.listing())

    def listing(self) -> list[tuple[str, int, float]]:
        """Path, size and time of each."""
        return [(path, len(data), 0.0) for path, data in self.files.items()]

    def look(self) -> list[tuple[str, int | None, dict[str, float], tuple[str, ...]]]:
        """What is new, piece after piece."""
        found = []
        for file in self.metrics.grown(self.listing()):
            while file.read_bytes < file.size_bytes:
                before = file.read_bytes
                piece = self.files[file.path][before : before + PIECE_BYTES]
                found += [
                    (row.path, row.training_step, row.values, row.diverged) for row in self.metrics.take(file, piece)
                ]
                if file.read_bytes == before:
                    break
        return found


def frame(content: bytes) -> bytes:
    """A record as TensorBoard writes it."""
    length = struct.pack("<Q", len(content))
    checksum = tfevents.masked_crc(content) if len(content) <= tfevents.LONGEST_CHECKED_BYTES else 0
    return length + struct.pack("<I", tfevents.masked_crc(length)) + content + struct.pack("<I", checksum)


def line(**figures: object) -> bytes:
    """One of a metrics file."""
    return json.dumps(figures).encode() + b"\n"


def test_row_is_read_once_and_a_line_that_is_half_written_waits() -> None:
    reading = Reading()
    whole = line(step=1, loss=2.5, lr=1e-3) + line(step=2, loss=2.25)
    reading.files["out/metrics.jsonl"] = whole[:-5]
    assert reading.look() == [("out/metrics.jsonl", 1, {"loss": 2.5, "lr": 0.001}, ())]
    reading.files["out/metrics.jsonl"] = whole
    assert reading.look() == [("out/metrics.jsonl", 2, {"loss": 2.25}, ())]
    assert reading.look() == []


def test_names_are_those_that_printed_lines_have() -> None:
    row = json_row(
        line(_step=7, **{"train/loss": 2.0, "val/Accuracy": 0.5, "eval": {"loss": 3.0}, "tokens_seen": 4096})
    )
    assert row is not None
    assert row.values == {"loss": 2.0, "eval_accuracy": 0.5, "eval_loss": 3.0, "tokens": 4096.0}
    assert row.training_step == 7


@pytest.mark.parametrize("value", ["NaN", "Infinity", "-Infinity", "1e999", '"nan"'])
def test_loss_that_is_no_number_is_a_fact(value: str) -> None:
    row = json_row(b'{"step": 5, "loss": ' + value.encode() + b', "lr": 0.5}')
    assert row is not None
    assert (row.values, row.diverged) == ({"lr": 0.5}, ("loss",))


@pytest.mark.parametrize(
    "raw",
    [b'{"text": "hello", "id": 5}\n' * 5, b'{"label": 1, "score": 0.5}\n' * 5, b"not json\n" * 5, b"[1, 2]\n" * 5,
     b'{"a":' * 5_000 + b"\n", b"\xff\xfe\n" * 5, b'{"step": 1, "text": "x"}\n' * 5],
)  # fmt: skip
def test_file_that_holds_no_metrics_is_left_alone(raw: bytes) -> None:
    reading = Reading()
    reading.files["data.jsonl"] = raw
    assert reading.look() == []
    reading.files["data.jsonl"] += line(step=1, loss=1.0)
    assert len(raw.splitlines()) < 3 or reading.look() == []


def test_what_was_there_before_the_agent_is_its_data_until_it_changes() -> None:
    reading = Reading({"train.jsonl": line(step=1, loss=9.0)})
    assert reading.look() == []
    reading.files["train.jsonl"] += line(step=2, loss=8.0)
    assert [row[1] for row in reading.look()] == [1, 2]


def test_file_that_is_written_anew_is_read_anew() -> None:
    reading = Reading()
    reading.files["m.jsonl"] = line(step=1, loss=2.0) + line(step=2, loss=1.0)
    assert len(reading.look()) == 2
    reading.files["m.jsonl"] = line(step=1, loss=5.0)
    assert reading.look() == [("m.jsonl", 1, {"loss": 5.0}, ())]


def test_long_file_is_thinned_evenly_and_keeps_its_last_row() -> None:
    reading = Reading()
    reading.files["m.jsonl"] = b"".join(line(step=step, loss=1.0) for step in range(5_000))
    steps = [row[1] for row in reading.look()]
    assert 100 < len(steps) <= 400
    assert steps[-1] == 4_999
    assert steps == sorted(steps, key=lambda step: step or 0)


def test_line_without_an_end_and_more_files_than_one_would_read_cost_little() -> None:
    reading = Reading()
    reading.files["m.jsonl"] = line(step=1, loss=2.0) + b"x" * (3 * PIECE_BYTES)
    reading.files |= {f"{number}.jsonl": line(step=1, loss=2.0) for number in range(2 * MOST_FILES)}
    assert len(reading.look()) == MOST_FILES
    reading.files["m.jsonl"] += b"\n" + line(step=2, loss=1.0)
    assert reading.look() == [("m.jsonl", 2, {"loss": 1.0}, ())]


def test_files_that_always_grow_do_not_keep_the_others_waiting() -> None:
    reading = Reading()
    reading.files |= {f"{number}.jsonl": line(step=1, loss=2.0) for number in range(6)}
    seen = set()
    for step in range(2, 5):
        for file in reading.metrics.grown(reading.listing())[:4]:
            reading.metrics.take(file, reading.files[file.path][file.read_bytes :])
            seen.add(file.path)
        for number in range(4):
            reading.files[f"{number}.jsonl"] += line(step=step, loss=2.0)
    assert len(seen) == 6


def test_events_that_tensorboard_wrote_are_read_however_they_are_cut() -> None:
    data = _RECORDED.read_bytes()
    path = "runs/events.out.tfevents.1"
    reading = Reading()
    found = []
    for end in range(0, len(data) + 1, 37):
        reading.files[path] = data[:end]
        found += reading.look()
    reading.files[path] = data
    found += reading.look()
    losses = [(step, values["loss"]) for _, step, values, _ in found if "loss" in values]
    assert losses == [(0, 4.0), (10, 2.0), (20, 1.333333), (30, 1.0), (40, 0.8), (50, 0.6666667)]
    accuracies = [values["eval_accuracy"] for _, _, values, _ in found if "eval_accuracy" in values]
    assert accuracies == [0.0, 0.1, 0.2, 0.3, 0.4, 0.5]
    assert [diverged for _, _, _, diverged in found if diverged] == [("loss",)]


def test_scalar_that_tensorflow_wrote_as_a_tensor_is_read() -> None:
    tensor = b"\x08\x01\x12\x00\x22\x04" + struct.pack("<f", 2.5)
    value = b"\x0a\x04loss" + b"\x42" + bytes([len(tensor)]) + tensor
    record = b"\x10\x07\x2a" + bytes([len(value) + 2]) + b"\x0a" + bytes([len(value)]) + value
    assert tfevents.scalars(record) == [tfevents.Scalar("loss", 7, 2.5, 0.0)]


def test_record_too_long_to_hold_numbers_is_passed_over() -> None:
    picture = frame(bytes(5 * PIECE_BYTES))
    reading = Reading()
    reading.files["events.out.tfevents.1"] = picture + _RECORDED.read_bytes()
    assert len(reading.look()) == 7


@pytest.mark.parametrize(
    "raw", [b"\xff" * 4_000, bytes(range(256)) * 40, struct.pack("<QI", 3, 0) + b"\xff\xff\xff1234"]
)
def test_file_that_only_has_the_name_of_events_is_left_alone(raw: bytes) -> None:
    with pytest.raises(NoMetrics):
        Events().rows(raw)
    reading = Reading()
    reading.files["events.out.tfevents.1"] = raw
    assert reading.look() == []


def test_damaged_record_is_passed_over_and_a_damaged_length_ends_the_file() -> None:
    data, whole = _RECORDED.read_bytes(), []
    while data:
        length = tfevents.next_record_bytes(data)
        whole.append(data[:length])
        data = data[length:]
    last_loss = max(at for at, record in enumerate(whole) if b"train/loss" in record)
    reading = Reading()
    damaged = whole[last_loss].replace(b"train/loss", b"train/lost")
    reading.files["events.out.tfevents.1"] = b"".join([*whole[:last_loss], damaged, *whole[last_loss + 1 :]])
    found = reading.look()
    assert [row[1] for row in found] == [0, 10, 20, 30, 40, 50]
    assert not any(row[3] for row in found)
    cut = b"\x07" + whole[last_loss - 2][1:]
    reading.files["events.out.tfevents.2"] = b"".join([*whole[: last_loss - 2], cut, *whole[last_loss - 1 :]])
    assert [row[1] for row in reading.look()] == [0, 10, 20, 30, 40]
    reading.files["events.out.tfevents.2"] += b"".join(whole)
    assert reading.look() == []


@pytest.mark.parametrize(
    ("row", "values", "step"),
    [
        ({"current_steps": 10, "total_steps": 375, "loss": 1.2, "lr": 1e-4, "elapsed_time": "0:00:12"},
         {"loss": 1.2, "lr": 1e-4}, 10),
        ({"epoch": 1, "train_loss": "12.3", "train_ppl": "600", "train_num_updates": "100"},
         {"epoch": 1.0, "loss": 12.3, "perplexity": 600.0}, 100),
        ({"step": 5, "split": "val", "loss": 3.0, "lr": 0.1}, {"eval_loss": 3.0, "lr": 0.1}, 5),
        ({"step": 5, "phase": "train", "loss": 3.0}, {"loss": 3.0}, 5),
        ({"step": 5, "policy_loss": 0.5}, {"policy_loss": 0.5}, 5),
    ],
)  # fmt: skip
def test_rows_of_other_writers_are_read(row: dict[str, object], values: dict[str, float], step: int | None) -> None:
    found = json_row(line(**row))
    assert found is not None
    assert (found.values, found.training_step) == (values, step)


def test_file_without_end_is_given_up() -> None:
    reading = Reading()
    reading.files["m.jsonl"] = b"".join(line(step=step, loss=1.0) for step in range(MOST_ROWS))
    reading.look()
    reading.files["m.jsonl"] += line(step=MOST_ROWS, loss=1.0)
    assert reading.look() == []
