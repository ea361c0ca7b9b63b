"""A report in words: sections of facts, tables and lines, which text, Markdown and HTML all print."""

from collections.abc import Iterable, Sequence

from mlrb_tui.views import words
from mlrb_tui.views.report import work
from mlrb_tui.views.report.parts import Fact, Section, Table, Tone, moment
from mlrb_tui.views.report.values import Report, RuleHeld
from mlrb_tui.views.scores import figure


def heading(report: Report) -> str:
    """The report's title; the scale is part of it."""
    return f"{report.task} · {scale(report)} · {report.run}"


def scale(report: Report) -> str:
    """The scale as it is always said, so that a smoke score never looks like a full one."""
    return "SMOKE scale" if report.scale == "smoke" else "full scale"


def note(report: Report) -> str:
    """What must be known before any figure is read."""
    parts = []
    if report.so_far:
        parts.append(f"So far: the run has not ended; this is how it stood at {moment(report.times.told_at)}.")
    if report.scale == "smoke":
        parts.append("Smoke scale: small generated data. Nothing here compares with published or full-scale results.")
    return " ".join(parts)


def sections(report: Report) -> list[Section]:
    """All parts that have something to say, in their order."""
    found = (
        _paper(report), _outcome(report), _score(report), _rules(report), _limits(report), _people(report),
        _troubles(report), work.gpus(report), work.checkpoints(report), work.plan(report), _setting(report),
    )  # fmt: skip
    return [section for section in found if section.says_something]


def _paper(report: Report) -> Section:
    """The fields of the paper's report, in its order."""
    seconds = report.time_s
    return Section("Run report", (
        Fact("Task", f"{report.task} ({scale(report)})"),
        Fact("Run ID", report.run),
        Fact("Submission", report.submission or "none", lines=True),
        Fact("Model path", report.model_path or _wanted(report)),
        Fact("Tokens", f"{report.tokens:,}"),
        Fact("Turns", f"{report.turns:,}"),
        Fact("Time", f"{seconds:,.1f} s = {seconds / 60:,.2f} min = {seconds / 3600:,.3f} h"),
    ))  # fmt: skip


def _wanted(report: Report) -> str:
    return f"{', '.join(report.artefact)} (where the task wants it)" if report.artefact else "not named"


def _outcome(report: Report) -> Section:
    said = f"{report.outcome or report.state}{f' {report.outcome_limit}' if report.outcome_limit else ''}"
    times = report.times
    tone: Tone = {"submitted": "ok", "failed": "bad", "lost": "bad"}.get(report.outcome or "", "warn")  # type: ignore[assignment]
    return Section("Outcome", (
        Fact("Outcome", f"{said}, so far" if report.so_far else said, tone),
        Fact("Because", report.outcome_detail),
        Fact("Started", moment(times.started_at) or "not yet"),
        Fact("Ended", moment(times.ended_at)),
        Fact("Working time", words.duration(times.working_s)),
        Fact("Paused", words.duration(times.paused_s) if times.paused_s else ""),
        Fact("Waited for the model", words.duration(times.waited_s) if times.waited_s >= 1 else ""),
        Fact("Waited for a person", words.duration(times.approval_s) if times.approval_s >= 1 else ""),
        Fact("Errors", str(report.errors) if report.errors else ""),
        Fact("Leftovers", "; ".join(report.leftovers), "bad"),
    ))  # fmt: skip


def _score(report: Report) -> Section:
    found = report.score
    if found is None:
        return Section("Score", (Fact("Score", "no score: nothing was graded", "warn"),))
    value = "no value" if found.value is None else figure(found.value)
    error = f" ± {found.standard_error:.2g}" if found.standard_error is not None else ""
    which = "final" if report.score_is_final else "not final"
    better = "higher is better" if found.direction == "maximize" else "lower is better"
    details = tuple((name, figure(each)) for name, each in found.details.items())
    return Section(f"Score · {scale(report)}", (
        Fact("Score", f"{found.metric} {value}{error} ({found.scale} scale, {found.split} split, {which})"),
        Fact("Direction", better),
        Fact("Baseline", *_baseline(report)),
        Fact("Validity", *_validity(report)),
        Fact("Grader's error", found.error, "bad"),
        Fact("Graded", f"{found.protocol} protocol{f', in {found.isolation}' if found.isolation else ''}"),
        Fact("Submission", f"sha256 {found.artefact_sha256}" if found.artefact_sha256 else ""),
        Fact("Kept files", ", ".join(found.files)),
    ), (
        Table(("Detail", "Value"), details),
        Table(("At", "Purpose", "Split", "Score", "Valid", "By"), tuple(_gradings(report))),
    ))  # fmt: skip


def _baseline(report: Report) -> tuple[str, Tone]:
    found = report.score
    if found is None or found.baseline is None:
        return "none", ""
    noise = f", spread {found.baseline_spread:.2g}" if found.baseline_spread else ""
    said = f"{figure(found.baseline)} at {found.scale} scale{noise}"
    if report.beats_baseline:
        return f"{said}: beaten", "ok"
    return (f"{said}: not beaten", "warn") if found.valid and found.value is not None else (said, "")


def _validity(report: Report) -> tuple[str, Tone]:
    found = report.score
    if found is None:
        return "", ""
    if found.untouched:
        return "untouched starter: earns nothing", "bad"
    if found.valid:
        flagged = words.count(len(found.violations), "violation")
        return (f"valid, flagged with {flagged}", "warn") if found.violations else ("valid", "ok")
    return "INVALID", "bad"


def _gradings(report: Report) -> Iterable[tuple[str, ...]]:
    for each in report.gradings:
        score = each.score
        value = "–" if score.value is None else f"{score.metric} {figure(score.value)} {score.scale}"
        valid = "yes" if score.valid else "no"
        yield moment(each.at), each.purpose, score.split, value, valid, each.by


def _rules(report: Report) -> Section:
    broken = tuple(
        Fact(rule.name, f"BROKEN, {_weight(rule)}: {rule.evidence or 'no evidence given'}",
             "bad" if rule.invalidates else "warn", lines=True)
        for rule in report.rules
        if rule.broken
    )  # fmt: skip
    rows = tuple(
        (rule.name, {None: "not graded", False: "nothing found", True: "BROKEN"}[rule.broken], _weight(rule), rule.text)
        for rule in report.rules
        if rule.text
    )
    return Section("Rules", broken, (Table(("Rule", "Found", "If broken", "What it says"), rows),))


def _weight(rule: RuleHeld) -> str:
    return "score invalid" if rule.invalidates else "score flagged"


def _limits(report: Report) -> Section:
    limits, usage = report.limits, report.usage
    cost = f"{'' if report.cost_known else '≥'}${report.cost_usd:,.2f}"
    known = "" if report.cost_known else " (some calls have no known price)"
    cached = f", {usage.cache_read_tokens:,} of the input read from a cache" if usage.cache_read_tokens else ""
    thought = f", {usage.reasoning_tokens:,} of the output reasoning" if usage.reasoning_tokens else ""
    time_s = None if limits.time_s is None else words.duration(limits.time_s)
    rows = (
        ("time (working)", words.duration(report.times.working_s), time_s or "no limit"),
        ("steps", f"{report.turns:,}", "no limit" if limits.steps is None else f"{limits.steps:,}"),
        ("cost", cost, "no limit" if limits.cost_usd is None else f"${limits.cost_usd:,.2f}"),
        ("tokens", f"{report.tokens:,}", "no limit" if limits.tokens is None else f"{limits.tokens:,}"),
    )
    changes = tuple(
        (moment(each.at), words.limits(each.limits), each.by, each.why or "–") for each in report.limit_changes
    )
    return Section("Cost and limits", (
        Fact("Model cost", f"{cost}{known}"),
        Fact("Tokens", f"{usage.input_tokens:,} in, {usage.output_tokens:,} out{cached}{thought}"),
    ), (
        Table(("Limit", "Used", "Of"), rows),
        Table(("Changed at", "To", "By", "Why"), changes),
    ))  # fmt: skip


def _people(report: Report) -> Section:
    count = words.count(report.interventions, "intervention")
    helped = f"{count}: a helped run" if report.interventions else "none: nobody helped"
    asked = tuple(
        (moment(each.at), words.verb(each.verb) + (f" worker {each.worker}" if each.worker else ""), each.text or "–",
         f"{each.who or 'someone'}{f' ({each.origin})' if each.origin else ''}",
         each.fate + (f": {each.detail}" if each.detail else ""))
        for each in report.requests
    )  # fmt: skip
    answered = tuple(
        (moment(each.at), f"{each.tool} {each.call}".strip() or "–", each.decision, each.by or "–", each.reason or "–")
        for each in report.approvals
    )
    paused = tuple(
        (moment(each.at), "still" if each.ended_at is None else words.duration(each.ended_at - each.at),
         "frozen" if each.strength == "now" else f"at the next {each.strength}", each.by or "–",
         each.why or (f"limit on {each.limit}" if each.limit else "–"))
        for each in report.pauses
    )  # fmt: skip
    return Section("People", (Fact("Interventions", helped, "warn" if report.interventions else ""),), (
        Table(("At", "Request", "Text", "Who", "What came of it"), asked),
        Table(("At", "Call", "Decision", "By", "Reason"), answered),
        Table(("Paused at", "For", "How", "By", "Why"), paused),
    ))  # fmt: skip


def _troubles(report: Report) -> Section:
    alarms = tuple(
        (moment(each.at), each.alert, each.message, each.hint or "–", moment(each.cleared_at) or "stands")
        for each in report.alarms
    )
    outages = tuple(
        (moment(each.at), each.reason, "not" if each.away_s is None else f"after {words.duration(each.away_s)}")
        for each in report.outages
    )
    return Section("Alarms", (
        Fact("Alarms", words.count(len(alarms), "alarm") if alarms else "none"),
        Fact("Model calls that failed", str(report.model_failures) if report.model_failures else ""),
        Fact("Taken up by another runner", words.count(report.taken_up, "time") if report.taken_up else ""),
    ), (
        Table(("At", "Alarm", "Message", "What helps", "Cleared"), alarms),
        Table(("Sandbox away at", "Why", "Back"), outages),
    ))  # fmt: skip


def _setting(report: Report) -> Section:
    found = report.setting
    network = {None: "", True: "allowed", False: "none"}[found.network]
    isolates = {None: "", True: "", False: "isolates nothing"}[found.isolates]
    return Section("Setting", (
        Fact("Scaffold", found.scaffold),
        Fact("Model", found.model),
        Fact("Supervisor's model", found.supervisor_model),
        Fact("Sandbox", _joined((found.sandbox, found.image, isolates))),
        Fact("Network", network),
        Fact("Host", found.host),
        Fact("Seed", str(found.seed)),
        Fact("Launched by", found.who),
        Fact("mlrb version", found.version),
        Fact("Report of", moment(report.times.told_at)),
    ))  # fmt: skip


def _joined(parts: Sequence[str]) -> str:
    return " · ".join(part for part in parts if part)
