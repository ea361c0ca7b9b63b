"""A block whole: what its one detail screen shows, and what a copy of it holds."""

import msgspec

from agent.record import events as ev
from agent.record.ledger import of_call
from agent.record.log import EventReader
from agent.record.text import one_line
from mlrb_tui.views import words
from mlrb_tui.views.blocks import AnyBlock, Called
from mlrb_tui.views.document import Document, Output
from mlrb_tui.views.edits import changed_lines

Lines = list[tuple[str, str]]


def document_of(reader: EventReader, block: AnyBlock, upto: int) -> Document:
    """The block's text; a command's output is read as it is looked at."""
    event = reader.get(block.seq)
    if isinstance(block, Called):
        lines = [*_call_lines(reader, event, block), *_gpu_lines(reader, block, upto), ("", "")]
        if block.tail or not block.finished:
            return Output(reader, block, lines, upto)
        return Document([*lines, *_answer_lines(reader, block, upto)])
    return Document(_event_lines(reader, event) if event is not None else [])


def title_of(block: AnyBlock) -> str:
    """The step and what kind of thing it is."""
    kind = one_line(block.tool, 30) if isinstance(block, Called) else type(block).__name__.lower()
    return f"step {block.place.step} · {kind}" if block.place.step else kind


def _event_lines(reader: EventReader, event: ev.Event) -> Lines:
    match event.body:
        case ev.ModelAnswered(text=text, reasoning=reasoning, usage=usage, duration_s=took):
            said = f"{words.number(usage.total_tokens)} tokens in {words.duration(took)}"
            lines = [("reasons", "dim"), *_plain(reader.text(reasoning)), ("", "")] if reasoning else []
            return [*lines, *_plain(reader.text(text)), ("", ""), (said, "dim")]
        case ev.MessageAdded(text=text) | ev.NoteTaken(text=text) | ev.ModelStreamed(text=text):
            return _plain(reader.text(text))
        case ev.ApprovalAsked(summary=summary, arguments=arguments):
            given = msgspec.json.decode(reader.text(arguments), type=dict[str, object])
            lines = [(line, "strong") for line in reader.text(summary).split("\n")]
            for name, value in given.items():
                if str(value) != reader.text(summary):
                    lines += [("", ""), (name, "dim"), *_plain(str(value))]
            return lines
        case ev.PlanChanged(items=items):
            return [(f"{number}. {item}", "") for number, item in enumerate(items, 1)]
        case ev.RequestReceived(verb=verb, text=text, who=who, origin=origin):
            return [(f"{words.verb(verb)}, asked by {who} ({origin})", "dim"), *_plain(text)]
        case ev.Unknown(raw=raw):
            return _plain(raw.decode("utf-8", "replace"))
        case body:
            return _fields(body)


def _fields(body: ev.Known) -> Lines:
    """What an event says, a field a line; what it does not say is left out."""
    fields = msgspec.to_builtins(body)
    fields.pop("kind", None)
    return _named(fields) or [(ev.kind_of(body).replace("_", " "), "dim")]


def _named(fields: dict[str, object], indent: str = "") -> Lines:
    lines: Lines = []
    for name, value in fields.items():
        said = f"{indent}{name.replace('_', ' ')}"
        match value:
            case dict():
                lines += [(said, "dim"), *_named(value, f"{indent}  ")]
            case list():
                items = [item if isinstance(item, str) else msgspec.json.encode(item).decode() for item in value]
                lines += [(said, "dim"), *((f"{indent}  {item}", "") for item in items)]
            case _:
                first, *rest = str(value).split("\n")
                lines += [(f"{said}: {first}", ""), *((f"{indent}  {line}", "") for line in rest)]
    return lines


def _call_lines(reader: EventReader, event: ev.Event | None, block: Called) -> Lines:
    """What was called, with its arguments where the call line does not hold them."""
    body = event.body if event is not None else None
    title = reader.text(body.summary) if isinstance(body, ev.ToolCalled) else block.title
    lines: Lines = [(line, "strong") for line in title.split("\n")]
    changed = changed_lines(block.tool, block.arguments)
    if changed is not None:
        lines += [(f"{sign} {text}", "added" if sign == "+" else "removed") for sign, text in changed]
    elif block.tool not in ("bash", "python"):
        lines += [(f"{name}: {value}", "dim") for name, value in block.arguments.items() if str(value) not in title]
    return lines


def _gpu_lines(reader: EventReader, block: Called, upto: int) -> Lines:
    """What the GPUs were held for, and did, while it ran."""
    ended = _ended(reader, block, upto)
    said = words.gpu_time(of_call(reader, block.seq, upto if ended is None else ended.seq))
    return [(f"{said}{'' if block.finished else ' so far'}", "dim")] if said else []


def _ended(reader: EventReader, block: Called, upto: int) -> ev.Event | None:
    for event in reader.of_kinds(("tool_finished",), after=block.seq, upto=upto, limit=400):
        if isinstance(event.body, ev.ToolFinished) and event.body.call_id == block.call_id:
            return event
    return None


def _answer_lines(reader: EventReader, block: Called, upto: int) -> Lines:
    """What the agent was told, out of the log."""
    event = _ended(reader, block, upto)
    return _plain(reader.text(event.body.observation)) if event and isinstance(event.body, ev.ToolFinished) else []


def _plain(text: str) -> Lines:
    return [(line, "") for line in text.split("\n")]


def step_text(reader: EventReader, blocks: list[AnyBlock], upto: int) -> str:
    """Some blocks as plain text, whole."""
    parts = [f"── {title_of(block)} ──\n{document_of(reader, block, upto).whole()}" for block in blocks]
    return "\n\n".join(parts) + "\n"
