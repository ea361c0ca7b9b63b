"""What differs where Podman's Docker-compatible service runs the containers."""

from agent.errors import SandboxUnavailable

# When its last client goes, Podman closes a container's standard input for good: a guest that was spoken to there would
# never hear of anybody again after a cut stream. So it listens on a socket, and each stream leads there through a
# process of its own, which is root's: the agent's own processes could reach the socket, and are turned away.
_NAME = "mlrb-guest"
_RELAY = f"""
import os, socket, sys, threading, time
there = socket.socket(socket.AF_UNIX)
for _ in range(400):
    try:
        there.connect("\\0{_NAME}")
        break
    except OSError:
        time.sleep(0.025)
else:
    sys.exit("the guest does not listen")
def carry(read, write):
    while data := read(65536):
        write(data)
    os._exit(0)
def say(data):
    while data:
        data = data[os.write(1, data):]
threading.Thread(target=carry, args=(lambda size: os.read(0, size), there.sendall), daemon=True).start()
carry(there.recv, say)
"""
LISTENING = ("--name", _NAME)
"""What the guest is told."""
RELAY = ("/usr/bin/python3", "-I", "-S", "-c", _RELAY)
"""The command whose standard streams lead to the guest."""


def refuse_gpus(gpus: tuple[str, ...]) -> None:
    """Raise where GPUs are to be given: its service leaves wishes for devices unread, and gives none without a word."""
    if gpus:
        raise SandboxUnavailable(
            "Podman's Docker-compatible service gives no GPUs to containers",
            hint="have Docker run there, or --gpus none",
        )
