"""What an agent can use: one tool a file."""
