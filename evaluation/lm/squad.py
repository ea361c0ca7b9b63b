"""SQuAD's exact match and F1, in the place where lm-eval's stock ReCoRD task looks for them.

lm-eval 0.4.13 imports them from `transformers.data.metrics.squad_metrics`, which transformers 5 no longer has. The
definitions are those of the SQuAD evaluation script (Rajpurkar et al. 2016, arXiv 1606.05250).
"""

import collections
import importlib.util
import re
import string
import sys
from types import ModuleType

_PLACE = "transformers.data.metrics.squad_metrics"


def provide_squad_metrics() -> None:
    """Put our functions there unless transformers has its own."""
    if _PLACE in sys.modules or _exists():
        return
    parent = _PLACE.rpartition(".")[0]
    package, module = sys.modules.get(parent) or ModuleType(parent), ModuleType(_PLACE)
    module.__dict__.update(compute_exact=compute_exact, compute_f1=compute_f1)
    package.__dict__["squad_metrics"] = module
    sys.modules.update({parent: package, _PLACE: module})


def _exists() -> bool:
    try:
        return importlib.util.find_spec(_PLACE) is not None
    except ModuleNotFoundError:
        return False


def compute_exact(gold: str, predicted: str) -> int:
    """1 where both are the same but for case, punctuation, articles and blanks."""
    return int(_words(gold) == _words(predicted))


def compute_f1(gold: str, predicted: str) -> float:
    """F1 of the words they share."""
    one, two = _words(gold), _words(predicted)
    if not one or not two:
        return float(one == two)
    same = sum((collections.Counter(one) & collections.Counter(two)).values())
    if not same:
        return 0.0
    precision, recall = same / len(two), same / len(one)
    return 2 * precision * recall / (precision + recall)


def _words(text: str) -> list[str]:
    bare = "".join(character for character in text.lower() if character not in string.punctuation)
    return re.sub(r"\b(a|an|the)\b", " ", bare).split()
