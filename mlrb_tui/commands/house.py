"""The commands about this installation: the sandbox image and the settings."""

import argparse

import msgspec

from agent.record.home import Home
from mlrb_tui.commands.output import print_json, print_pairs, say
from mlrb_tui.control.settings import Settings, read_settings


def build_image(options: argparse.Namespace) -> int:
    """`mlrb image build`: the image of the docker sandbox."""
    from agent.sandbox.engine import DEFAULT_IMAGE
    from agent.sandbox.image import DEFAULT_BASE, PROFILES
    from agent.sandbox.image import build_image as build

    tag = options.tag or DEFAULT_IMAGE
    build(base=options.base or DEFAULT_BASE, tag=tag, packages=PROFILES[options.profile], on_line=say)
    print(tag)
    return 0


def config(options: argparse.Namespace) -> int:
    """`mlrb config`: the settings that hold, and what they may be."""
    home = Home.of_user()
    settings = read_settings(home)
    if options.json:
        print_json({"file": str(home.settings), "settings": settings, "schema": msgspec.json.schema(Settings)})
        return 0
    print(f"# {home.settings}")
    print_pairs({name: str(value) for name, value in msgspec.to_builtins(settings).items()})
    return 0
