"""Who does it, where, and its record: scaffolds, models, tools, sandboxes, telemetry, runner."""
