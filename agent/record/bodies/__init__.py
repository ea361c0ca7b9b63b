"""The bodies of events, a family a file; `agent.record.events` is their union."""
