"""Times a model: the prompt and the new tokens apart, after a warm-up, with seeded prompts and no sampling."""

import time
from typing import Any

from evaluation.model.metrics import Speed, Spread
from evaluation.model.perplexity import room

SEED = 20_241_022


def measure_speed(
    model: Any, *, prompt_tokens: int = 128, new_tokens: int = 32, warm_ups: int = 2, repeats: int = 7
) -> Speed:
    """Prefill and decode of one sequence on the model's device; shortened to what the model has room for."""
    import torch

    prompt_tokens, new_tokens = fitted(model, prompt_tokens, new_tokens)
    prompt = prompt_of(model, prompt_tokens)
    with torch.inference_mode():
        for _ in range(warm_ups):
            generate(model, prompt, new_tokens)
        runs = [generate(model, prompt, new_tokens) for _ in range(repeats)]
    steps = [step for _, steps, _ in runs for step in steps]
    return Speed(
        prompt_tokens=prompt_tokens,
        new_tokens=new_tokens,
        prefill_tokens_per_s=Spread.of_rates(prompt_tokens, [first for first, _, _ in runs]),
        decode_tokens_per_s=Spread.of_rates(new_tokens - 1, [sum(steps) for _, steps, _ in runs]),
        first_token_s=Spread.of_times([first for first, _, _ in runs]),
        next_token_s=Spread.of_times(steps),
        cached=runs[0][2],
        threads=torch.get_num_threads(),
    )


def fitted(model: Any, prompt_tokens: int, new_tokens: int) -> tuple[int, int]:
    """The lengths, shortened where the model has less room; at least one prompt token and two new ones."""
    fits = room(model)
    new_tokens = max(2, min(new_tokens, fits // 2))
    return max(1, min(prompt_tokens, fits - new_tokens)), new_tokens


def prompt_of(model: Any, tokens: int) -> Any:
    """Seeded token numbers, of shape (1, tokens), on the model's device."""
    import torch

    vocabulary = int(model.get_input_embeddings().weight.shape[0])
    generator = torch.Generator().manual_seed(SEED)
    return torch.randint(vocabulary, (1, tokens), generator=generator).to(next(model.parameters()).device)


def generate(model: Any, prompt: Any, new_tokens: int) -> tuple[float, list[float], bool]:
    """Continue a prompt greedily, whatever token ends a text: seconds to the first token, of each later one, cached."""
    import torch

    _finish(prompt)
    started = time.perf_counter()
    answer = model(input_ids=prompt, use_cache=True)
    token = answer.logits[:, -1:].argmax(-1)
    _finish(token)
    first_s = time.perf_counter() - started
    cache, steps = getattr(answer, "past_key_values", None), []
    sequence = prompt
    for _ in range(new_tokens - 1):
        started = time.perf_counter()
        if cache is None:
            sequence = torch.cat([sequence, token], dim=1)
            answer = model(input_ids=sequence, use_cache=False)
        else:
            answer = model(input_ids=token, past_key_values=cache, use_cache=True)
            cache = answer.past_key_values
        token = answer.logits[:, -1:].argmax(-1)
        _finish(token)
        steps.append(time.perf_counter() - started)
    return first_s, steps, cache is not None


def _finish(tensor: Any) -> None:
    """Wait for the GPU: its work is only queued when a call returns."""
    if tensor.is_cuda:
        import torch

        torch.cuda.synchronize()
