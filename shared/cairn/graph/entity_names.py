"""Names of entities: what one must be, when two are the same, and what domain they belong to."""

import re
import unicodedata
from collections.abc import Iterator

_PLAIN = """
    com org net edu gov mil int biz io ai dev app cloud tech online site shop store blog agency
    design digital media studio solutions services systems software network consulting law legal
    health care bank finance finances money capital ventures company group team works wiki xyz
    space world live news tv fm gg ly eu uk ca fr de nl ch es pt pl se fi dk ie au nz jp cn kr hk
    sg tw br mx ar cl za ru ua cz sk hu ro bg gr tr il ae sa qc quebec paris london berlin
"""
_WORDLIKE = """
    it in is be me us at so to no my do am as in on co info name id run build zone page link help
    email today one life best
"""
# only where a link or an address says so, for `user.id` and a missing space look the same
_MAIL = """
    gmail.com googlemail.com outlook.com hotmail.com live.com yahoo.com icloud.com aol.com
    proton.me protonmail.com gmx.de gmx.net web.de orange.fr free.fr laposte.net videotron.ca
    example.com example.org example.net
"""
_MAIL_HOSTS = frozenset(_MAIL.split())
_PLAIN_ENDS = frozenset(_PLAIN.split())
_WORDLIKE_ENDS = frozenset(_WORDLIKE.split())

_HOST = re.compile(
    r"(?<![\w.\-\\/])(?P<before>[A-Za-z]{2,10}://|[\w.+-]{1,64}+@|@)?"
    r"(?P<host>[A-Za-z0-9](?:[A-Za-z0-9-]*+)(?>(?:\.[A-Za-z0-9][A-Za-z0-9-]*+)+))"
    r"(?![\w@\\]|\.\w|\()"
)


def find_domains(text: str) -> Iterator[tuple[int, int, str]]:
    """Yield (start, end, name) of each domain name in order, small letters, without www.

    A closed list of endings decides, so `main.py` and `app.ts` are none. Endings that are also
    words count only in a link or after an @. The hosts of free mail name nobody. O(characters).
    """
    for match in _HOST.finditer(text):
        host = match.group("host")
        linked = match.group("before") is not None or host.startswith("www.")
        if _is_domain(host, linked=linked):
            name = host.lower().removeprefix("www.")
            if name not in _MAIL_HOSTS:
                yield match.start("host"), match.end("host"), name


def _is_domain(host: str, *, linked: bool) -> bool:
    labels = host.split(".")
    ending = labels[-1]
    if len(host) > 253 or any(len(label) > 63 or label.endswith("-") for label in labels):
        return False
    if not (ending.islower() or host.isupper()):  # "done.In the" misses a space
        return False
    ending = ending.lower()
    return ending in _PLAIN_ENDS or (linked and ending in _WORDLIKE_ENDS)


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
    if not tidy.isprintable() and any(unicodedata.category(item) in _REFUSED for item in tidy):
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
