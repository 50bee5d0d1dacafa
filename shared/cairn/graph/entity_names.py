"""What a name must be to be kept, and when two names are the same. Not which names are worth it."""

import unicodedata

MAX_NAME_CHARS = 200

_REFUSED = frozenset({"Cc", "Cs", "Co", "Cn"})  # controls, surrogates, private use, unassigned


def tidy_name(name: str) -> str | None:
    """Return the name composed (NFC) and with single spaces; None when it cannot be kept.

    Refused are names that are empty, longer than `MAX_NAME_CHARS`, or hold control characters
    (NUL among them), lone surrogates, or code points that mean nothing to others.
    """
    tidy = " ".join(unicodedata.normalize("NFC", name[: 4 * MAX_NAME_CHARS]).split())
    if not 0 < len(tidy) <= MAX_NAME_CHARS:
        return None
    if not tidy.isprintable() and any(unicodedata.category(one) in _REFUSED for one in tidy):
        return None
    return tidy


def lookup_key(name: str) -> str:
    """Return the name as stored ones are looked up: composed, in lower case.

    Lower case and not casefolded: it is what the index of stored names is made with.
    """
    return unicodedata.normalize("NFC", name).lower()


def name_key(name: str) -> str:
    """Return what two spellings of one name have in common: composed, casefolded, single spaces."""
    return " ".join(unicodedata.normalize("NFC", name).casefold().split())
