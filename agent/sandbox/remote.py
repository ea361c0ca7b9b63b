"""A docker sandbox on a machine that is reached by SSH: the same, with a tunnel that may drop at any moment."""

import asyncio
import dataclasses
import threading
from typing import Literal

from agent.errors import SandboxUnavailable
from agent.record.values import Proof
from agent.sandbox.base import SandboxPlan, StartedSandbox
from agent.sandbox.containers import State
from agent.sandbox.docker import DockerSandbox
from agent.sandbox.engine import require
from agent.sandbox.machines import Machine
from agent.sandbox.tunnel import Tunnel
from agent.sandbox.tunnel_keeper import out_of_reach

PATIENCE_S = 3600.0
"""How long a machine may be out of reach: its commands go on meanwhile, and nothing of them is lost."""


class RemoteDockerSandbox(DockerSandbox):
    """Commands run in a container over there; while the tunnel is down, whoever asks waits."""

    def __init__(self, plan: SandboxPlan, machine: Machine) -> None:
        self._tunnel = Tunnel(machine)
        self._given_up = threading.Event()
        super().__init__(plan, host=self._tunnel.socket, patience_s=PATIENCE_S)

    async def start(self) -> StartedSandbox:
        """Reach the machine, then as anywhere."""
        await self._reach()
        await asyncio.to_thread(require, self._image, self._tunnel.socket, self._tunnel.machine.name)
        return await super().start()

    async def reached(self) -> None:
        """Return once the machine is reached and its daemon answers."""
        await asyncio.to_thread(self._tunnel.join)
        await super().reached()

    async def attach(self) -> StartedSandbox:
        """As anywhere: a machine that is out of reach now is waited for."""
        await asyncio.to_thread(self._tunnel.join)
        return await super().attach()

    def _started(self) -> StartedSandbox:
        return dataclasses.replace(super()._started(), sandbox=f"docker@{self._tunnel.machine.name}")

    async def _reach(self) -> None:
        try:
            await asyncio.to_thread(self._tunnel.open, given_up=self._given_up)
        except asyncio.CancelledError:
            self._given_up.set()
            raise

    def _state(self) -> State:
        self._tunnel.ensure()
        try:
            return super()._state()
        except SandboxUnavailable as error:
            raise self._out_of_reach() from error

    async def _switch(self, to: Literal["pause", "unpause"]) -> None:
        try:
            await super()._switch(to)
        except SandboxUnavailable as error:
            raise self._out_of_reach() from error

    def _out_of_reach(self) -> SandboxUnavailable:
        return out_of_reach(self._tunnel.socket) or SandboxUnavailable(
            f"{self._tunnel.machine.name!r} is out of reach", hint="what runs there goes on"
        )

    async def stop(self) -> tuple[Proof, ...]:
        """As anywhere; what can't be reached is not proven gone."""
        self._given_up.set()
        try:
            await asyncio.to_thread(self._tunnel.open)
            return await super().stop()
        except SandboxUnavailable as error:
            self._stopped = True
            self._link.close()
            return (Proof("container", False, f"{error.message}; mlrb reap removes it later"),)
        finally:
            self._tunnel.close()
