"""The tasks of ML Research Benchmark (arXiv 2410.22553), in our own words."""
