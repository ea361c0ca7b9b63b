"""A sandbox that is a container: an unprivileged user, no capabilities, no network, limits held by the kernel."""

import asyncio
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from agent.errors import SandboxError, SandboxLost, SandboxUnavailable
from agent.record.values import Proof
from agent.sandbox import containers, podman, tickets
from agent.sandbox.base import SandboxPlan, StartedSandbox
from agent.sandbox.containers import RUN_LABEL as RUN_LABEL
from agent.sandbox.containers import State
from agent.sandbox.engine import DEFAULT_IMAGE, daemon_socket, docker_answers, is_podman, open_client
from agent.sandbox.environment import container_environment
from agent.sandbox.guested import GuestedSandbox, with_state
from agent.sandbox.link import Cut, Standing
from agent.sandbox.luggage import AGENT_ID, GUEST_FOLDER, HOME, WORKDIR, packed
from agent.sandbox.outage import PATIENCE_S
from agent.sandbox.stream import AttachedStream, Stream

if TYPE_CHECKING:
    from docker import DockerClient

ROLE = "sandbox"
_CHECK_S = 10.0
"""How long the daemon may take to say how a container stands, or to freeze it."""
_SWITCH_S = 3.0
"""For how long a freezer that gives up is asked again."""
_START_S = 120.0
"""For how long a start is tried again where the daemon goes away in the middle."""
_STOP_S = 20.0
"""How long a silent daemon is waited for when the container is to be removed."""
_LOOK_EVERY_S = 0.2

_BOOT = f"import sys; sys.path.insert(0, {GUEST_FOLDER!r}); from guest.main import main; main()"
_T = TypeVar("_T")


class DockerSandbox(GuestedSandbox):
    """Commands run in a container whose first process is the guest.

    As the first process it can't be killed from inside, takes in every orphan, and takes all with it when it ends.
    """

    def __init__(self, plan: SandboxPlan, host: Path | None = None, *, patience_s: float = PATIENCE_S) -> None:
        super().__init__(plan, patience_s=patience_s)
        self._daemon = host or daemon_socket()
        self._image = plan.image or DEFAULT_IMAGE
        self._name = f"mlrb-{plan.run}"
        self._client: DockerClient | None = None
        self._creating: asyncio.Task[None] | None = None
        self._never_there = False
        """Whether the daemon could not be reached before anything was made."""
        self._checking = asyncio.Lock()
        self._podman: bool | None = None
        """Whether that is who runs the containers; None until it was asked."""

    async def start(self) -> StartedSandbox:
        """Create the container, put the workspace into it and start it; anew where the daemon goes away meanwhile."""
        gives_up_at = time.monotonic() + _START_S
        try:
            while True:
                try:
                    await self._created()
                    return with_state(self._started(), await self._link.open())
                except (OSError, Cut, SandboxUnavailable) as error:
                    if time.monotonic() > gives_up_at or not await self._was_cut_off(error):
                        raise self._unstarted(error) from error
        except BaseException:
            # Broken or cancelled in the middle: what was created meanwhile must not stay.
            await asyncio.shield(self.stop())
            raise

    def _unstarted(self, error: OSError | Cut | SandboxUnavailable) -> SandboxUnavailable:
        if isinstance(error, SandboxUnavailable):
            return error
        said = self._link.errors.splitlines()[-1:] or [str(error)]
        return SandboxUnavailable(
            f"the container did not start: {said[0] or 'its guest ended at once'}",
            hint="`mlrb image build` makes an image that fits",
        )

    async def _was_cut_off(self, error: Exception) -> bool:
        """Whether a start broke because the daemon went away; it is back then, and nothing half made is left.

        A daemon that was not there to begin with is a mistake that a person is told of at once.
        """
        import requests

        client, self._client = self._client, None
        self._never_there = client is None
        silent = isinstance(error, requests.ConnectionError) or not docker_answers(self._daemon)
        if client is None or not silent:
            self._client = client
            return False
        client.close()
        while True:
            await self._state_when_there()
            try:
                await self._whole(lambda: containers.clear(self.plan.run, self.plan.home, self._daemon))
                await self._whole(self._docker)
            except SandboxUnavailable:
                continue
            return True

    def _started(self) -> StartedSandbox:
        return StartedSandbox(
            sandbox="docker",
            name=self._name,
            workdir=WORKDIR,
            image=self._image,
        )

    async def _created(self) -> None:
        self._creating = asyncio.create_task(self._whole(self._create))
        try:
            await asyncio.shield(self._creating)
        except asyncio.CancelledError:
            await asyncio.wait([self._creating])
            raise

    async def _whole(self, work: Callable[[], _T]) -> _T:
        """Run blocking work in a thread; where we are cancelled meanwhile it is still waited for, so that nothing
        is created behind our back."""
        task = asyncio.create_task(asyncio.to_thread(work))
        try:
            return await asyncio.shield(task)
        except asyncio.CancelledError:
            await asyncio.wait([task])
            raise

    def _docker(self) -> "DockerClient":
        if self._client is None:
            self._client = open_client(self._daemon)
        return self._client

    def _create(self) -> None:
        client = self._docker()
        self._podman = is_podman(self._daemon)
        if self._podman:
            podman.refuse_gpus(self.plan.gpus)
        from docker.errors import APIError, ImageNotFound

        try:
            container = tickets.make(client, self._image, self._name, self._options(), self._daemon)
            if self._stopped:
                # We were stopped while the daemon made it; whoever waits for that may have given up.
                container.remove(force=True, v=True)
                return
            with packed(self.plan) as archive:
                container.put_archive("/", archive)
            container.start()
        except ImageNotFound as error:
            raise SandboxUnavailable("the run was stopped while its container was being made") from error
        except APIError as error:
            said = str(error.explanation or error)
            hint = f"where another {self._name} is left over: mlrb kill {self.plan.run}"
            if "select device driver" in said:
                hint = "install nvidia-container-toolkit there and restart Docker; --gpus none does without"
            raise SandboxUnavailable(f"the daemon did not start the container: {said}", hint=hint) from error

    def _options(self) -> dict[str, Any]:
        from docker.types import DeviceRequest, LogConfig, Ulimit

        plan, limits = self.plan, self.plan.limits
        return {
            "command": [
                *("/usr/bin/python3", "-I", "-S", "-c", _BOOT),
                *("--workdir", WORKDIR, "--spool-folder", "/tmp", "--spool-bytes", str(limits.output_bytes)),
                *(podman.LISTENING if self._podman else ()),
            ],
            "entrypoint": [],
            "labels": containers.labels(plan.run, ROLE, plan.home, plan.gpus),
            "user": f"{AGENT_ID}:{AGENT_ID}",
            "working_dir": WORKDIR,
            "environment": container_environment(plan, HOME),
            "stdin_open": True,
            # Else the daemon closes the guest's stdin for good when the first host goes away.
            "detach": True,
            "network_mode": "bridge" if plan.network else "none",
            "cap_drop": ["ALL"],
            "security_opt": ["no-new-privileges"],
            "mem_limit": limits.memory_bytes,
            "memswap_limit": limits.memory_bytes,
            "nano_cpus": int(min(limits.cpus, _cpus(self._docker())) * 1e9),
            "pids_limit": limits.processes,
            "shm_size": limits.shm_bytes,
            "ulimits": [Ulimit(name="core", soft=0, hard=0)],
            "ipc_mode": "private",
            # The guest hears no TERM, so that a daemon which stops would wait ten seconds for each container.
            "stop_signal": "SIGKILL",
            "device_requests": [DeviceRequest(device_ids=list(plan.gpus), capabilities=[["gpu"]])] if plan.gpus else [],
            # What the guest writes is spooled by itself; the daemon need not keep it a second time.
            "log_config": LogConfig(type="none"),
        }

    async def reached(self) -> None:
        """Return once the daemon answers."""
        await self._state_when_there()

    async def attach(self) -> StartedSandbox:
        """Take up the container that an earlier runner started; one that ended, as in a reboot, is started again."""
        while True:
            status = (await self._state_when_there()).status
            try:
                return await self._attached(status)
            except (OSError, Cut, SandboxUnavailable) as error:
                # A daemon that goes away again in the middle is waited for as it was before.
                if docker_answers(self._daemon):
                    raise SandboxLost(f"the guest in {self._name} does not answer: {error}") from error

    async def _attached(self, status: str) -> StartedSandbox:
        if status == "paused":
            await self.thaw()
        elif status == "exited":
            await self._whole(self._start_again)
        elif status != "running":
            raise SandboxLost(f"the container {self._name} is {status or 'gone'}", hint="start the run anew")
        return with_state(self._started(), await self._link.open())

    def _start_again(self) -> None:
        if refusal := containers.start(self._name, self._daemon):
            raise SandboxLost(f"the container {self._name} cannot be started again: {refusal}")

    async def _state_when_there(self) -> State:
        """The container's state, once the daemon answers; raises `SandboxUnreachable` where it stays silent."""
        while True:
            try:
                state = await asyncio.to_thread(self._state)
            except SandboxUnavailable as error:
                self._outage.silent(error)
                await asyncio.sleep(_LOOK_EVERY_S)
            else:
                self._outage.answered()
                return state

    def _state(self) -> State:
        """Asked over a connection of its own: a daemon that is shutting down still answers on those it has."""
        return containers.state_of(self._name, self._daemon, _CHECK_S)

    async def _connect(self) -> Stream:
        if self._daemon is None:
            raise FileNotFoundError("the daemon has no socket")
        if self._podman is None:
            self._podman = await asyncio.to_thread(is_podman, self._daemon)
        if self._podman:
            return await AttachedStream.of_command(self._daemon, self._name, podman.RELAY)
        return await AttachedStream.open(self._daemon, self._name)

    async def _check(self) -> Standing:
        async with self._checking:
            try:
                state = await asyncio.to_thread(self._state)
                restarted = not state.runs and await asyncio.to_thread(self._ended_with_daemon, state)
                if restarted:
                    await self._whole(self._start_again)
            except SandboxUnavailable as error:
                self._outage.silent(error)
                return "away"
            if not state.runs and not restarted:
                raise SandboxLost(f"the container {self._name} {_how_it_went(state)}")
            self._outage.answered(restarted=restarted)
        return "frozen" if self._frozen or state.status == "paused" else "well"

    def _ended_with_daemon(self, state: State) -> bool:
        """Whether it is no fault of the container's that it ended: its daemon was stopped, and took it along."""
        if state.status != "exited" or state.out_of_memory:
            return False
        return self._outage.goes_on or not containers.was_seen_ending(self._name, state, self._daemon)

    async def copy_out(self, paths: Sequence[str], destination: Path) -> list[str]:
        """Copy files out; a container that was ended from outside still has them, and its guest reads them."""
        try:
            return await super().copy_out(paths, destination)
        except SandboxLost:
            if self._stopped or (await self._state_when_there()).status != "exited":
                raise
        await self._whole(self._start_again)
        return await super().copy_out(paths, destination)

    async def _halt(self) -> None:
        """Pause the container: the kernel's freezer stops every process in it."""
        was_frozen, self._frozen = self._frozen, True
        try:
            await self._switch("pause")
        except SandboxError:
            self._frozen = was_frozen
            raise

    async def _go_on(self) -> None:
        """Let it go on."""
        await self._switch("unpause")
        self._frozen = False

    async def _switch(self, to: Literal["pause", "unpause"]) -> None:
        def switch() -> None:
            gives_up_at = time.monotonic() + _SWITCH_S
            while refusal := containers.switch(self._name, to, self._daemon, _CHECK_S):
                status = self._state().status
                # Harmless where it is in that state already.
                if status == ("paused" if to == "pause" else "running"):
                    return
                # The freezer of cgroup v1 gives up now and then on a container that is kept busy.
                if status not in ("running", "paused") or time.monotonic() > gives_up_at:
                    raise SandboxLost(f"the container could not be {to}d: {refusal}")

        await asyncio.to_thread(switch)

    async def stop(self) -> tuple[Proof, ...]:
        """Remove the container and look afterwards whether any is left that carries the run's label."""
        self._stopped = True
        self._link.close()
        if self._creating is not None:
            # What the daemon is just making can't be found yet, and would be there later.
            await asyncio.wait([self._creating])
            if not self._creating.cancelled():
                # Whoever started it was told, or has left; it is not to be told a second time.
                self._creating.exception()
        gives_up_at = time.monotonic() + (0.0 if self._never_there else _STOP_S)
        while True:
            try:
                return await self._whole(self._remove)
            except SandboxUnavailable as error:
                # A daemon that just restarts is worth waiting for: what is not removed stays behind.
                if time.monotonic() > gives_up_at:
                    return (Proof("container", False, error.message),)
                await asyncio.sleep(_LOOK_EVERY_S)

    def _remove(self) -> tuple[Proof, ...]:
        ended, left = containers.clear(self.plan.run, self.plan.home, self._daemon)
        self._frozen = False
        if self._client is not None:
            self._client.close()
            self._client = None
        return containers.proofs(ended, left)


def _how_it_went(state: State) -> str:
    if state.out_of_memory:
        return "ran out of memory and was ended"
    if state.status in ("", "removing"):
        return "was removed from outside"
    return "was ended from outside" if state.status == "exited" else f"is {state.status}"


def _cpus(client: "DockerClient") -> float:
    return float(client.info().get("NCPU", 1))
