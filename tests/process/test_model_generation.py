"""What a model writes greedily does not depend on its neighbours in a batch or on settings that lie beside it."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from evaluation.model.artefact import Kind, Loaded, clean_copy, kind_of, load
from evaluation.model.generation import write_greedily
from tests.process.script_writers import write_writer

for missing in ("torch", "transformers"):
    pytest.importorskip(missing)

pytestmark = [pytest.mark.eval, pytest.mark.slow]

ANSWERS = {"one two three four five": "a b", "six seven": "c d e", "eight": "f"}


@pytest.fixture(scope="module", params=["causal", "seq2seq"])
def writer(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Kind, Loaded]]:
    folder = tmp_path_factory.mktemp("writer") / "model"
    write_writer(folder, ANSWERS, kind=request.param)
    with clean_copy(folder) as copy:
        assert kind_of(copy) == request.param
        yield request.param, load(copy, kind=request.param)


def test_answers_come_in_the_order_of_the_prompts_whatever_is_in_one_batch(writer: tuple[Kind, Loaded]) -> None:
    kind, loaded = writer
    told: list[int] = []
    one_by_one = write_greedily(loaded, list(ANSWERS), kind=kind, new_tokens=8, batch=1, done=told.append)
    together = write_greedily(loaded, list(ANSWERS), kind=kind, new_tokens=8)
    assert one_by_one == together == list(ANSWERS.values())
    assert told == [1, 2, 3]


def test_no_more_tokens_are_written_than_asked_for(writer: tuple[Kind, Loaded]) -> None:
    kind, loaded = writer
    loaded.model.generation_config.min_new_tokens = 20
    assert write_greedily(loaded, ["six seven"], kind=kind, new_tokens=1) == ["c d e"]


def test_a_configuration_that_is_none_is_refused_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text('{"model_type": "mine\\n"}')
    with pytest.raises(ValueError, match="cannot be loaded") as refused:
        kind_of(tmp_path)
    assert "\n" not in str(refused.value)
