"""`mlrb doctor`: what works here, and how to mend what does not."""

import argparse

from agent.record.home import Home
from agent.record.text import one_line
from mlrb_tui.commands.output import print_json
from mlrb_tui.control.doctor import Finding, examine

_EXIT_BAD = 6
_SIGNS = {"ok": "ok  ", "note": "note", "bad": "BAD "}


def doctor(options: argparse.Namespace) -> int:
    """A line a finding as it is found, with what mends it below; 6 where something is broken."""
    found = []
    for finding in examine(Home.of_user()):
        found.append(finding)
        print_json(finding) if options.json else _print(finding)
    return _EXIT_BAD if any(finding.state == "bad" for finding in found) else 0


def _print(finding: Finding) -> None:
    print(f"{_SIGNS[finding.state]}  {one_line(finding.about, 40):<12}  {one_line(finding.said, 300)}", flush=True)
    if finding.mend:
        print(f"      {'':<12}  {one_line(finding.mend, 300)}", flush=True)
