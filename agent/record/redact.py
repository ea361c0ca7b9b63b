"""Keeps secrets out of the record."""

import os
import re
from collections.abc import Callable, Iterable, Mapping

_SECRET_NAME = re.compile(r"(API_?KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIAL)", re.IGNORECASE)
_SHORTEST = 8


def redactor(environment: Mapping[str, str] = os.environ, more: Iterable[str] = ()) -> Callable[[str], str] | None:
    """A function that takes the values of secret-looking variables, and `more`, out of a text; None without any."""
    values = [*(value for name, value in environment.items() if _SECRET_NAME.search(name)), *more]
    secrets = {value for value in values if len(value) >= _SHORTEST}
    if not secrets:
        return None
    pattern = re.compile("|".join(re.escape(secret) for secret in sorted(secrets, key=len, reverse=True)))
    return lambda text: pattern.sub("[redacted]", text)


def without_secrets(environment: Mapping[str, str] = os.environ) -> dict[str, str]:
    """The environment without its secret-looking variables, for processes that need none of them."""
    return {name: value for name, value in environment.items() if not _SECRET_NAME.search(name)}
