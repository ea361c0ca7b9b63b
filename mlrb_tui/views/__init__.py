"""Folds: events in, plain values out. Nothing here knows Textual."""
