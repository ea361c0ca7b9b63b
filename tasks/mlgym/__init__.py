"""The tasks of MLGym-Bench (arXiv 2502.14499), one folder a task."""
