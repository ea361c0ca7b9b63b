"""Iterated Battle of the Sexes against a given partner."""
