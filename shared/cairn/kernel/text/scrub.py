"""Takes credentials out of text before anything is stored. Not redaction of personal data.

Rules, in order, are in `scrub_rules` and `scrub_sentences`. Every pattern starts at a rare literal
and uses bounded or possessive repeats, so the time is linear in the text. Why not detect-secrets:
it reports which line of a file holds a secret, through plugins and process-wide settings, and gives
no span to replace.
"""

from dataclasses import dataclass

from cairn.kernel.errors import ValidationFailed
from cairn.kernel.text.json_value import JsonValue
from cairn.kernel.text.scrub_rules import RULES, Rule, secret_name
from cairn.kernel.text.scrub_sentences import SENTENCE_RULES

MAX_DEPTH = 100
_MAX_PASSES = 4


@dataclass(frozen=True, slots=True)
class Scrubbed:
    """Text without credentials, and the kinds that were found, sorted and distinct."""

    text: str
    found: tuple[str, ...]


def marker(kind: str) -> str:
    """Return what stands in the text instead of a credential of `kind`."""
    return f"[REDACTED:{kind}]"


def scrub(text: str) -> Scrubbed:
    """Replace every credential by `[REDACTED:<kind>]`; scrubbing the result changes nothing."""
    results: set[str] = set()
    for _ in range(_MAX_PASSES):
        before = text
        lowered = text.casefold()
        for rule in (*RULES, *SENTENCE_RULES):
            if any(hint in lowered for hint in rule.hints):
                text = _apply(rule, text, results)
        if text == before:
            break
    return Scrubbed(text, tuple(sorted(results)))


def scrub_value(value: JsonValue) -> tuple[JsonValue, tuple[str, ...]]:
    """Scrub every string of a JSON value, keys included, and whole values whose key names a secret.

    Returns a new value and the kinds found. Keys that become equal are told apart by a number.
    Raises ValidationFailed when nested deeper than 100 levels.
    """
    results: set[str] = set()
    return _scrub_value(value, None, results, MAX_DEPTH), tuple(sorted(results))


def _apply(rule: Rule, text: str, results: set[str]) -> str:
    pieces: list[str] = []
    start = 0
    for match in rule.pattern.finditer(text):
        if rule.accepts is not None and not rule.accepts(match):
            continue
        begin, end = match.span("secret")
        pieces += [text[start:begin], marker(rule.kind)]
        start = end
        results.add(rule.kind)
    return "".join(pieces) + text[start:] if pieces else text


def _scrub_value(value: JsonValue, kind: str | None, results: set[str], depth: int) -> JsonValue:
    if depth == 0:
        raise ValidationFailed("This value is nested too deeply.", reason="too-deep")
    if isinstance(value, str):
        return _scrub_text(value, kind, results)
    if isinstance(value, list):
        return [_scrub_value(item, kind, results, depth - 1) for item in value]
    if isinstance(value, dict):
        return _scrub_object(value, kind, results, depth)
    if kind == "password" and isinstance(value, (int, float)) and not isinstance(value, bool):
        results.add(kind)
        return marker(kind)
    return value


def _scrub_object(
    value: dict[str, JsonValue], kind: str | None, results: set[str], depth: int
) -> dict[str, JsonValue]:
    clean: dict[str, JsonValue] = {}
    for key, item in value.items():
        name = unique = _scrub_text(key, None, results)
        number = 1
        while unique in clean:
            number += 1
            unique = f"{name} {number}"
        clean[unique] = _scrub_value(item, secret_name(key) or kind, results, depth - 1)
    return clean


def _scrub_text(text: str, kind: str | None, results: set[str]) -> str:
    if kind is not None and text.strip() and not text.startswith("[REDACTED:"):
        results.add(kind)
        return marker(kind)
    scrubbed = scrub(text)
    results.update(scrubbed.found)
    return scrubbed.text
