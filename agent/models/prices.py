"""What a reply costs, from the price list that genai-prices keeps."""

from agent.record.values import Usage


def cost_usd(usage: Usage, model: str, base_url: str) -> float | None:
    """US dollars for the usage of one reply; None where no price of that model at `base_url` is known.

    Cached reads and writes have prices of their own; reasoning is paid as output. Some prices rise with the
    length of the request, so the usage of several replies must not be added up first.
    """
    # It takes half a second to import, and a scripted run never needs it.
    import genai_prices

    cache_read = min(usage.cache_read_tokens, usage.input_tokens)
    cache_write = min(usage.cache_write_tokens, usage.input_tokens - cache_read)
    counted = genai_prices.Usage(
        input_tokens=usage.input_tokens,
        cache_read_tokens=cache_read,
        cache_write_tokens=cache_write,
        output_tokens=usage.output_tokens,
    )
    try:
        price = genai_prices.calc_price(counted, model, provider_api_url=base_url)
    except (LookupError, ValueError):
        return None
    return float(price.total_price)
