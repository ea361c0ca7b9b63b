"""Scores of language models by lm-evaluation-harness with its stock task files, offline on folders in the hub's layout.

Nothing heavy is imported at the top of any module here, so that a grader pays for it only when it scores.
"""
