"""The truth about a run: an append-only event log, its blobs, the inbox, the lock and the index."""
