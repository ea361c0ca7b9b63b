"""The commands about this installation: the sandbox image and the settings."""

import argparse

import msgspec

from agent.record.home import Home
from agent.runner.notify_settings import NotifySettings, named
from mlrb_tui.commands.output import print_json, print_pairs, print_table, say, whole
from mlrb_tui.control.settings import Settings, may_be, read_settings
from mlrb_tui.views import words
from tasks.errors import UsageError

_EXIT_NOT_SENT = 6
_COLUMNS = ("setting", "value", "may be")


def build_image(options: argparse.Namespace) -> int:
    """`mlrb image build`: the image of the docker sandbox."""
    from agent.sandbox.daemons import daemon_on
    from agent.sandbox.engine import DEFAULT_IMAGE
    from agent.sandbox.image import DEFAULT_BASE, PROFILES
    from agent.sandbox.image import build_image as build
    from agent.sandbox.machines import HERE, machine

    tag = options.tag or DEFAULT_IMAGE
    with daemon_on(machine(Home.of_user(), options.host or HERE)) as daemon:
        build(options.base or DEFAULT_BASE, tag, PROFILES[options.profile], on_line=say, daemon=daemon)
    print(tag)
    return 0


def config(options: argparse.Namespace) -> int:
    """`mlrb config`: the settings that hold, and what they may be."""
    if options.what == "notify":
        return _notify(options)
    if options.test:
        raise UsageError("--test goes with notify", hint="mlrb config notify --test")
    home = Home.of_user()
    mistake: UsageError | None = None
    try:
        settings = read_settings(home)
    except UsageError as error:
        # The file is what a person wants to correct, so what may stand in it is said in any case.
        settings, mistake = Settings(), error
    # Addresses of services hold passwords; the file has them, a screen or a log need not.
    shown = whole(settings)
    assert isinstance(shown, dict)
    shown |= {"notify": _shown(settings.notify)}
    if options.json:
        wrong = {} if mistake is None else {"error": mistake.message}
        print_json({"file": str(home.settings), **wrong, "settings": shown, "schema": msgspec.json.schema(Settings)})
    else:
        print(f"# {home.settings}{'' if mistake is None else ' cannot be read; the defaults are:'}")
        values, meanings = _flat(shown), may_be()
        print_table([{"setting": name, "value": values[name], "may be": meanings[name]} for name in meanings], _COLUMNS)
    if mistake is not None:
        raise mistake
    return 0


def _flat(settings: dict[str, object], above: str = "") -> dict[str, str]:
    """Names and values, those of a table under its name."""
    found: dict[str, str] = {}
    for name, value in settings.items():
        found |= _flat(value, f"{above}{name}.") if isinstance(value, dict) else {above + name: _as_typed(value)}
    return found


def _as_typed(value: object) -> str:
    """A value as it stands in the file."""
    return msgspec.json.encode(value).decode()


def _notify(options: argparse.Namespace) -> int:
    """`mlrb config notify [--test]`: whom runs tell what, and whether that works."""
    home = Home.of_user()
    settings = read_settings(home).notify
    if not settings.urls and options.test:
        raise UsageError("there is no service to notify", hint=f'write [notify] urls = ["…"] into {home.settings}')
    failed = _sent_to_each(settings) if options.test else {}
    if options.json:
        results = {"failed": [why for why in failed.values() if why]} if options.test else {}
        print_json(_shown(settings) | results)
    else:
        services = ", ".join(map(named, settings.urls)) or "none: off"
        again = f"an alarm at most every {words.duration(settings.alarm_again_s)}" if settings.alarm_again_s else ""
        on = {"on": ", ".join(settings.on), "but not": ", ".join(settings.quiet), "and": again}
        print_pairs({"services": services} | on)
        for at, why in failed.items():
            print(f"{named(settings.urls[at])}  {why or 'taken'}")
    return _EXIT_NOT_SENT if any(failed.values()) else 0


def _sent_to_each(settings: NotifySettings) -> dict[int, str]:
    """A try at each service; why it failed, or nothing."""
    from agent.runner.notify_send import Message
    from agent.runner.notifying import failures, start_sender

    title, body = "mlrb: a test", "Runs will tell you here what happens."
    senders = [start_sender(Message(urls=(url,), title=title, body=body)) for url in settings.urls]
    for sender in senders:
        sender.wait()
    return {at: "; ".join(failures(sender)) for at, sender in enumerate(senders)}


def _shown(settings: NotifySettings) -> dict[str, object]:
    found = whole(settings)
    assert isinstance(found, dict)
    return found | {"urls": [f"{named(url)}://…" for url in settings.urls]}
