"""The machines that runs may be placed on: `hosts.toml`, strict about what it does not know."""

import re
from pathlib import Path
from typing import Annotated, Literal

import msgspec
from msgspec import Meta, Struct

from agent.record.home import Home
from tasks.errors import UsageError

HERE = "local"
"""The name of this machine, in `hosts.toml` too."""
DOCKER_SOCKET = "/var/run/docker.sock"

_TARGET = re.compile(r"[^\s\-/][^\s/]*")
_SOCKET = re.compile(r"/[^:\0]+")


class Entry(Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """What `hosts.toml` may say of a machine, under its name."""

    ssh: str = ""
    """What ssh is to be told, as the user's own SSH configuration knows it; empty where that is the name."""
    ssh_options: tuple[str, ...] = ()
    """More arguments for ssh: `["-J", "bastion"]`, `["-F", "/path/to/config"]`."""
    socket: str = DOCKER_SOCKET
    """Where Docker, or Podman's Docker-compatible service, listens there."""
    gpus: Literal["all", "none"] | tuple[int | str, ...] = "all"
    """Those that runs may use, by index or by UUID; MIG slices by UUID."""
    max_runs: Annotated[int, Meta(ge=1)] | None = None
    """How many runs may be there at once."""
    labels: tuple[str, ...] = ()
    cost_per_hour: Annotated[float, Meta(ge=0)] | None = None
    """US dollars that an hour of one of its GPUs costs; of the machine, where it has none."""


class Machine(Entry, frozen=True, kw_only=True, omit_defaults=True):
    """A machine with its name."""

    name: str

    @property
    def here(self) -> bool:
        """Whether it is this one."""
        return self.name == HERE

    @property
    def target(self) -> str:
        """What ssh is told."""
        return self.ssh or self.name


def path_of(home: Home) -> Path:
    """The file."""
    return home.path / "hosts.toml"


def machines(home: Home) -> dict[str, Machine]:
    """This machine and those of the file, by name; raises `UsageError` that names what is wrong in it."""
    import tomllib

    path = path_of(home)
    try:
        entries = msgspec.convert(tomllib.loads(path.read_bytes().decode()), dict[str, Entry])
    except FileNotFoundError:
        entries = {}
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror}") from error
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise UsageError(f"{path} is not TOML: {error}", hint="correct it, or remove it") from error
    except msgspec.ValidationError as error:
        known = ", ".join(Entry.__struct_fields__)
        raise UsageError(f"{path}: {error}", hint=f"a table [NAME] for each machine, with {known}") from error
    found = {HERE: entries.pop(HERE, Entry())} | entries
    return {name: _checked(_named(name, entry), str(path)) for name, entry in found.items()}


def machine(home: Home, name: str) -> Machine:
    """The machine of that name: from the file, else whatever ssh knows by that name."""
    found = machines(home).get(name)
    return found or _checked(Machine(name=name), "docker@HOST")


def on_another(sandbox: str) -> bool:
    """Whether a sandbox of that kind is on another machine."""
    return sandbox.startswith("docker@")


def machine_of(home: Home, sandbox: str) -> Machine:
    """The machine that a sandbox of that kind is on: `local`, `docker` or `docker@HOST`."""
    return machine(home, sandbox.partition("@")[2] or HERE)


def _named(name: str, entry: Entry) -> Machine:
    return Machine(name=name, **{field: getattr(entry, field) for field in Entry.__struct_fields__})


def _checked(found: Machine, where: str) -> Machine:
    if not _TARGET.fullmatch(found.name) or not _TARGET.fullmatch(found.target):
        # A name that begins with a dash would be an option of ssh.
        raise UsageError(f"{where}: {found.target!r} is no name of a host", hint="write it as you do after ssh")
    if not _SOCKET.fullmatch(found.socket):
        raise UsageError(f"{where}: [{found.name}] socket must be an absolute path", hint=f"such as {DOCKER_SOCKET}")
    if found.here and (found.ssh or found.ssh_options):
        raise UsageError(f"{where}: [{HERE}] is this machine, which no ssh leads to", hint="give the other its name")
    return found
