"""The commands about the record: grade again, export, rebuild the index."""

import argparse
import sys
from pathlib import Path

from agent.errors import RecordError, RunError
from agent.record.home import Home
from agent.record.index import of_folder
from agent.record.index import reindex as rebuild
from agent.record.jsonl import to_line
from agent.record.log import EventReader
from mlrb_tui.commands.output import print_json, say, whole
from mlrb_tui.control.launch import last_words, start_runner
from mlrb_tui.views import words


def grade(options: argparse.Namespace) -> int:
    """`mlrb grade RUN`: the runner grades the last snapshot again and puts the score into the record."""
    folder = Home.of_user().find(options.run)
    code = start_runner(folder, "--regrade").wait()
    if code:
        raise RunError(f"grading ended with {code}: {last_words(folder)}", hint=f"see {folder.runner_out}")
    score = of_folder(folder).final_score
    if options.json:
        print_json({"run": folder.run, "score": whole(score)})
    else:
        print(f"{folder.run}  {words.score_in_full(score) or 'no score'}")
    return 0 if score is not None and score.valid else 7


def export(options: argparse.Namespace) -> int:
    """`mlrb export RUN`: all events as JSON lines, long texts put back in their place."""
    folder = Home.of_user().find(options.run)
    with EventReader(folder.events) as reader:
        lines = (to_line(reader.whole(event)) + "\n" for event in reader.all())
        if not options.output:
            sys.stdout.writelines(lines)
            return 0
        try:
            with Path(options.output).open("w", encoding="utf-8") as file:
                file.writelines(lines)
        except OSError as error:
            hint = "--output names a file in a folder that is there, on a disk with room"
            raise RecordError(f"cannot write {options.output}: {error.strerror}", hint=hint) from error
    say(f"written: {options.output}")
    return 0


def reindex(options: argparse.Namespace) -> int:
    """`mlrb reindex`."""
    count = rebuild(Home.of_user())
    if options.json:
        print_json({"runs": count})
    else:
        print(f"{count} runs indexed")
    return 0
