"""A run in which every text tries to break the terminal that shows it."""

from agent.record import events as ev
from agent.record.values import Gpu, Host, Limits, Progress, Proof, Score, ToolCall, Violation
from tests.logs.story import Story

MARKUP = ("[/bold]", "[00] x", "[/INST]", "[b + ", "[/#888888]", "[red]red[/red]", "[@click=app.quit]quit[/]", "[", "]")
ESCAPES = (
    "\x1b[2J\x1b[H",
    "\x1b[31mred\x1b[0m",
    "\x1b]0;title\x07",
    "\x1b]52;c;aGFjaw==\x07",
    "\x1bP1$r0m\x1b\\",
    "\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\",
    "\x1b[?1049l",
    "\x1bc",
    "\x9b31m",
    "\x9d0;t\x9c",
    "\x90q\x9c",
    "\x85",
)
BIDI = ("\u202egnp.exe", "\u2066\u2069", "\u200f\u200e", "a\u061cb")
STRANGE = (
    "\x00NUL",
    "lone \udc00 low",
    "lone \ud83d high",
    "\ufeff",
    "e" + "\u0301" * 40,
    "👩‍👩‍👧‍👦 漢字 ｆｕｌｌ",
    "\x07\x08\x7f",
    "\u2028x",
)
TEXTS = (*MARKUP, *ESCAPES, *BIDI, *STRANGE)
"""Each of these stands in the log at least once in each kind of text."""
ALL = " ".join(TEXTS)


def events(*, output_lines: int = 2_000) -> list[ev.Event]:
    """The run; the log in this folder has few lines of output, tests ask for 50,000."""
    story = Story()
    _begin(story)
    for text in TEXTS:
        story.begin_step()
        _one(story, text)
    _long(story, output_lines)
    _end(story)
    return story.events


def _begin(story: Story) -> None:
    story.add(
        ev.RunCreated(
            run=f"bad{ALL}",
            task=f"task {ALL}",
            scale="smoke",
            scaffold=ALL,
            model=ALL,
            sandbox=ALL,
            seed=0,
            limits=Limits(time_s=60.0, steps=99),
            who=ALL,
            version=ALL,
        )
    )
    story.add(ev.RunStarted(pid=1, host=ALL, resumed=True), 0.1)
    story.add(ev.SandboxStarted(sandbox=ALL, name=ALL, image=ALL, workdir=ALL, notice=ALL), 0.1)
    story.add(ev.MessageAdded(message_id=ALL, role=ALL, text=ALL, origin=ALL), 0.1)


def _one(story: Story, text: str) -> None:
    """One hostile text in every place of a step."""
    call = ToolCall(call_id=text, tool=text, arguments={text: text}, malformed=text)
    story.think(f"thought {text} and on", reasoning=f"reasons {text}", calls=(call,), takes=0.5)
    story.command(f"echo {text}", f"{text}\n", f"progress {text}\r", f"last {text}")
    for tool in ("edit", "write", text):
        arguments = {"path": f"dir/{text}.py", "old": f"{text}\nold", "new": f"{text}\nnew", "content": f"{text}\n" * 3}
        call_id = story.call(tool, f"dir/{text}.py", **arguments)
        story.finish(call_id, tool, exit_code=3, observation=f"failed {text}", interrupted_by=text)
    story.add(ev.NoteTaken(text=text))
    story.add(ev.PlanChanged(items=(text, text)))
    story.add(ev.AlertRaised(alert=text, message=text, hint=text))
    story.add(ev.CheckpointSeen(path=f"ckpt/{text}", size_bytes=10**15))
    story.add(ev.ModelFailed(call_id=text, reason=text, hint=text, retry_in_s=1.0))
    seq = story.add(ev.RequestReceived(request_id=len(story.events), verb="inject", text=text, who=text)).seq
    story.add(ev.RequestRefused(request_id=seq - 1, reason=text))
    story.add(ev.RunPaused(strength="now", by=text, why=text))
    story.add(ev.RunResumed(by=text), 2.0)
    story.add(ev.Unknown(kind=f"future_{text}", raw=b'{"kind":"future"}'))
    values = {"loss": 3.0, f"eval_{text}": 1.0, text: float("1e308")}
    story.add(
        ev.ProgressSeen(call_id=text, progress=Progress(values=values, step=1, total=2, rate=1.0, rate_unit=text))
    )
    story.add(ev.GpuSampled(gpus=(Gpu(index=0, name=text), Gpu(index=1, name=text, memory_used_bytes=10**18))))
    story.add(ev.HostSampled(host=Host(cpu_percent=1e9)))
    score = Score(metric=text, value=1e300, error=text, violations=(Violation(text, text),), details={text: 1.0})
    story.add(ev.Graded(grading_id=text, purpose="score_now", score=score, by=text))


def _long(story: Story, output_lines: int) -> None:
    """Too much of everything: one line, many lines, many carriage returns."""
    story.begin_step()
    story.command("python -c \"print('z' * 90000)\"", "z" * 90_000 + "\n")
    story.command("a very long command " + "x" * 20_000 + "\n" * 300, "ok\n")
    story.command("tqdm", "".join(f"\r{n / 100:.2f} %" for n in range(10_000)), lines=1)
    story.think("a long thought\n" + "word " * 20_000, takes=1.0)
    call_id = story.call("bash", "seq")
    for line in range(output_lines):
        story.output(call_id, f"{line} of many lines {TEXTS[line % len(TEXTS)]}\n", 0.001)
    story.finish(call_id, lines=output_lines)


def _end(story: Story) -> None:
    story.add(ev.SandboxStopped(proofs=(Proof(ALL, False, ALL), Proof(ALL, True, ALL))), 0.5)
    story.add(ev.SandboxLost(reason=ALL))
    story.add(ev.RunEnded(outcome="failed", detail=ALL), 0.1)
