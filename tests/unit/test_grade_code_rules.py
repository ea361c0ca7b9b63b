"""Reading a strategy's source: honest code passes, forbidden code is named by its line."""

from pathlib import Path

import pytest

from evaluation.code_rules import MAX_BYTES, Strategy, read_strategy
from tasks import catalogue

HONEST = {
    "plain": "def row_strategy(history):\n    return 0\n",
    "typed": "def row_strategy(history: tuple[tuple[int, int], ...] = ()) -> int:\n    return 0\n",
    "star": "def row_strategy(*history):\n    return 0\n",
    "modules": "import math, random\nfrom collections import Counter\nimport numpy as np\n"
    "def row_strategy(history):\n    return int(np.argmax([math.pi, random.random()])) & Counter(a=1)['a']\n",
    "a class": "class Player:\n    def __init__(self):\n        self._seen = 0\n    def move(self, h):\n"
    "        self._seen += 1\n        return self._seen % 2\n"
    "PLAYER = Player()\ndef row_strategy(history):\n    return PLAYER.move(history)\n",
    "named tuples": "from collections import namedtuple\nR = namedtuple('R', 'a b')\n"
    "def row_strategy(history):\n    return R(0, 1)._replace(a=1).a\n",
    "own generator": "import random\nRNG = random.Random(3)\ndef row_strategy(history):\n    return RNG.randrange(2)\n",
    "a byte order mark": "\ufeffdef row_strategy(history):\n    return 0\n",
    "a main part": "def row_strategy(h):\n    return 0\nif __name__ == '__main__':\n    print(row_strategy(()))\n",
}


def read(tmp_path: Path, source: str | bytes) -> Strategy:
    path = tmp_path / "strategy.py"
    path.write_bytes(source.encode() if isinstance(source, str) else source)
    return read_strategy(path, function="row_strategy")


@pytest.mark.parametrize("source", HONEST.values(), ids=HONEST)
def test_honest_code_passes(tmp_path: Path, source: str) -> None:
    assert read(tmp_path, source).violations == ()


@pytest.mark.parametrize("name", ["mlgym/battle_of_sexes", "mlgym/prisoners_dilemma"])
def test_the_starters_pass(name: str) -> None:
    starter = catalogue.load(name).starter / "strategy.py"
    assert read_strategy(starter, function="row_strategy").violations == ()


def test_the_modules_to_load_beforehand_are_those_that_it_imports(tmp_path: Path) -> None:
    source = "import numpy.linalg\nfrom random import choice\ndef row_strategy(h):\n    import math\n    return 0\n"
    assert read(tmp_path, source).modules == ("math", "numpy", "random")


def test_forbidden_lines_are_named_and_a_long_list_is_cut(tmp_path: Path) -> None:
    source = "def row_strategy(h):\n    return 0\n" + "import os\n" * 9
    [broken] = read(tmp_path, source).violations
    assert broken["rule"] == "allowed_code"
    assert broken["evidence"].startswith("strategy.py line 3: imports os; strategy.py line 4")
    assert broken["evidence"].endswith("and 4 more")


@pytest.mark.parametrize(
    ("source", "said"),
    [
        (b"\xff\xfe", "can't be read"),
        (b"def row_strategy(h):\n\treturn 0\n        return 1\n", "line 3"),
        (b"x = 1\n", "defines no function row_strategy"),
        (b"row_strategy = lambda h: 0\n", "defines no function row_strategy"),
        (b"def row_strategy():\n    return 0\n", "must take one argument"),
        (b"def row_strategy(a, b):\n    return 0\n", "must take one argument"),
        (b"#" * (MAX_BYTES + 1), "at most 262,144 are read"),
        (b"x = " + b"(" * 5000, "strategy.py"),
        (b"x = " + b"-" * 100_000 + b"1\n", "strategy.py"),
        (b"x = 'a\x00b'\n", "strategy.py"),
    ],
)
def test_what_cannot_be_played_is_told_in_one_line(tmp_path: Path, source: bytes, said: str) -> None:
    with pytest.raises(ValueError, match=said) as caught:
        read(tmp_path, source)
    assert "\n" not in str(caught.value)
