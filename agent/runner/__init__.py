"""One run from launch to end, in a process that no terminal owns: `python -m agent.runner RUN_DIR`."""
