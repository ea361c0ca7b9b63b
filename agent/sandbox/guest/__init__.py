"""The program inside a sandbox: runs commands, keeps their output, and answers the host over one stream.

Standard library only and Python 3.9 or newer: it is copied into containers whose Python is not ours. Nothing in it
may import the rest of the project.
"""
