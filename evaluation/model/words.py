"""Foreign text on its way into a message: one short line without control characters."""

LONGEST = 200


def one_line(text: object) -> str:
    """One short line out of whatever a library or a file said."""
    line = "".join(character if character.isprintable() else " " for character in str(text))
    line = " ".join(line.split()) or type(text).__name__
    return line if len(line) <= LONGEST else line[: LONGEST - 1] + "…"
