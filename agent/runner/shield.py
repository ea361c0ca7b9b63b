"""Keeps the runner's memory and environment, where the keys are, from other processes of the same user."""

import ctypes
import sys

_PR_SET_DUMPABLE = 4


def shield() -> None:
    """From now on the kernel lets nobody but root look into this process or dump it; children are as any once they run.

    A local sandbox's commands run as the same user, and `/proc/PID/environ` is where they would find a key.
    """
    if sys.platform != "linux":
        return
    prctl = ctypes.CDLL(None, use_errno=True).prctl
    prctl.argtypes = (ctypes.c_int, *(ctypes.c_ulong,) * 4)
    if prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "the runner could not be shielded")
