"""How an agent is led: one scaffold a file."""
