"""The resource a call is about: the path a tool declares, filled, in every way it can be read.

What a tool makes of a value is not known here: it may decode it, or split it at slashes. So each
way of reading it is a path of its own, and scopes must hold for all. Not a normaliser: nothing is
changed on its way to the tool.
"""

from __future__ import annotations

import re
import unicodedata
from itertools import chain, product
from math import prod
from typing import TYPE_CHECKING
from urllib.parse import unquote

if TYPE_CHECKING:
    from collections.abc import Mapping

    from cairn.kernel.text.json_value import JsonValue
    from cairn.safety.patterns import Path, Pattern

MAX_VALUE_CHARS = 1_000
MAX_DECODINGS = 4
MAX_READINGS = 256

_FIELD = re.compile(r"\{([A-Za-z_][A-Za-z0-9_]{0,63})\}")
_PLAIN = re.compile(r"[^{}\s\x00-\x1f\x7f]+")
_SPLIT = re.compile(r"[/\\]")
_FORBIDDEN = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\ufffd\ud800-\udfff]")


class UnsafeResource(Exception):
    """A resource that could be another one, too. Its text names the argument, not the value."""


def readings(template: str, arguments: Mapping[str, JsonValue]) -> tuple[Path, ...]:
    """Return the filled path in every way it may be read, the value kept whole first.

    Raises UnsafeResource when the template is malformed, an argument it names is missing or no
    plain value, or a value is empty, too long, holds control characters, climbs (`..`) or is
    encoded more than four times, or there are more than 256 ways.
    """
    parts: list[tuple[Path, ...]] = []
    for segment in template.split("/"):
        named = _FIELD.fullmatch(segment)
        if named:
            parts.append(_forms(named[1], arguments))
        elif _PLAIN.fullmatch(segment) and segment not in (".", ".."):
            parts.append(((segment,),))
        else:
            raise UnsafeResource("the tool declares a malformed resource")
    if prod(map(len, parts)) > MAX_READINGS:
        raise UnsafeResource("the arguments can be read in too many ways")
    paths = (tuple(chain.from_iterable(forms)) for forms in product(*parts))
    return tuple(dict.fromkeys(paths))


def spelled_alike(pattern: Pattern, path: Path) -> bool:
    """Return whether `path` matches as it is, or once its spelling is normalise out: for denies."""
    return pattern.matches(path) or pattern.matches_folded(path)


def _forms(name: str, arguments: Mapping[str, JsonValue]) -> tuple[Path, ...]:
    """Return the segments an argument may become: whole, split, and after each decoding."""
    value = _plain(name, arguments.get(name))
    found: list[Path] = [(value,)]
    seen: set[str] = set()
    texts = {value}
    for _ in range(MAX_DECODINGS + 1):
        texts |= {unicodedata.normalize("NFKC", text) for text in texts}
        found += [_split(name, one) for text in sorted(texts) for one in (text, text.strip())]
        seen |= texts
        texts = {unquote(text, errors="replace") for text in texts} - seen
        if not texts:
            return tuple(dict.fromkeys(found))
    raise UnsafeResource(f"the argument {name} is encoded over and over")


def _plain(name: str, value: JsonValue) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        value = str(value) if abs(value) < 2**63 else ""
    if not isinstance(value, str) or not value.strip():
        raise UnsafeResource(f"the argument {name} is missing or no plain value")
    if len(value) > MAX_VALUE_CHARS:
        raise UnsafeResource(f"the argument {name} is too long")
    return value


def _split(name: str, text: str) -> Path:
    if _FORBIDDEN.search(text):
        raise UnsafeResource(f"the argument {name} holds control characters")
    segments = tuple(one for one in _SPLIT.split(text) if one)
    if not segments or any(one.strip(". \t") == "" for one in segments):
        raise UnsafeResource(f"the argument {name} climbs or is empty")
    return segments
