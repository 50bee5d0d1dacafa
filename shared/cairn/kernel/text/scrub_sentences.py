"""What a credential looks like in plain sentences and on command lines. Not assignments.

"my password hunter2 does not work": here the form of the value decides, a word of letters with
digits or symbols in it that is no version, date, file, unit, address or product.
"""

import re

from cairn.kernel.text.scrub_rules import Rule, is_placeholder, rule

_I = re.IGNORECASE
_S = r"[ \t\u00a0]"
_CHARACTER = r"""[^\s"'`\u00b4<>()\[\]{},;.!?\u2026:]"""
_VALUE = (
    r"(?!\[?REDACTED)"
    rf"(?P<secret>{_CHARACTER}(?>(?:{_CHARACTER}|[.,;!?:]++(?={_CHARACTER}))*))"
)
_MIXED = r"(?=\S{0,40}?[0-9!@#$%&*_~^+=?-])"
"""Looked ahead for, so that a sentence is read on to where such a value stands."""
_QUOTE = r"""["'`\u201c\u201e\u00ab(\[]?"""

_PASSWORD = (
    r"(?:pass?[ _-]?w(?:or|ro)[dt]e?s?|pass[ _-]?(?:phrase|code)s?|passwd|pwd|pw"
    r"|kennw(?:o|\u00f6)rt|mots?[ _-]de[ _-]passe|contrase\u00f1as?|clave)"
)
_NOUN = rf"(?<![A-Za-z0-9_-])(?<!REDACTED:){_PASSWORD}(?:['\u2019]s)?[0-9]{{0,2}}(?![A-Za-z0-9_-])"
_NOUN_HINTS = "pass pas pwd pw kennw passe contrase\u00f1 clave"
_VERB = (
    r"(?:is|was|are|were|be|been|lautet|ist|war|est|\u00e9tait|es|era|type|typed|enter|entered|use"
    r"|used|try|tried)"
)
_STILL = r"(?:still|now|just|currently|actually|set to|noch|jetzt|immer noch|toujours|ahora)"
_LINK = (
    rf"(?P<link>\b(?:{_VERB}(?:{_S}{_STILL})?|to|auf|\u00e0|a){_S}"
    r"|[:=\u2192]|->|=>|[ ][-\u2013][ ])"
)
_CHANGED = re.compile(r"\b(?:set|chang|reset|updat|cambia|ge\u00e4ndert)", _I)

_NO_PASSWORD = re.compile(
    # products, algorithms and protocols with their numbers
    r"(?i:sha|md|aes|rsa|ed|oauth|base|utf|ipv|win|windows|office|argon|pbkdf|bcrypt|tls|ssl|wpa"
    r"|wifi|python|ps|mp|yubikey|iphone|switch|http)[-_.]?\d[\w.-]*"
    r"|(?i:1password|keepass\d|lastpass)"
    r"|[a-z]?\d+(?:[.:,/x-]\d+)*[a-z%]{0,3}"  # versions, times, sizes, ordinals
    r"|[A-Z]{1,5}-?\d+(?:-\d+)*[A-Z]?"  # tickets, rooms, error codes
    r"|\d{1,4}[-./]\d{1,2}[-./]\d{1,4}\S*"  # dates
    r"|[\w./-]+\.[a-z]{2,5}|[\w.+-]+@[\w-]+(?:\.[\w-]+)+|\S*://\S*|[~.]?/\S*"  # files, addresses
    r"|[0-9a-f]{32,}|[0-9a-f-]{36}"  # digests and ids
    r"|[^\W\d_]+(?:[-_/+&'\u2019.*:=@][^\W\d_]+)*[-_/+&'\u2019.*:=%]{0,2}"  # words
    r"|\W+"
)
_HOST = re.compile(r"[a-z]{1,12}-?\d{1,2}")


def looks_like_a_password(text: str) -> bool:
    """Tell a made-up word, digits or symbols among its letters, from words, names and numbers."""
    if len(text) < 5 or is_placeholder(text):
        return False
    return _NO_PASSWORD.fullmatch(text) is None or _capital_inside(text)


def _capital_inside(text: str) -> bool:
    return text.isalpha() and re.search(r"[a-z]{2}[A-Z][a-z]+[A-Z][a-z]{2}", text) is not None


def _beside(match: re.Match[str]) -> bool:
    return looks_like_a_password(match["secret"])


def _further_on(match: re.Match[str]) -> bool:
    moved = match["link"].strip() in {"to", "auf", "\u00e0", "a"}
    if (
        moved
        and _CHANGED.search(match.string[max(0, match.start() - 40) : match.end() + 20]) is None
    ):
        return False
    return looks_like_a_password(match["secret"])


def _not_a_host(match: re.Match[str]) -> bool:
    return _beside(match) and _HOST.fullmatch(match["secret"]) is None


def _generated(match: re.Match[str]) -> bool:
    secret = match["secret"]
    digits = sum(map(str.isdigit, secret))
    return len(secret) >= 12 and digits >= 3 and any(map(str.isalpha, secret))


def _has_a_digit(match: re.Match[str]) -> bool:
    return any(map(str.isdigit, match["secret"]))


def _no_placeholder(match: re.Match[str]) -> bool:
    return not is_placeholder(match["secret"])


SENTENCE_RULES: tuple[Rule, ...] = (
    # password hunter2; password (hunter2)
    rule(
        "password",
        _NOUN_HINTS,
        rf"""{_NOUN}["']?{_S}{{0,3}}(?:(?<=\s)|[>("'\[]){_QUOTE}{_VALUE}""",
        _beside,
        flags=_I,
    ),
    # the password of the shared mailbox was hunter2; changed the password to hunter2
    rule(
        "password",
        _NOUN_HINTS,
        rf"{_NOUN}[^\n.!?;{{}}<>\[]{{0,60}}?{_LINK}{_S}{{0,3}}{_QUOTE}{_MIXED}{_VALUE}",
        _further_on,
        flags=_I,
    ),
    # the passphrase for the key is "correct horse battery"
    rule(
        "password",
        "phrase",
        r"""\bpass[ _-]?phrase\b[^\n"'.\u201c]{0,40}["'\u201c]"""
        r"""(?P<secret>[^\n"'\u201d\[]{8,128})["'\u201d]""",
        _no_placeholder,
        flags=_I,
    ),
    # user bob pass hunter2; my pass is hunter2
    rule(
        "password",
        "pass",
        rf"(?<![A-Za-z0-9_-])(?<!REDACTED:)pass{_S}{{1,3}}(?:(?:is|was){_S}{{1,3}})?{_MIXED}{_VALUE}",
        _not_a_host,
        flags=_I,
    ),
    # hunter2 is my password; log in with hunter2 as password
    rule(
        "password",
        _NOUN_HINTS,
        rf"(?<![^\s\"'(]){_MIXED}{_VALUE}[\"')]?{_S}(?:is|as|was|for|ist|als|est|es)"
        rf"(?:{_S}(?:the|my|our|your|his|her|their|a|mein|das|mon|le|mi|la))?(?:{_S}\w{{1,12}}){{0,2}}"
        rf"{_S}{_PASSWORD}(?![\w-])(?!{_S}(?:manager|server|store|vault|safe|app|reset|policy|field|page))",
        _beside,
        flags=_I,
    ),
    # can you reset it to hunter2? my old password was ...
    rule(
        "password",
        _NOUN_HINTS,
        rf"\b(?:set|reset|change|changed){_S}it{_S}(?:back{_S})?to{_S}{_QUOTE}{_MIXED}{_VALUE}",
        _not_a_host,
        flags=_I,
    ),
    # the credentials are admin / hunter2
    rule(
        "password",
        "cred login log sign zugang anmeld",
        r"(?<![\w:-])(?:credentials?|creds|login|log[ ]?in|sign[ ]?in|zugang\w{0,8}"
        r"|anmeld\w{0,6})\b[^\n]{0,24}?"
        rf"(?<![/\w.@-])[\w.@-]{{2,64}}(?:{_S}?/{_S}?|:){_MIXED}{_VALUE}",
        _not_a_host,
        flags=_I,
    ),
    # the PIN is 4711, the door code is 19A4
    rule(
        "pin",
        "pin code passcode",
        r"\b(?:pin|passcode|(?:alarm|door|gate|access|entry|t\u00fcr|haus)[ -]?code"
        rf"|code{_S}de{_S}la{_S}porte)\b[^\n.!?;]{{0,24}}?"
        rf"(?:[:=]|\b(?:is|was|are|ist|lautet|est|es)\b|(?<=pin)|(?<=code)){_S}{{1,3}}{_QUOTE}"
        r"(?P<secret>[0-9]{4,8}[#*]?|(?=[A-Z]{0,5}[0-9])[A-Z0-9]{4,8})(?![\w-])",
        _has_a_digit,
        flags=_I,
    ),
    # recovery key EsTJ 7kQp 93Lm aX2w
    rule(
        "recovery-code",
        "backup recovery rescue emergency",
        r"\b(?:backup|recovery|rescue|emergency)[ -](?:code|key)s?\b"
        rf"{_S}{{0,3}}(?:is|are|[:=])?{_S}{{1,3}}"
        r"(?P<secret>[A-Za-z0-9]{4,8}(?>(?:[ -][A-Za-z0-9]{4,8}){1,11})(?![\w-]))",
        _has_a_digit,
        flags=_I,
    ),
    # api key 9f8a7b6c5d4e3f2a1b0c
    rule(
        "token",
        "key token secret",
        r"\b(?:(?:api|access|secret|signing|private|auth)[ _-]?key|token|secret)"
        rf"{_S}{{1,3}}{_QUOTE}{_VALUE}",
        _generated,
        flags=_I,
    ),
    # wifi LakeGuest, key: fisch3rs-fritz
    rule(
        "password",
        "wifi wi-fi wlan wpa network",
        rf"\b(?:wi-?fi|wlan|wpa[23]?|network)\b[^\n.!?;]{{0,30}}?\bkey\b{_S}{{0,2}}(?:is|[:=])?{_S}{{1,2}}"
        rf"{_QUOTE}{_VALUE}",
        _not_a_host,
        flags=_I,
    ),
    # command lines that take a password
    rule(
        "password",
        "mysql mariadb sshpass docker",
        r"\b(?:(?:mysql|mysqldump|mysqladmin|mariadb)\b[^\n]{0,120}?\s-p|sshpass\s{1,3}-p\s{0,3}"
        r"|docker\s{1,3}login\b[^\n]{0,120}?\s-p\s{1,3})[\"']?(?!\[REDACTED)(?P<secret>[^\s\"']{3,}+)",
        _no_placeholder,
        flags=_I,
    ),
    rule(
        "password",
        "net",
        r"\bnet\s{1,3}use\b[^\n]{0,120}?\s(?!\[REDACTED)(?P<secret>[^\s/\\]{4,64})\s{1,3}/user:",
        _no_placeholder,
        flags=_I,
    ),
    # markup and calls: <password>x</password>, key="Password" value="x", setPassword("x")
    rule(
        "password",
        _NOUN_HINTS,
        rf"""{_PASSWORD}(?:>|["'\s]{{1,3}}value=["']|\(["'])(?!\[REDACTED)(?P<secret>[^\s"'<>]{{4,256}}+)["'<]""",
        _no_placeholder,
        flags=_I,
    ),
    # a line of .pgpass
    rule(
        "password",
        ":543 :330",
        r"(?<!\S)[\w.*-]{1,64}:[0-9]{4,5}:[\w*-]{1,64}:[\w*-]{1,64}:(?!\[REDACTED)(?P<secret>\S{4,}+)",
        _no_placeholder,
    ),
    # hashes of passwords can be tried out
    rule(
        "password-hash",
        "$2 $apr1$ $1$ $5$ $6$ $y$ $argon2",
        r"(?P<secret>\$(?:2[abxy]|apr1|[156y]|argon2(?:id|i|d))\$[A-Za-z0-9./$=,+]{20,}+)",
    ),
)
