"""Makes what the grader keeps to itself: a key for the opponent's random numbers."""

from pathlib import Path

from tasks.contract import Options
from tasks.mlgym.keys import write_keys


def generate(out: Path, *, seed: int, options: Options) -> None:
    """Write `private/{dev,test}/opponent.json`; the game itself needs no data."""
    write_keys(out, seed=seed)
