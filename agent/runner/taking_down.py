"""The end of what a run held: its model, its sandbox, its memory on the GPUs; proven gone, thing by thing."""

import asyncio
from collections.abc import Callable

from agent.errors import SandboxError
from agent.record import events as ev
from agent.record.home import RunFolder
from agent.record.text import one_line
from agent.record.values import Proof
from agent.runner import gpu_memory
from agent.runner.journal import Journal
from agent.runner.voices import Voices
from agent.sandbox.base import Sandbox
from tasks.errors import MlrbError

STOP_PATIENCE_S = 60.0
MODEL_PATIENCE_S = 10.0


async def closed(voices: Voices | None) -> Proof:
    """No call is left: what asks was cut short, and the way to the model is closed under what did not let go."""
    what = "model calls"
    if voices is None:
        return Proof(what, True, "no model was open")
    try:
        async with asyncio.timeout(MODEL_PATIENCE_S):
            await voices.close()
    except TimeoutError:
        return Proof(what, False, f"its connection did not close within {MODEL_PATIENCE_S:.0f} s")
    except MlrbError as error:
        return Proof(what, False, one_line(error.message))
    return Proof(what, True, "none is open")


async def stopped(sandbox: Sandbox) -> tuple[Proof, ...]:
    """The sandbox is taken down; one that does not let itself be is said to be left."""
    try:
        async with asyncio.timeout(STOP_PATIENCE_S):
            return await sandbox.stop()
    except TimeoutError:
        return (Proof("sandbox", False, f"it did not stop within {STOP_PATIENCE_S:.0f} s"),)
    except SandboxError as error:
        return (Proof("sandbox", False, one_line(error.message)),)


async def with_checklist(
    journal: Journal, folder: RunFolder, model_gone: Proof, sandbox: Sandbox, where: str
) -> tuple[Proof, ...]:
    """Take down what a kill has to prove gone; each line of the checklist is an event as it becomes true.

    `where` is the sandbox's kind, which names its machine.
    """

    def tell(proof: Proof) -> None:
        journal.append(ev.ProofFound(what=proof.what, proven=proof.proven, detail=proof.detail))

    proofs = [model_gone]
    tell(model_gone)
    for proof in await stopped(sandbox):
        proofs.append(proof)
        tell(proof)
    if journal.summary.gpus:
        proofs.append(await _gpu_memory_back(folder, where, tell))
        tell(proofs[-1])
    return tuple(proofs)


async def _gpu_memory_back(folder: RunFolder, where: str, tell: Callable[[Proof], None]) -> Proof:
    loop = asyncio.get_running_loop()

    def waits(proof: Proof) -> None:
        loop.call_soon_threadsafe(tell, proof)

    return await asyncio.to_thread(gpu_memory.prove_back, folder, where, waits)
