"""A working directory in which `datasets` finds local folders under the hub's names, with the network switched off."""

import contextlib
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

OFFLINE = {
    "HF_HUB_OFFLINE": "1",
    "HF_DATASETS_OFFLINE": "1",
    "HF_HUB_DISABLE_TELEMETRY": "1",
    "TOKENIZERS_PARALLELISM": "false",
}


@contextlib.contextmanager
def offline_in(folder: Path) -> Iterator[None]:
    """Work in that folder with the hub switched off and every cache in a folder that is thrown away.

    `datasets` takes a folder of a set's name in the working directory before it asks the hub.
    """
    here = Path.cwd()
    with tempfile.TemporaryDirectory(prefix="lm-harness-") as cache:
        settings = {**OFFLINE, "HF_HOME": cache, "HF_DATASETS_CACHE": f"{cache}/datasets"}
        before = {name: os.environ.get(name) for name in settings}
        os.environ.update(settings)
        import datasets  # type: ignore[import-untyped]

        # The variable is read once, at the first import; a later evaluation in this process must not find the rows
        # of an earlier one, which are cached under the same relative name.
        cached = datasets.config.HF_DATASETS_CACHE
        datasets.config.HF_DATASETS_CACHE = f"{cache}/datasets"
        os.chdir(folder)
        try:
            yield
        finally:
            os.chdir(here)
            datasets.config.HF_DATASETS_CACHE = cached
            for name, value in before.items():
                if value is None:
                    del os.environ[name]
                else:
                    os.environ[name] = value
