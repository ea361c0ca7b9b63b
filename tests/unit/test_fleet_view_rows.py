"""The fleet's list: what the filter lets by, how it is ordered, what the header counts."""

import itertools
import time

import pytest

from agent.record.values import Gpu, RunSummary
from mlrb_tui.views import fleet
from mlrb_tui.views.fleet_columns import UNICODE
from mlrb_tui.views.fleet_header import header
from tests.ui.fleet_homes import NOON, a_run, believable, ended, many

ROWS = fleet.build_rows(believable(), {})


def _found(query: str) -> set[str]:
    return {row.summary.run[:4] for row in fleet.filtered(ROWS, query)}


@pytest.mark.parametrize(
    ("query", "runs"),
    [
        ("state:paused", {"e6f7"}),
        ("state:frozen", {"e6f7"}),
        ("task:mlrb/*", {"7f3a", "5d20", "e6f7"}),
        ("task:*dilemma", {"03be", "d00d"}),
        ("model:gpt state:running", {"a91c", "5d20"}),
        ("model:GPT", {"a91c", "5d20", "44d1"}),
        ("7f3a", {"7f3a"}),
        ("baby sonnet", {"7f3a"}),
        ("task:mlrb/* -qwen", {"7f3a", "5d20"}),
        ("-state:ended -state:running -state:paused", {"b812"}),
        ("scale:full", {"7f3a"}),
        ("where:local", {"03be"}),
        ("state:alarm", {"5d20"}),
        ("did not answer", {"d00d"}),
    ],
)
def test_a_filter_lets_by_what_it_says_and_nothing_else(query: str, runs: set[str]) -> None:
    assert _found(query) == runs


@pytest.mark.parametrize("query", ["", "   ", "task:", "state: model:"])
def test_an_unfinished_filter_hides_nothing(query: str) -> None:
    assert len(_found(query)) == len(ROWS)


@pytest.mark.parametrize("query", ["[", "task:[", "task:[!", "-", "task:(*", "::", "nosuch:field", "\\", "task:**["])
def test_no_filter_that_can_be_typed_is_an_error(query: str) -> None:
    fleet.filtered(ROWS, query)


def test_what_asks_for_a_person_stands_first_and_what_ended_last() -> None:
    ordered = [row.summary.run[:4] for row in fleet.ordered(ROWS, "need")]
    assert ordered[0] == "5d20"
    assert set(ordered[1:4]) == {"7f3a", "a91c", "03be"}
    assert ordered[4:6] == ["e6f7", "b812"]
    assert ordered[6:] == ["44d1", "91aa", "c0ff", "d00d"]


def test_reversed_is_the_order_turned_round() -> None:
    for order in fleet.ORDERS:
        there = fleet.ordered(ROWS, order)
        back = fleet.ordered(ROWS, order, reverse=True)
        key = fleet.ORDERS[order]
        assert [key(row) for row in back] == [key(row) for row in reversed(there)]


def test_scores_of_different_tasks_are_not_ranked_among_each_other() -> None:
    tasks = [row.summary.task for row in fleet.ordered(fleet.build_rows(many(200), {}), "score")]
    changes = sum(one != other for one, other in itertools.pairwise(tasks))
    assert changes == len(set(tasks)) - 1


def test_an_invalid_score_never_outranks_a_valid_one() -> None:
    rows = fleet.ordered(fleet.build_rows(many(300), {}), "score")
    for one, other in itertools.pairwise(rows):
        if one.summary.task == other.summary.task and not _valid(one.summary):
            assert not _valid(other.summary)


def test_leftovers_of_an_ended_run_ask_for_a_person() -> None:
    run = a_run("abcd1234", "a/b", "m", leftovers=("container: still there",), **ended("killed", 5))
    assert fleet.mood(run) == "needs you"


def test_a_run_that_earned_nothing_is_not_marked_as_done() -> None:
    by_score = {(row.summary.outcome, row.summary.final_score is None): row.mood for row in ROWS}
    assert by_score["limit", True] == "unscored"
    untouched = next(row for row in ROWS if (score := row.summary.final_score) is not None and score.untouched)
    assert untouched.mood == "unscored"
    assert by_score["submitted", False] in ("done", "unscored")
    assert UNICODE.moods["unscored"] != UNICODE.moods["done"]


def test_rows_that_did_not_change_are_kept_with_what_was_worked_out() -> None:
    again = fleet.build_rows(believable(), {row.summary.run: row for row in ROWS})
    assert all(one is other for one, other in zip(ROWS, again, strict=True))
    changed = fleet.build_rows([a_run("7f3a21c4", "mlrb/baby_lm", "m", step=99)], {ROWS[0].summary.run: ROWS[0]})
    assert changed[0].summary.step == 99


def test_ids_are_cut_no_shorter_than_tells_them_apart() -> None:
    rows = fleet.build_rows([a_run("abcdef01", "a/b", "m"), a_run("abcdef77", "a/b", "m")], {})
    width = fleet.id_width(rows)
    assert len({row.summary.run[:width] for row in rows}) == 2
    assert fleet.id_width(ROWS) == 4


def test_the_header_counts_states_and_says_that_a_sum_is_a_lower_bound() -> None:
    rows = fleet.build_rows([*believable(), a_run("ffff0000", "a/b", "m", cost_usd=1.0, cost_known=False)], {})
    counts = fleet.count(rows, midnight=NOON - 12 * 3600)
    text = "".join(span.text for span in header(counts, counts, UNICODE, 160, shown=11, query="", order="need"))
    assert "4 running" in text
    assert "1 alarm" in text
    assert "1 paused" in text
    assert "3 ended today" in text
    assert "≥$56.92" in text


def test_five_thousand_runs_are_filtered_and_sorted_within_a_key_press() -> None:
    """Beside a reference measured here: as many dictionary look-ups and string searches as there are runs."""
    rows = fleet.build_rows(many(5_000), {})
    fleet.filtered(rows, "warm up the texts")
    start = time.perf_counter()
    for _ in range(10):
        sorted("qwen" in row.text for row in rows)
    reference = time.perf_counter() - start
    start = time.perf_counter()
    fleet.ordered(fleet.filtered(rows, "model:qwen* state:ended mlgym"), "need")
    assert time.perf_counter() - start < 20 * reference


def test_the_list_beside_the_look_names_alarms_before_what_ended() -> None:
    found = fleet.notices(ROWS, 5)
    assert {notice.run for notice in found[:2]} == {"5d20aa17"}
    assert found[0].text == "the loss has exploded: 7.9, it was 2.8"
    assert [notice.run[:4] for notice in found[2:]] == ["44d1", "91aa", "c0ff"]
    assert "untouched" in found[4].text


def _valid(summary: RunSummary) -> bool:
    score = summary.final_score
    return score is not None and score.valid


def test_the_header_adds_up_gpus_and_gpu_hours_of_the_runs_shown() -> None:
    busy, idle = Gpu(index=0, utilization_percent=97.0), Gpu(index=1, utilization_percent=0.0)
    runs = [
        a_run("aaaa0000", "a/b", "m", gpus=(busy, idle), gpu_held_s=7_200.0, gpu_busy_s=3_600.0, gpu_usd_per_hour=1.5),
        a_run("bbbb0000", "a/c", "m", gpu_held_s=216_000.0, gpu_busy_s=180_000.0, **ended("submitted", 60.0)),
    ]
    rows = fleet.build_rows(runs, {})
    counts = fleet.count(rows, midnight=0.0)

    def said(sums: fleet.FleetCounts, width: int) -> str:
        line = header(counts, sums, UNICODE, width, shown=2, query="", order="need")
        return "".join(span.text for span in line)

    assert "gpu 1/2 busy   held 62 h  idle 11 h   gpus $3.00" in said(counts, 160)
    assert "held 2.0 h  idle 1.0 h   gpus $3.00" in said(fleet.count(rows[:1], 0.0), 160)
    assert "held" not in said(counts, 80)
    assert "by need" in said(counts, 80)
    assert "held" not in said(fleet.count(fleet.build_rows(believable()[7:], {}), 0.0), 160)
