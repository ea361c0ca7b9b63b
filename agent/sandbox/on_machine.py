"""What there is on a machine: Docker, the image, GPUs and containers, and by our ledger who holds what."""

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from subprocess import CompletedProcess

from msgspec import Struct

from agent.errors import RecordError, SandboxUnavailable
from agent.record.home import Home
from agent.sandbox import claims, containers, ssh
from agent.sandbox.containers import Container
from agent.sandbox.engine import DEFAULT_IMAGE, docker_answers, image_is_there, require
from agent.sandbox.gpu_list import GpuList, ListedGpu, Runner, list_gpus, usable
from agent.sandbox.gpu_wish import GpuWish
from agent.sandbox.ledger import Ledger, LedgerFile, Waiting
from agent.sandbox.machines import HERE, Machine
from agent.sandbox.tunnel import Tunnel, bounded

REACH_S = 15.0
_ASK_S = 10.0
_SLACK_S = 3.0


class SeenGpu(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A GPU and who has it."""

    gpu: ListedGpu
    usable: bool = True
    """Whether `hosts.toml` lets runs use it."""
    run: str = ""
    """The run that has it."""
    elsewhere: bool = False
    """Whether that is a run of another home."""


class SeenMachine(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A machine as it was found."""

    name: str
    target: str = ""
    reachable: bool = False
    trouble: str = ""
    """Why it can't be used, or not wholly, in one line."""
    hint: str = ""
    docker: str = ""
    """The daemon's version; empty where none answers."""
    image: bool = False
    """Whether the sandbox image is there."""
    gpus: tuple[SeenGpu, ...] = ()
    gpu_trouble: str = ""
    runs: tuple[str, ...] = ()
    """Runs that are there, of this home."""
    other_runs: int = 0
    """Containers of other homes' runs."""
    waiting: tuple[Waiting, ...] = ()
    max_runs: int | None = None
    labels: tuple[str, ...] = ()
    cost_per_hour: float | None = None


def gpus_of(machine: Machine) -> GpuList:
    """The GPUs there that runs may use; raises `SandboxUnavailable` where the machine can't be reached."""
    with _commands_on(machine) as run:
        found = list_gpus(run)
    return GpuList(usable(found.gpus, machine.gpus), found.trouble)


def wanted_gpus(machine: Machine, wish: GpuWish) -> tuple[list[ListedGpu], str]:
    """The GPUs there that would do, free or not, and why there are none where nobody had asked for any.

    Raises `SandboxUnavailable` where the wish can never be had there.
    """
    with _reached(machine) as tunnel:
        return _suited(machine, list_gpus(_runner(tunnel)), wish)


def require_place(machine: Machine, wish: GpuWish, image: str | None) -> None:
    """Raise `SandboxUnavailable` where a run can't be on that machine: it is not reached, it has no Docker, not this
    image (None where none is needed), or not the GPUs wished for. Blocks, for a bounded time."""
    with _reached(machine) as tunnel:
        if image is not None and tunnel is None:
            require(image)
        elif image is not None and tunnel is not None:
            require(image, tunnel.socket, machine.name)
        if wish.wanted:
            _suited(machine, list_gpus(_runner(tunnel)), wish)


def _suited(machine: Machine, found: GpuList, wish: GpuWish) -> tuple[list[ListedGpu], str]:
    name, gpus = machine.name, usable(found.gpus, machine.gpus)
    if found.trouble and not gpus:
        raise SandboxUnavailable(f"the GPUs of {name!r} are not known: {found.trouble}", hint=f"mlrb hosts {name}")
    if not wish.meant and not gpus:
        return [], f"the task is meant for {wish.wanted} GPUs, and {name!r} has none"
    return _suiting(name, gpus, wish), ""


def _suiting(host: str, gpus: Sequence[ListedGpu], wish: GpuWish) -> list[ListedGpu]:
    """Those that would do, free or not; raises `SandboxUnavailable` where they are fewer than what is wished for."""
    found = [gpu for gpu in gpus if not wish.named or gpu.uuid in wish.named or gpu.index in wish.named]
    if len(found) < wish.wanted:
        where = "this machine" if host == HERE else repr(host)
        raise SandboxUnavailable(
            f"{where} has {len(found)} of the {wish.wanted} GPUs wanted that runs may use",
            hint=f"mlrb hosts {host} lists them; --gpus none does without",
        )
    return found


def gpus_in_containers(machine: Machine) -> list[Container]:
    """The containers there that were given GPUs, or claim some, whosever they are."""
    if machine.here and not docker_answers():
        return []
    with _reached(machine) as tunnel:
        daemon = None if tunnel is None else tunnel.socket
        seen = containers.labelled(daemon=daemon, timeout_s=_ASK_S)
    return [one for one in seen if one.gpus]


def claim_gpus(machine: Machine, gpus: Sequence[str], run: str, home: str, image: str) -> str:
    """Claim them there for a run; the first that another home has just claimed, in which case none is ours.

    Raises `SandboxUnavailable`.
    """
    with _reached(machine) as tunnel:
        return claims.claim(gpus, run, home, image or DEFAULT_IMAGE, None if tunnel is None else tunnel.socket)


def release_gpus(machine: Machine, run: str, home: str) -> None:
    """Let others have what that run has claimed there; raises `SandboxUnavailable`."""
    with _reached(machine) as tunnel:
        claims.release(run, home, None if tunnel is None else tunnel.socket)


def look_at(home: Home, machines: Sequence[Machine]) -> list[SeenMachine]:
    """All of them at the same time, so that one that hangs holds up no other."""
    with ThreadPoolExecutor(max_workers=max(1, len(machines))) as pool:
        return list(pool.map(lambda machine: _look(home, machine), machines))


def _look(home: Home, machine: Machine) -> SeenMachine:
    ledger, ledger_trouble = _ledger_of(home, machine)
    plain: dict[str, object] = {
        "name": machine.name, "target": "" if machine.here else machine.target, "waiting": ledger.waiting,
        "max_runs": machine.max_runs, "labels": machine.labels, "cost_per_hour": machine.cost_per_hour,
    }  # fmt: skip
    runs = {one.run for one in ledger.held}
    try:
        with _reached(machine) as tunnel:
            found = list_gpus(_runner(tunnel))
            daemon = None if tunnel is None else tunnel.socket
            answers = docker_answers(daemon, _ASK_S)
            there = containers.labelled(daemon=daemon, timeout_s=_ASK_S) if answers else []
            version = containers.daemon_version(daemon, _ASK_S) if answers else ""
            image = answers and image_is_there(DEFAULT_IMAGE, daemon, _ASK_S)
    except SandboxUnavailable as error:
        return _seen(plain, runs=tuple(sorted(runs)), trouble=error.message, hint=error.hint)
    mark = home.mark() if there else ""
    runs |= {one.run for one in there if one.home == mark and one.role == "sandbox"}
    elsewhere = {gpu: one.run for one in there if one.home != mark or one.run not in runs for gpu in one.gpus}
    holders = ledger.holders()
    trouble, hint = _what_is_missing(machine, answers, image)
    return _seen(
        plain, reachable=True, docker=version, image=image, gpu_trouble=found.trouble, runs=tuple(sorted(runs)),
        other_runs=sum(one.home != mark and one.role == "sandbox" for one in there),
        gpus=tuple(_seen_gpu(gpu, machine, holders, elsewhere) for gpu in found.gpus),
        trouble=ledger_trouble or trouble, hint=hint,
    )  # fmt: skip


def _seen(plain: dict[str, object], **found: object) -> SeenMachine:
    return SeenMachine(**plain, **found)  # type: ignore[arg-type]


def _ledger_of(home: Home, machine: Machine) -> tuple[Ledger, str]:
    try:
        return LedgerFile(home, machine.name).read(), ""
    except RecordError as error:
        return Ledger(), error.message


def _what_is_missing(machine: Machine, answers: bool, image: bool) -> tuple[str, str]:
    if not answers:
        return "no Docker daemon answers", "sudo systemctl start docker"
    if not image:
        where = "" if machine.here else f" --host {machine.name}"
        return f"there is no image {DEFAULT_IMAGE}", f"mlrb image build{where}"
    return "", ""


def _seen_gpu(gpu: ListedGpu, machine: Machine, holders: dict[str, str], elsewhere: dict[str, str]) -> SeenGpu:
    allowed = bool(usable([gpu], machine.gpus))
    if gpu.uuid in holders:
        return SeenGpu(gpu=gpu, usable=allowed, run=holders[gpu.uuid])
    return SeenGpu(gpu=gpu, usable=allowed, run=elsewhere.get(gpu.uuid, ""), elsewhere=gpu.uuid in elsewhere)


@contextmanager
def _reached(machine: Machine) -> Iterator[Tunnel | None]:
    """The tunnel to it; None for this machine. Raises `SandboxUnavailable`."""
    if machine.here:
        yield None
        return
    tunnel = Tunnel(machine)
    tunnel.open(patience_s=REACH_S)
    try:
        yield tunnel
    finally:
        tunnel.close()


@contextmanager
def _commands_on(machine: Machine) -> Iterator[Runner]:
    with _reached(machine) as tunnel:
        yield _runner(tunnel)


def _runner(tunnel: Tunnel | None) -> Runner:
    return _here if tunnel is None else tunnel.run


def _here(command: list[str], timeout_s: float) -> "CompletedProcess[str]":
    return ssh.output_of(bounded(command, timeout_s), timeout_s + _SLACK_S)
