"""A report's data: the paper's fields first, and nothing that speaks against a run left out."""

from collections.abc import Iterable
from pathlib import Path

import msgspec
import pytest

from agent.record import events as ev
from agent.record.summary import fold_all
from agent.record.values import Limits, Proof, RunSummary, Score, Violation
from mlrb_tui.commands.output import whole
from mlrb_tui.views.report.build import report_of
from mlrb_tui.views.report.values import Report
from tasks.catalogue import load
from tests.unit.report_logs import golden, report_in

PAPERS = ("task", "run", "submission", "model_path", "tokens", "turns", "time_s")


def made(bodies: Iterable[ev.AnyBody], **changes: object) -> Report:
    """The report of a run in which these follow each other, ten seconds apart."""
    created = ev.RunCreated(
        run="r1", task="mlgym/house_price", scale="smoke", scaffold="react", model="m", sandbox="local", seed=7,
        limits=Limits(steps=5), version="0.1.0",
    )  # fmt: skip
    every: list[ev.AnyBody] = [created, ev.RunStarted(pid=1, host="box"), *bodies]
    events = [ev.Event(seq=seq, at=1_000.0 + 10 * seq, body=body, step=1) for seq, body in enumerate(every, 1)]
    summary: RunSummary = msgspec.structs.replace(fold_all(events), **changes)
    return report_of(events, summary, task=load("mlgym/house_price").spec)


def test_recorded_run_gives_the_papers_fields_first_and_in_its_order(tmp_path: Path) -> None:
    report, _ = report_in(tmp_path, golden("baby_lm"))
    assert report.__struct_fields__[:7] == PAPERS
    assert [getattr(report, name) for name in PAPERS] == [
        "mlrb/baby_lm", "7f3a21c4", "8 layers, width 512, cosine, 12,000 steps", "", 231_480, 12, 7657.9,
    ]  # fmt: skip
    assert report.artefact == ("model",)
    assert (report.outcome, report.so_far, report.interventions) == ("submitted", False, 2)
    assert [(each.verb, each.fate) for each in report.requests] == [
        ("pause", "done"), ("resume", "done"), ("inject", "done"),
    ]  # fmt: skip
    assert report.score is not None
    assert (report.score.value, report.score.direction, report.beats_baseline) == (0.629, "maximize", True)
    (pause,) = report.pauses
    assert (pause.strength, pause.by, pause.ended_at is not None) == ("step", "lea", True)
    assert len(report.checkpoints) == 6  # each file once, as it was seen last
    assert report.gpu.hours.reserved == pytest.approx(report.gpu.hours.busy + report.gpu.hours.idle, abs=1e-5)
    assert len(report.gpu.commands) == 13
    assert (report.setting.image, report.setting.seed, report.setting.version) == ("mlrb-sandbox:0.1.0", 3, "0.1.0")


def test_json_has_every_field_and_is_a_report_again(tmp_path: Path) -> None:
    for name in ("baby_lm", "crew", "short", "gpu_trouble", "hostile"):
        report, _ = report_in(tmp_path / name, golden(name))
        told = msgspec.json.decode(msgspec.json.encode(whole(report)))
        assert list(told) == list(Report.__struct_fields__)
        assert "beats_baseline" in (told["score"] or {"beats_baseline": None})
        assert msgspec.convert(told, Report) == report


def test_live_run_is_told_so_far_and_a_workers_word_is_no_submission(tmp_path: Path) -> None:
    report, _ = report_in(tmp_path, golden("crew"))
    assert report.so_far
    assert report.outcome is None
    assert report.submission == ""
    assert report.plan.workers_started == 3
    assert report.plan.changes == 1
    assert [step.state for step in report.plan.steps].count("done") == 1
    assert [(each.fate, each.worker) for each in report.requests] == [("waiting", 3)]


def test_refused_submission_is_none() -> None:
    called = ev.ToolCalled(call_id="c", tool="submit", arguments={"summary": "done"})
    assert made([called]).submission == "done"
    refused = ev.ToolFinished(call_id="c", message_id="m", tool="submit", failed=True, rejected_by="ann")
    assert made([called, refused]).submission == ""


def test_broken_rule_stands_with_its_evidence_and_others_are_not_called_broken() -> None:
    first, *others = load("mlgym/house_price").spec.rules
    violations = (Violation(first.name, "line one\nline two"), Violation("made_up", "seen"))
    score = Score(metric="r2", value=0.9, violations=violations)
    report = made([ev.Graded(grading_id="g", purpose="final", score=score)])
    found = {rule.name: rule for rule in report.rules}
    assert (found[first.name].broken, found[first.name].evidence) == (True, "line one\nline two")
    assert (found["made_up"].broken, found["made_up"].text) == (True, "")
    assert all(found[rule.name].broken is False for rule in others)


def test_rules_are_not_called_kept_where_grading_came_to_no_value() -> None:
    assert {rule.broken for rule in made([]).rules} == {None}
    failed = Score(metric="r2", error="the grader ran out of time")
    assert {rule.broken for rule in made([ev.Graded(grading_id="g", purpose="final", score=failed)]).rules} == {None}


def test_troubles_and_changes_are_kept_with_who_and_why() -> None:
    report = made(
        [
            ev.LimitsChanged(limits=Limits(steps=9), by="ann", why="nearly there"),
            ev.SandboxAway(reason="tunnel"),
            ev.SandboxBack(away_s=8.0),
            ev.AlertRaised(alert="plateau", message="flat"),
            ev.AlertRaised(alert="disk", message="full"),
            ev.AlertCleared(alert="plateau"),
            ev.ModelFailed(call_id="c", reason="529", retry_in_s=1.0),
            ev.RunStarted(pid=2, host="box", resumed=True),
            ev.ApprovalAsked(approval_id="a", call_id="c", tool="bash", summary="rm x"),
            ev.ApprovalGiven(approval_id="a", decision="rejected", by="ann", reason="no"),
            ev.RunPaused(strength="now", by="ann"),
        ]
    )
    assert [(each.by, each.why, each.limits.steps) for each in report.limit_changes] == [("ann", "nearly there", 9)]
    assert [(each.reason, each.away_s) for each in report.outages] == [("tunnel", 8.0)]
    assert [(each.alert, each.cleared_at is not None) for each in report.alarms] == [("plateau", True), ("disk", False)]
    assert (report.model_failures, report.taken_up) == (1, 1)
    assert [(each.tool, each.call, each.decision, each.reason) for each in report.approvals] == [
        ("bash", "rm x", "rejected", "no")
    ]
    assert report.pauses[0].ended_at is None


def test_every_text_is_printable_and_bounded() -> None:
    trouble = "\x00\x1b[31mred \udc00 " + "z" * 90_000
    report = made([ev.ToolCalled(call_id="c", tool="submit", arguments={"summary": trouble})],
                  leftovers=(trouble,), proofs=(Proof(trouble, False, trouble),), outcome_detail=trouble)  # fmt: skip
    for text in (report.submission, report.leftovers[0], report.proofs[0].what, report.outcome_detail):
        assert text.startswith("␀red � z")
        assert len(text) < 5_000
