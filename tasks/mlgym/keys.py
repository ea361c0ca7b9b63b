"""Keys from which a grader draws its opponent's random numbers."""

import json
import secrets
from pathlib import Path


def write_keys(out: Path, *, seed: int) -> None:
    """Write `private/{dev,test}/opponent.json`.

    The key is drawn afresh and kept with the data: grading again gives the same games, and nobody who knows the seed
    and this source can work out the opponent's coming moves.
    """
    for split in ("dev", "test"):
        text = json.dumps({"key": f"{seed}-{split}-{secrets.token_hex(16)}"})
        (out / "private" / split / "opponent.json").write_text(text, encoding="utf-8")
