"""Where kept secrets go, and which of them a change keeps. Pure; opens and seals nothing.

Whoever may change an address may not read the secrets that are sent there. So they are given anew
when an address changes: kept ones never follow to another.
"""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from cairn.kernel.errors import FieldError, ValidationFailed

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from cairn.kernel.text.json_value import JsonValue

MOVED = "secrets-needed"


def renewed(stored: Mapping[str, str], changes: Mapping[str, str | None] | None) -> dict[str, str]:
    """Return the secrets after a change: what is given replaces, None removes, the rest stays."""
    both = {**stored, **(changes or {})}
    return {name: value for name, value in both.items() if value is not None}


def refuse_following(stored: Mapping[str, str], changes: Mapping[str, str | None] | None) -> None:
    """Raise ValidationFailed unless every kept secret is given anew, or removed."""
    left = sorted(stored.keys() - (changes or {}).keys())
    if left:
        fault = f"are needed anew, for they would go to another address: {', '.join(left)}"
        raise ValidationFailed(
            f"secrets {fault}.", reason=MOVED, errors=[FieldError("secrets", fault)]
        )


def destinations(config: JsonValue) -> frozenset[tuple[str, str]]:
    """Return the scheme, host and port of every address in settings, with where it stands."""
    return frozenset(_find_urls(config, ""))


def _find_urls(value: JsonValue, place: str) -> Iterator[tuple[str, str]]:
    if isinstance(value, dict):
        for name, each in value.items():
            yield from _find_urls(each, f"{place}.{name}")
    elif isinstance(value, list):
        for number, each in enumerate(value):
            yield from _find_urls(each, f"{place}.{number}")
    elif isinstance(value, str) and "://" in value:
        yield place, origin(value)


def origin(url: str) -> str:
    """Return the scheme, host and port of an address; all of one that cannot be read."""
    try:
        parts = urlsplit(url)
        return f"{parts.scheme}://{parts.hostname}:{parts.port or ''}"
    except ValueError:
        return url
