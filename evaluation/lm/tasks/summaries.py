"""ROUGE-L of a generated summary, for the task file beside this one."""

from collections.abc import Mapping, Sequence


def process_results(row: Mapping[str, str], results: Sequence[str]) -> dict[str, float]:
    """F-measure of the longest common subsequence with stemmed words (Lin 2004), by rouge-score."""
    from rouge_score.rouge_scorer import RougeScorer  # type: ignore[import-untyped]

    scorer = RougeScorer(["rougeL"], use_stemmer=True)
    return {"rouge_l": float(scorer.score(row["target"], results[0])["rougeL"].fmeasure)}
