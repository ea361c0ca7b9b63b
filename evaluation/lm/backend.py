"""The stock HF backend of lm-eval, saying how far it is and going on with smaller batches where memory runs out."""

import time
from collections.abc import Callable, Sequence
from typing import Any

from evaluation.lm.batch import first_size, is_out_of_memory

Progress = Callable[[int, int, str], None]
"""Called with done, total and what is being done."""

Answer = tuple[float, bool]


class Answers:
    """Takes the place of lm-eval's cache hook: remembers what has been answered, by context and continuation."""

    def __init__(self) -> None:
        self.given: dict[Any, Answer] = {}

    def add_partial(self, kind: str, request: Any, answer: Answer) -> None:
        """One more answer; lm-eval calls this after each."""
        self.given[request] = answer


def backend(report: Progress, clock: Callable[[], float] = time.monotonic) -> Any:
    """The backend's class; a class made here, since its base is heavy to import."""
    from lm_eval.models.huggingface import HFLM  # type: ignore[import-untyped]

    class PatientHFLM(HFLM):  # type: ignore[misc]
        size_by_memory = False
        """Whether the batch size is found out at the first requests."""
        shrunk_from = 0
        """The size that was too large, where one was."""
        _done = 0
        _total = 0
        _begun = 0.0

        def _loglikelihood_tokens(
            self, requests: Sequence[Any], disable_tqdm: bool = True, override_bs: int | None = None
        ) -> list[Answer]:
            if self.size_by_memory and requests:
                longest = max(len(context) + len(continuation) for _, context, continuation in requests)
                self.batch_size_per_gpu = first_size(self.config, min(longest, self.max_length), str(self.device))
            self._done, self._total, self._begun = 0, len(requests), clock()
            self.cache_hook = answers = Answers()
            left = list(requests)
            self._tell()
            while (found := self._try(left, override_bs)) is None:
                self._shrink()
                left = [request for request in requests if request[0] not in answers.given]
            self._done = self._total
            self._tell()
            # Whole as lm-eval gave them where nothing went wrong.
            return found if len(left) == len(requests) else [answers.given[request[0]] for request in requests]

        def _try(self, requests: list[Any], override_bs: int | None) -> list[Answer] | None:
            """All answers, or None where memory ran out and a smaller batch can be tried."""
            try:
                found: list[Answer] = super()._loglikelihood_tokens(requests, True, override_bs)
            except (RuntimeError, MemoryError) as error:
                if self.batch_size_per_gpu <= 1 or not is_out_of_memory(error):
                    raise
                return None
            return found

        def _shrink(self) -> None:
            import torch

            self.shrunk_from = self.shrunk_from or self.batch_size_per_gpu
            self.batch_size_per_gpu //= 2
            if torch.cuda.is_available():
                torch.cuda.empty_cache()
            self._tell(f"out of memory, going on with batches of {self.batch_size_per_gpu}")

        def _model_call(self, inps: Any, *args: Any, **kwargs: Any) -> Any:
            logits = super()._model_call(inps, *args, **kwargs)
            # Requests that share a prefix are one row here, so the rows can be fewer than the requests.
            rows = int(inps.shape[0])
            self._done = max(min(self._done + rows, self._total), len(self.cache_hook.given))
            self._tell()
            return logits

        def _tell(self, trouble: str = "") -> None:
            left_s = (clock() - self._begun) * (self._total - self._done) / self._done if self._done else 0.0
            report(self._done, self._total, trouble or (f"sentences, {left_s:.0f} s left" if left_s else "sentences"))

    return PatientHFLM
