"""BLEU and ROUGE-L of generated texts against references, by sacrebleu and rouge-score."""

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True)
class TextScores:
    """How close generated texts are to their references; both from 0 to 1, None where there is no text."""

    bleu: float | None
    """Corpus BLEU-4, sacrebleu's figure divided by 100."""
    rouge_l: float | None
    """Mean F1 of the longest common subsequence of words, rouge-score without stemming."""
    texts: int
    signature: str
    """sacrebleu's own, so that the figure can be repeated."""

    def to_json(self) -> dict[str, Any]:
        """Plain values for `json.dumps`."""
        return asdict(self)


def score_texts(hypotheses: Sequence[str], references: Sequence[str]) -> TextScores:
    """Score each text against its one reference; `ValueError` where the numbers of both differ."""
    if len(hypotheses) != len(references):
        raise ValueError(f"{len(hypotheses)} texts for {len(references)} references")
    if not references:
        return TextScores(None, None, 0, "")
    from rouge_score.rouge_scorer import RougeScorer  # type: ignore[import-untyped]
    from sacrebleu.metrics.bleu import BLEU

    metric = BLEU()
    # sacrebleu drops a whole line break into a text's tokens; a script of several lines is one text.
    bleu = metric.corpus_score([_flat(text) for text in hypotheses], [[_flat(text) for text in references]])
    scorer = RougeScorer(["rougeL"], use_stemmer=False)
    pairs = zip(references, hypotheses, strict=True)
    rouge = [float(scorer.score(reference, text)["rougeL"].fmeasure) for reference, text in pairs]
    return TextScores(
        bleu=float(bleu.score) / 100,
        rouge_l=math.fsum(rouge) / len(rouge),
        texts=len(references),
        signature=str(metric.get_signature()),
    )


def _flat(text: str) -> str:
    return " ".join(text.split())
