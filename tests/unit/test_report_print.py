"""A report as text, Markdown and HTML: all of it said, nothing of it obeyed."""

import re
from html.parser import HTMLParser
from pathlib import Path

import msgspec
import pytest

from agent.record.values import Score, Violation
from mlrb_tui.views.metrics import Metric
from mlrb_tui.views.report.html import as_html
from mlrb_tui.views.report.plots import Line, Plot
from mlrb_tui.views.report.svg import nice_step, svg_of
from mlrb_tui.views.report.text import as_markdown, as_text
from mlrb_tui.views.report.values import Report
from tests.unit.report_logs import LOGS, golden, report_in

ALLOWED = {
    "html", "head", "meta", "title", "style", "body", "main", "header", "h1", "h2", "p", "span", "code", "section",
    "dl", "dt", "dd", "div", "table", "thead", "tbody", "tr", "th", "td", "figure", "figcaption", "b", "i", "svg",
    "line", "text", "polyline", "circle",
}  # fmt: skip
VOID = {"meta"}
RAW = re.compile(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


class Page(HTMLParser):
    """A page as it is parsed: its elements, their attributes, its text; raises where elements do not nest."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.seen: set[str] = set()
        self.attributes: set[str] = set()
        self.text: list[str] = []
        self._open: list[str] = []
        self.feed(page)
        self.close()
        assert self._open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.add(tag)
        self.attributes |= {name for name, _ in attrs}
        if tag not in VOID and not (self.get_starttag_text() or "").endswith("/>"):
            self._open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text.append(data)


def smoke(report: Report) -> Report:
    """The same, at the other scale."""
    assert report.score is not None
    small = msgspec.structs.replace(report.score, scale="smoke")
    gradings = tuple(
        msgspec.structs.replace(each, score=msgspec.structs.replace(each.score, scale="smoke"))
        for each in report.gradings
    )
    return msgspec.structs.replace(report, scale="smoke", score=small, gradings=gradings)


@pytest.mark.parametrize("form", ["text", "markdown"])
def test_report_of_a_recorded_run_reads_as_it_did(tmp_path: Path, form: str) -> None:
    report, plots = report_in(tmp_path, golden("short"))
    # The task's own words may change.
    report = msgspec.structs.replace(report, rules=report.rules[:0])
    printed = as_text(report, plots) if form == "text" else as_markdown(report)
    assert printed == (LOGS / f"short.report.{form}").read_text(encoding="utf-8")


def test_smoke_score_never_looks_like_a_full_one(tmp_path: Path) -> None:
    full, plots = report_in(tmp_path, golden("baby_lm"))
    # A rule may speak of the other scale.
    full = msgspec.structs.replace(full, rules=())
    small = smoke(full)
    for printed in (as_text(small, plots), as_markdown(small), as_html(small, plots)):
        assert "SMOKE scale" in printed
        assert "Nothing here compares with published" in printed
        assert "full scale" not in printed
        for line in printed.splitlines():
            assert "0.629" not in line or "smoke" in line.lower(), line
    for printed in (as_text(full, plots), as_markdown(full), as_html(full, plots)):
        assert "smoke" not in re.sub(r"(?s)<style>.*?</style>", "", printed).lower()


def test_what_speaks_against_a_score_is_said_in_full(tmp_path: Path) -> None:
    report, _ = report_in(tmp_path, golden("short"))
    evidence = "w" * 300 + " the end"
    score = Score(metric="payoff", value=9.9, baseline=1.0, violations=(Violation("no_peeking", evidence),))
    rule = next(iter(report.rules))
    broken = msgspec.structs.replace(rule, name="no_peeking", broken=True, evidence=evidence)
    report = msgspec.structs.replace(report, score=score, rules=(broken,), beats_baseline=False)
    for printed in (as_text(report), as_markdown(report), as_html(report)):
        assert "INVALID" in printed
        assert "BROKEN" in printed
        assert "the end" in printed
        assert "beaten" not in printed.replace("not beaten", "")


def test_live_report_says_so_everywhere(tmp_path: Path) -> None:
    report, plots = report_in(tmp_path, golden("crew"))
    for printed in (as_text(report, plots), as_markdown(report), as_html(report, plots)):
        assert "So far: the run has not ended" in printed


def test_hostile_log_is_printed_without_anything_that_is_obeyed(tmp_path: Path) -> None:
    report, plots = report_in(tmp_path, golden("hostile"))
    assert plots
    for printed in (as_text(report, plots), as_markdown(report), as_html(report, plots)):
        assert RAW.search(printed) is None
        printed.encode()
        assert max(map(len, printed.splitlines())) < 60_000


def test_page_has_only_our_elements_and_fetches_nothing(tmp_path: Path) -> None:
    evil = '"><script>alert(1)</script><img src=x onerror=alert(1)><!-- </style></svg> javascript:x https://evil.test/x'
    report, _ = report_in(tmp_path, golden("baby_lm"))
    words = msgspec.json.encode(report).decode()
    for told in ("mlrb/baby_lm", "8 layers, width 512, cosine, 12,000 steps", "lea", "plateau", "docker@gpu1", "loss"):
        words = words.replace(f'"{told}"', msgspec.json.encode(evil).decode())
    dirty = msgspec.json.decode(words.encode(), type=Report)
    plot = Plot(evil, Metric(evil, "training"), (Line(evil, (0.0, 1.0), (3.0, 2.0)),))
    page = as_html(dirty, [plot])
    parsed = Page(page)
    assert parsed.seen <= ALLOWED
    assert not {name for name in parsed.attributes if name.startswith("on")}
    assert parsed.attributes.isdisjoint({"src", "href", "srcset", "action", "style", "xlink:href"})
    assert "url(" not in page
    assert "@import" not in page
    assert "".join(parsed.text).count(evil) > 5
    assert "default-src 'none'" in page
    assert "prefers-color-scheme: dark" in page


def test_markdown_of_foreign_text_makes_no_markup(tmp_path: Path) -> None:
    report, _ = report_in(tmp_path, golden("short"))
    evil = "| x | [a](http://b) <b> `c` # d *e* ![f](g)\n# h www.evil.test"
    printed = as_markdown(msgspec.structs.replace(report, submission=evil))
    (line,) = [line for line in printed.splitlines() if line.startswith("| Submission |")]
    assert r"\| x \| \[a\](http\://b) \<b\> \`c\` \# d \*e\* \!\[f\](g) \# h www\.evil.test" in line
    assert not [line for line in printed.splitlines() if line.startswith("# h")]


def test_plot_breaks_where_numbers_stop_and_stays_in_its_frame() -> None:
    nan = float("nan")
    line = Line("loss", (0.0, 0.5, 1.0, 1.5, 2.0, 2.5), (3.0, 2.0, nan, nan, 1e308, -1e308))
    drawn = svg_of(Plot("loss", Metric("loss", "training"), (line,)))
    assert drawn.count("<polyline") == 2
    assert "nan" not in drawn
    assert "inf" not in drawn
    xs = [float(point.split(",")[0]) for found in re.findall(r'points="([^"]*)"', drawn) for point in found.split()]
    assert min(xs) >= 0
    assert max(xs) <= 560


def test_peak_of_a_long_curve_is_drawn() -> None:
    values = [1.0] * 5_000
    values[3_333] = 9.0
    line = Line("use", tuple(index / 1_000 for index in range(5_000)), tuple(values))
    drawn = svg_of(Plot("use", Metric("gpu 0 use", "gpu"), (line,)))
    ys = [float(point.split(",")[1]) for point in re.findall(r'points="([^"]*)"', drawn)[0].split()]
    assert len(ys) < 1_000
    assert min(ys) < 20


def test_one_value_for_all_and_none_at_all_are_plots_too() -> None:
    assert nice_step(0.0) == 1.0
    for values in ((5.0, 5.0), (0.0, 0.0), (float("nan"), float("nan"))):
        assert svg_of(Plot("x", Metric("x", "training"), (Line("x", (0.0, 0.0), values),))).startswith("<svg")


def test_plots_of_a_page_share_their_axis_of_time(tmp_path: Path) -> None:
    report, _ = report_in(tmp_path, golden("short"))
    plots = [Plot("loss", Metric("loss", "training"), (Line("loss", (0.0, end), (3.0, 2.0)),)) for end in (1.0, 2.0)]
    ends = [found.split()[-1].split(",")[0] for found in re.findall(r'points="([^"]*)"', as_html(report, plots))]
    assert ends == ["306.0", "550.0"]
