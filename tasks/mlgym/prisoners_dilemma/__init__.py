"""Iterated Prisoner's Dilemma against a noisy mixture of rules."""
