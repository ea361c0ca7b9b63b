"""One seeded small world for the offline data of all tasks of this suite: a grammar and a base of facts.

What a model learns from the texts made here shows in the items made here. Pure Python, seconds, and the same bytes for
the same seed.
"""
