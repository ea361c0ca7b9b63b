"""How it went: the isolated grader, metrics, spot-checks, and the analysis of many runs."""
