"""Widgets, one a file; they draw plain values."""
