"""Who does it, where, and its record: scaffolds, models, tools, sandboxes, telemetry, runner."""

__version__ = "0.1.0"
