"""`mlrb reap`: what runs have left behind without a runner; listed, adopted or removed."""

import argparse
import sys

import msgspec

from agent.record.home import Home
from agent.record.values import Proof
from agent.sandbox.leftovers import Leftover, find
from mlrb_tui.commands.output import print_json, print_table, say
from mlrb_tui.control import reaping
from tasks.errors import UsageError

_COLUMNS = ("run", "it is", "kind", "what", "whose", "detail")
_EXIT_LEFT = 6


def reap(options: argparse.Namespace) -> int:
    """List; with `--remove` or `--adopt`, act."""
    home = Home.of_user()
    found = find(home, reach=True)
    for why in filter(None, (found.docker, *found.out_of_reach)):
        say(f"containers were not looked for: {why}")
    acts = options.remove or options.adopt
    chosen = list(found.leftovers if options.all or not acts else found.ours)
    if not acts:
        _print(chosen, [], options)
        return 0
    if chosen and not (options.yes or _sure(chosen, options)):
        return 1
    results = (reaping.remove if options.remove else reaping.adopt)(home, chosen)
    _print(chosen, results, options)
    if spared := len(found.leftovers) - len(chosen):
        say(f"{spared} not of this home left alone; --all takes them too")
    return _EXIT_LEFT if any(not proof.proven for _, proof in results) else 0


def _sure(chosen: list[Leftover], options: argparse.Namespace) -> bool:
    verb = "remove" if options.remove else "adopt"
    if not sys.stdin.isatty():
        raise UsageError(f"to {verb} {len(chosen)} leftovers unasked takes --yes", hint="mlrb reap lists them")
    _print(chosen, [], argparse.Namespace(json=False, remove=False))
    say(f"{verb.capitalize()} these? [y/N] ")
    return sys.stdin.readline().strip().lower() in ("y", "yes")


def _print(chosen: list[Leftover], results: list[tuple[Leftover, Proof]], options: argparse.Namespace) -> None:
    said = dict(zip(chosen, (proof for _, proof in results), strict=True)) if results else {}
    if options.json:
        print_json({"leftovers": [_as_json(one, said.get(one)) for one in chosen]})
        return
    if not chosen:
        print("Nothing is left over.")
        return
    columns = (*_COLUMNS, *(("became",) if results else ()))
    print_table([_row(one, said.get(one)) for one in chosen], columns)


def _as_json(one: Leftover, proof: Proof | None) -> dict[str, object]:
    shown: dict[str, object] = msgspec.to_builtins(one)
    shown["adoptable"] = one.adoptable
    if proof is not None:
        shown |= {"done": proof.proven, "result": proof.detail}
    return shown


def _row(one: Leftover, proof: Proof | None) -> dict[str, str]:
    return {
        "run": one.run,
        "it is": one.run_is,
        "kind": f"{one.role} {one.kind}".strip(),
        "what": f"{one.name} on {one.host}" if one.host else one.name,
        "whose": one.whose,
        "detail": one.detail,
        "became": "" if proof is None else proof.detail if proof.proven else f"still there: {proof.detail}",
    }
