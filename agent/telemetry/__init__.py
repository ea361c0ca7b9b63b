"""What a run uses and how its training goes: GPU, host, and progress read out of command output."""
