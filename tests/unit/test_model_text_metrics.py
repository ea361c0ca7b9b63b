"""BLEU and ROUGE-L are those of sacrebleu and rouge-score; no text gives no score."""

import pytest

pytest.importorskip("sacrebleu")
pytest.importorskip("rouge_score")

from evaluation.model.text_metrics import score_texts

pytestmark = pytest.mark.eval

REFERENCES = ["theorem t (x : ℝ) : x = x := by refl", "the cat sat on the mat today"]


def test_the_same_texts_score_one_and_strangers_near_none() -> None:
    same = score_texts(REFERENCES, REFERENCES)
    assert same.bleu == pytest.approx(1.0)
    assert same.rouge_l == pytest.approx(1.0)
    assert same.texts == 2
    assert same.signature.startswith("nrefs:1|")
    other = score_texts(["no", ""], REFERENCES)
    assert other.bleu is not None
    assert other.bleu < 0.05
    assert other.rouge_l == 0


def test_known_values() -> None:
    scores = score_texts(["the cat sat on the mat"], ["the cat sat on the mat today"])
    # Precisions are all one; the brevity penalty is exp(1 - 7/6). Of 7 words 6 are common: F1 = 12/13.
    assert scores.bleu == pytest.approx(0.84648, abs=1e-4)
    assert scores.rouge_l == pytest.approx(12 / 13)


def test_a_script_of_several_lines_is_one_text() -> None:
    broken = [text.replace(" ", "\n") for text in REFERENCES]
    assert score_texts(broken, REFERENCES).bleu == pytest.approx(1.0)


def test_nothing_scored_is_null_and_a_missing_text_is_an_error() -> None:
    assert score_texts([], []).to_json() == {"bleu": None, "rouge_l": None, "texts": 0, "signature": ""}
    with pytest.raises(ValueError, match="1 texts for 2 references"):
        score_texts(["a"], REFERENCES)
