"""What a training log claims is held against what was measured, and data sets against those allowed."""

import math

import pytest

from evaluation.model.training import (
    Log,
    Step,
    foreign_sources,
    started_trained,
    too_little_data,
    too_much_data,
    untrue_log,
)

LOG = Log((Step(1, 6.9, 512), Step(50, 3.0, 25_000), Step(100, 2.5, 50_000)))
DAMAGED = Log(trouble="model/training.jsonl is missing")


def test_an_honest_log_breaks_nothing() -> None:
    assert untrue_log(LOG, 3.1) == []
    assert too_little_data(LOG, 50_000) == []
    assert too_much_data(LOG, 50_000) == []
    assert started_trained(LOG, 1000) == []
    assert untrue_log(LOG, math.nan) == []


def test_a_log_that_claims_a_loss_the_model_does_not_have_is_untrue() -> None:
    told = untrue_log(LOG, 6.5)
    assert told[0]["rule"] == "training_evidence"
    assert told[0]["evidence"] == "the log ends at loss 4.13, measured on the corpus it is 6.50"
    assert untrue_log(DAMAGED, 3.0)[0]["evidence"] == DAMAGED.trouble


def test_data_consumed_is_held_against_data_available_and_allowed() -> None:
    assert too_little_data(LOG, 100_000)[0]["evidence"] == "trained on 50,000 tokens of 100,000 (50.0%)"
    assert too_much_data(LOG, 49_999)[0]["evidence"] == "trained on 50,000 tokens, 49,999 are allowed"
    assert too_little_data(DAMAGED, 10) == too_much_data(DAMAGED, 0) == []


def test_a_log_that_starts_where_only_a_trained_model_can_is_evidence_of_pretrained_weights() -> None:
    tuned = Log((Step(1, 3.2, 1024), Step(100, 2.9, 100_000)))
    told = started_trained(tuned, 50_257)
    assert told[0]["rule"] == "from_scratch"
    assert "starts at loss 3.20; random weights over 50,257 tokens have about 10.82" in told[0]["evidence"]
    late = Log((Step(100, 3.2, 1_000_000),))
    assert started_trained(late, 50_257) == started_trained(DAMAGED, 50_257) == []


@pytest.mark.parametrize(("used", "foreign"), [(["c4", "Alpaca "], []), (["c4", "cais/mmlu"], ["cais/mmlu"])])
def test_data_sets_that_are_not_allowed_are_named(used: list[str], foreign: list[str]) -> None:
    told = foreign_sources(used, ["C4", "alpaca"])
    assert [one["evidence"] for one in told] == [f"{name!r} is not among the allowed data" for name in foreign]
