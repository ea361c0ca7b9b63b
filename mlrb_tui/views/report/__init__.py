"""The report of one run: its data, and how it reads as text, Markdown and HTML."""
