"""What each command of `mlrb` does; imported one at a time, when it is asked for."""
