"""The models that speak in a run: one for the only agent, or the supervisor's and the workers'."""

import asyncio
from pathlib import Path

from agent.models.base import Model
from agent.models.choose import open_model
from agent.models.scripted import Part
from agent.record.request import RunRequest


class Voices:
    """Opens models as they are needed and closes them together; `parts` where supervisor and workers speak."""

    def __init__(self, request: RunRequest, script: Path | None, *, parts: bool) -> None:
        self._request = request
        self._script = script
        self._parts = parts
        self._open: dict[str, Model] = {}

    async def warm(self) -> None:
        """Open what is sure to be needed: importing a vendor's SDK takes a second or more, and a missing key is told
        before anything else is begun. Raises `ModelUnavailable`."""
        for worker in (0, 1) if self._parts else (0,):
            await asyncio.to_thread(self.of, worker, 0)

    def of(self, worker: int, spoken: int) -> Model:
        """The model that speaks for that worker, which has given `spoken` replies already."""
        request = self._request
        leads = self._parts and worker == 0 and bool(request.supervisor_model)
        name = request.supervisor_model if leads else request.model
        if name.partition(":")[0] == "scripted" and self._parts:
            part = Part(worker, spoken)
            return open_model(name, script=self._script, pace_s=request.pace_s, part=part)
        if name not in self._open:
            # The server that is named is the workers'; another vendor's model is not there.
            same = name.partition(":")[0] == request.model.partition(":")[0]
            base_url = request.base_url if same else ""
            self._open[name] = open_model(name, base_url=base_url, script=self._script, pace_s=request.pace_s)
        return self._open[name]

    async def close(self) -> None:
        """Let go of all connections; a scripted part holds none."""
        await asyncio.gather(*(model.close() for model in self._open.values()))
