"""Where commands run: a process tree here, or a container here or on a machine reached by SSH."""
