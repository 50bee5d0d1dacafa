"""What a credential looks like: one table of rules. Not the scrubbing itself.

A rule may run over hostile text of any length: repeats are bounded or possessive, and a pattern
that begins with a repeat is anchored by a look-behind to the start of the run.
"""

import base64
import binascii
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache


@dataclass(frozen=True, slots=True)
class Rule:
    """One kind of credential.

    `hints` are casefolded literals of which one must be in the text for the pattern to be tried;
    the group `secret` of `pattern` is what gets replaced; `accepts` has the last word.
    """

    kind: str
    hints: tuple[str, ...]
    source: str
    flags: int = 0
    accepts: Callable[[re.Match[str]], bool] | None = None

    @property
    def pattern(self) -> re.Pattern[str]:
        """Return the pattern, compiled when the rule is first tried."""
        return _compiled(self.source, self.flags)


@cache
def _compiled(source: str, flags: int) -> re.Pattern[str]:
    return re.compile(source, flags)


def rule(
    kind: str,
    hints: str,
    pattern: str,
    accepts: Callable[[re.Match[str]], bool] | None = None,
    *,
    flags: int = 0,
) -> Rule:
    """Return a rule; `hints` are separated by blanks."""
    return Rule(kind, tuple(hints.split()), pattern, flags, accepts)


def _shape(text: str) -> tuple[int, int, int]:
    """Return how many digits, upper-case and lower-case letters `text` has."""
    return (
        sum(map(str.isdigit, text)),
        sum(map(str.isupper, text)),
        sum(map(str.islower, text)),
    )


def looks_random(text: str) -> bool:
    """Tell a generated token from a word: digits among letters, mixed case, or very long."""
    digits, upper, lower = _shape(text)
    if len(text) >= 8 and digits and upper + lower:
        return True
    if len(text) >= 12 and upper > 1 and lower > 1 and not text.istitle():
        return True
    return len(text) >= 24 or (len(text) >= 6 and digits == len(text))


def _random_secret(match: re.Match[str]) -> bool:
    return looks_random(match["secret"])


def _sk_key(match: re.Match[str]) -> bool:
    secret = match["secret"]
    return _shape(secret)[0] >= 3 or max(map(len, re.split(r"[-_]", secret))) >= 20


def _long_and_random(match: re.Match[str]) -> bool:
    digits, upper, lower = _shape(match["secret"])
    return len(match["secret"]) >= 20 and digits + upper > 0 and upper + lower > 0


def _aws_secret(match: re.Match[str]) -> bool:
    secret = match["secret"]
    digits, upper, lower = _shape(secret)
    mixed = digits >= 3 or (digits and ("/" in secret or "+" in secret))
    return bool(mixed) and upper >= 5 and lower >= 5 and secret.count("/") < 5


def _basic_pair(match: re.Match[str]) -> bool:
    raw = match["secret"].rstrip("=")
    try:
        return b":" in base64.b64decode(raw + "=" * (-len(raw) % 4), validate=True)
    except binascii.Error:
        return False


def _opaque_user(match: re.Match[str]) -> bool:
    return len(match["secret"]) >= 20 and looks_random(match["secret"])


# What stands where a secret would, without being one: empty words, types, templates, code.
_PLACEHOLDER = re.compile(
    r"(?:https?://.*|none|null|nil|true|false|required|optional(?:\[.*)?|missing|empty|unset|undefined|string"
    r"|str|text|int|integer|float|bool|any|bytes|varchar|hidden|redacted|secretstr|yes|no|n/a|tbd"
    r"|[*x•.…-]+|\$\{?[a-z_][a-z0-9_]*\}?|\$?\{\{?[^{}]*\}?\}?|<[^<>]*>?|%\w*%|/[a-z].*"
    r"|(?:os|process|self|this|settings|config|cfg|env|args|form|data|params|options|opts|kwargs"
    r"|request|req|ctx|context|payload|body|values)[.\[].*"
    r"|(?:get_?\w{0,40}|input|read_?\w{0,40}|decode_?\w{0,40}|generate_?\w{0,40})\(.*"
    r"|[a-z_]{1,40}(?:\.[a-z_0-9]{1,40}){0,4}\(.*)",
    re.IGNORECASE | re.DOTALL,
)


# How a sentence goes on after "password:"; nobody's password, and everybody's prose.
_SENTENCE = """
    a an the is are was were be must should shall can cannot could may might will would has have
    do does not never always only it its they we you your he she this that these those there here
    in on at to for from by with without of and or but if as when where why how what who which see
    use using ask please same new old change changed reset forgot forgotten expired incorrect
    invalid wrong weak strong strict minimum maximum length rules policy stored files
"""
_SENTENCE_WORDS = frozenset(_SENTENCE.split())


def is_placeholder(secret: str) -> bool:
    """Tell what stands where a secret would, without being one, such as `${DB_PASSWORD}`."""
    return _PLACEHOLDER.fullmatch(secret[:200]) is not None


def _url_password(match: re.Match[str]) -> bool:
    return not is_placeholder(match["secret"].rpartition(":")[2])


def _password_value(match: re.Match[str]) -> bool:
    return len(match["secret"]) >= 3 and not is_placeholder(match["secret"])


def _assigned_password(match: re.Match[str]) -> bool:
    sign, secret = match["assign"].strip(" \t"), match["secret"]
    if match["quoted"] is None and sign == ":" and secret.casefold() in _SENTENCE_WORDS:
        return False
    if match["quoted"] is None and sign == "==" and secret.rstrip(":").isidentifier():
        return False
    return _password_value(match)


def _told_password(match: re.Match[str]) -> bool:
    secret = match["secret"]
    if len(secret) < 4 or is_placeholder(secret):
        return False
    if match["quoted"] and " " not in secret:
        return True
    return re.fullmatch(r"[^\W\d_]+(?:['\u2019-][^\W\d_]+)*", secret) is None and " " not in secret


def _token_value(match: re.Match[str]) -> bool:
    secret = match["secret"]
    if is_placeholder(secret):
        return False
    tight = match["quoted"] is not None or match["assign"] == "="  # no blank on either side
    return looks_random(secret) or (tight and len(secret) >= 6 and not secret.isdigit())


# An assignment, then a value: quoted up to the same quote, or bare up to a separator. Sentence
# punctuation at the end of a bare value stays outside it.
_ASSIGN = r"""\\?["'\]]{0,2}(?P<assign>[ \t]{0,8}(?:=>|:=|==|[:=])[ \t]{0,8})"""
_CORE = r"""[^\s"'`;&<>.,!?)\]}]"""
_VALUE = (
    r"""(?P<quoted>\\?["'`])?(?!\[REDACTED:)"""
    r"""(?P<secret>(?(quoted)(?>(?:(?!(?P=quoted))(?:\\.|[^\n])){1,512})"""
    rf"""|[.,!?)\]}}]*+{_CORE}(?>(?:{_CORE}|[.,!?)\]}}]++(?={_CORE}))*)))"""
)
_PASSWORD = r"(?:pass(?:word|wd|phrase|code)|passwort|contraseña|mot[ _-]de[ _-]passe|pwd)"
_KEY = (
    r"(?:(?:api|account|private|encryption|signing|auth|shared[ _-]?access)[ _-]?key"
    r"|access[ _-]?key(?:[ _-]?id)?|secret[ _-]?(?:access[ _-]?)?key)"
)
_TOKEN = rf"(?:{_KEY}|secret|token|credentials?|[_-]pass)"
_PASSWORD_HINTS = "password passwd passphrase passcode passwort contraseña passe pwd"
_TOKEN_HINTS = "key secret token credential _pass -pass"
_WORD_START = r"(?<![A-Za-z0-9_-])"
_I = re.IGNORECASE

# Keys with a published prefix, one alternative a provider.
_PROVIDER_KEYS = "|".join(
    [
        r"gh[pousr]_[A-Za-z0-9]{16,}+",  # GitHub
        r"github_pat_[A-Za-z0-9_]{16,}+",
        r"gl(?:pat|dt|rt|ptt|ft|soat)-[A-Za-z0-9_-]{16,}+",  # GitLab
        r"xox[abeoprs]-[A-Za-z0-9-]{8,}+",  # Slack
        r"xapp-[A-Za-z0-9-]{8,}+",
        r"AIza[A-Za-z0-9_-]{30,}+",  # Google
        r"ya29\.[A-Za-z0-9_-]{16,}+",
        r"GOCSPX-[A-Za-z0-9_-]{16,}+",
        r"[srp]k_(?:live|test)_[A-Za-z0-9]{8,}+",  # Stripe
        r"whsec_[A-Za-z0-9+/=]{16,}+",
        r"SG\.[A-Za-z0-9_-]{16,64}\.[A-Za-z0-9_-]{16,}+",  # SendGrid
        r"SK[0-9a-f]{32}\b",  # Twilio
        r"key-[0-9a-f]{32}\b",  # Mailgun
        r"npm_[A-Za-z0-9]{30,}+",
        r"pypi-[A-Za-z0-9_-]{40,}+",
        r"hf_[A-Za-z0-9]{24,}+",  # Hugging Face
        r"(?:gsk|pplx|xai|nvapi|r8|ntn|lin_api|sbp|glsa|dckr_pat|dop_v1|dor_v1|doo_v1)"
        r"[_-][A-Za-z0-9_-]{24,}+",
        r"shp(?:at|ca|pa|ss)_[a-fA-F0-9]{32}",  # Shopify
        r"dapi[0-9a-f]{32}\b",  # Databricks
        r"hv[sb]\.[A-Za-z0-9_-]{20,}+",  # Vault
        r"PMAK-[A-Za-z0-9-]{30,}+",  # Postman
        r"sq0[a-z]{3}-[A-Za-z0-9_-]{20,}+",  # Square
        r"AGE-SECRET-KEY-1[A-Z0-9]{50,}+",
        r"[0-9]{8,10}:AA[A-Za-z0-9_-]{32,}+",  # Telegram
        r"AT(?:ATT|CTT)3[A-Za-z0-9_=-]{20,}+",  # Atlassian
        r"NRAK-[A-Z0-9]{20,}+",  # New Relic
        r"xkeysib-[a-f0-9]{40,}+(?:-[A-Za-z0-9]{1,40})?",  # Brevo
        r"dp\.(?:pt|st|ct|sa|scim)\.[A-Za-z0-9_.-]{32,}+",  # Doppler
        r"fig[du]_[A-Za-z0-9_-]{32,}+",  # Figma
        r"secret_[A-Za-z0-9]{40,}+",  # Notion
        r"pat-(?:na|eu)[0-9]-[A-Za-z0-9-]{30,}+",  # HubSpot
        r"rubygems_[a-f0-9]{40,}+",
        r"sgp_[A-Za-z0-9_]{36,}+",  # Sourcegraph
        r"CFPAT-[A-Za-z0-9_-]{40,}+",  # Contentful
        r"[MNO][A-Za-z0-9_-]{23,27}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,}+",  # Discord
    ]
)
_PROVIDER_HINTS = (
    "ghp_ gho_ ghu_ ghs_ ghr_ github_pat_ glpat- gldt- glrt- glptt- glft- glsoat- xox xapp- aiza "
    "ya29. gocspx- k_live_ k_test_ whsec_ sg. sk key- npm_ pypi- hf_ gsk pplx xai nvapi r8 ntn "
    "lin_api sbp glsa dckr_pat dop_v1 dor_v1 doo_v1 shpat_ shpca_ shppa_ shpss_ dapi hvs. hvb. "
    "pmak- sq0 age-secret :aa atatt3 atctt3 nrak- xkeysib- dp. figd_ figu_ secret_ pat- rubygems_ "
    "sgp_ cfpat- . "
)

RULES: tuple[Rule, ...] = (
    rule(
        "private-key",
        "-----begin",
        r"(?P<secret>-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----"
        r"(?:(?>(?:[^-]|-(?!----))*)-----END [A-Z0-9 ]{0,60}-----|[A-Za-z0-9+/=\s\\]*+))",
    ),
    rule(
        "url-credentials",
        "://",
        r"(?<![A-Za-z0-9+.-])[A-Za-z][A-Za-z0-9+.-]{0,30}://(?!\[REDACTED:)"
        r"(?P<secret>[^\s:/@?#\"'<>]{0,256}:[^\s/\"'<>]{1,512})@",
        _url_password,
    ),
    rule(
        "url-credentials",
        "://",
        r"(?<![A-Za-z0-9+.-])[A-Za-z][A-Za-z0-9+.-]{0,30}://(?P<secret>[^\s:/@?#\"'<>\[]{20,256})@",
        _opaque_user,
    ),
    rule(
        "webhook-url",
        "hooks.slack.com/ discord",
        r"https://(?:hooks\.slack\.com/(?:services|workflows|triggers)|discord(?:app)?\.com/api/"
        r"webhooks)/(?P<secret>[A-Za-z0-9_/-]{8,}+)",
    ),
    rule(
        "jwt",
        "eyj",
        r"(?<![A-Za-z0-9_-])(?P<secret>eyJ[A-Za-z0-9_-]{6,}+\.[A-Za-z0-9_-]{6,}+"
        r"(?>(?:\.[A-Za-z0-9_-]*+){0,3}))",
    ),
    rule(
        "cairn-key",
        "cairn_",
        _WORD_START + r"(?P<secret>cairn_[A-Za-z0-9_-]{1,64}\.[A-Za-z0-9_-]{20,}+)",
        _long_and_random,
    ),
    rule(
        "aws-access-key-id",
        "akia asia aroa aida abia acca",
        r"(?<![A-Za-z0-9])(?P<secret>(?:AKIA|ASIA|AROA|AIDA|ABIA|ACCA)[A-Z0-9]{16})(?![A-Za-z0-9])",
    ),
    rule(
        "aws-secret-key",
        "aws secret",
        r"(?<![A-Za-z0-9/+=])(?P<secret>[A-Za-z0-9/+]{40})(?![A-Za-z0-9/+=])",
        _aws_secret,
    ),
    rule(
        "api-key",
        "sk-",
        _WORD_START + r"(?P<secret>sk-[A-Za-z0-9_-]{12,}+)",
        _sk_key,
    ),
    rule("api-key", _PROVIDER_HINTS, _WORD_START + rf"(?P<secret>{_PROVIDER_KEYS})"),
    rule(
        "bearer-token",
        "bearer",
        r"\bbearer[ \t:=]{1,8}(?P<secret>[A-Za-z0-9._~+/-]{8,}+=*+)",
        _random_secret,
        flags=_I,
    ),
    rule(
        "authorization",
        "authorization",
        r"authorization[\"']?[ \t]{0,8}[:=][ \t]{0,8}[\"']?(?:bearer|token|apikey|api-key|digest)"
        r"[ \t]{1,8}(?!\[REDACTED:)(?P<secret>[^\s\"',;]{4,}+)",
        flags=_I,
    ),
    rule(
        "authorization",
        "basic",
        r"\bbasic[ \t]{1,8}(?P<secret>[A-Za-z0-9+/]{6,}+={0,2})",
        _basic_pair,
        flags=_I,
    ),
    rule(
        "cookie",
        "cookie",
        r"\b(?:set-)?cookie[\"']?[ \t]{0,8}:[ \t]{0,8}[\"']?"
        r"(?P<secret>[A-Za-z0-9_.-]{1,64}=[^\s\"';,]{4,}+"
        r"(?>(?:;[ \t]?[A-Za-z0-9_.-]{1,64}=[^\s\"';,]*+)*))",
        flags=_I,
    ),
    rule(
        "password",
        _PASSWORD_HINTS,
        rf"{_PASSWORD}[0-9]{{0,2}}{_ASSIGN}{_VALUE}",
        _assigned_password,
        flags=_I,
    ),
    rule(
        "password",
        _PASSWORD_HINTS,
        rf"\b{_PASSWORD}[ \t]{{1,4}}(?:is|was|ist|es|est)(?P<assign>:?[ \t]{{1,4}}){_VALUE}",
        _told_password,
        flags=_I,
    ),
    rule(
        "password",
        "password identified",
        r"\b(?:identified[ \t]{1,4}by|password)[ \t]{1,4}'(?!\[REDACTED:)"
        r"(?P<secret>[^'\n]{3,256}+)'",
        _password_value,
        flags=_I,
    ),
    rule(
        "password",
        "--pass --pwd",
        rf"--{_PASSWORD}[ \t]{{1,4}}(?P<assign>){_VALUE}",
        _password_value,
        flags=_I,
    ),
    rule(
        "password",
        "pw pass",
        rf"(?<![a-z0-9])(?:pw|pass){_ASSIGN}{_VALUE}",
        _told_password,
        flags=_I,
    ),
    rule(
        "password",
        "curl wget",
        r"\b(?:curl|wget)\b[^\n]{0,300}?\s(?:-u|--user)[ \t=]{0,4}[\"']?[^\s:\"']{1,64}:"
        r"(?!\[REDACTED:)(?P<secret>[^\s\"']{3,}+)",
        _password_value,
        flags=_I,
    ),
    rule("api-key", "key", rf"{_KEY}[0-9]{{0,2}}{_ASSIGN}{_VALUE}", _token_value, flags=_I),
    rule("token", _TOKEN_HINTS, rf"{_TOKEN}[0-9]{{0,2}}{_ASSIGN}{_VALUE}", _token_value, flags=_I),
    rule(
        "token",
        _TOKEN_HINTS,
        rf"\b{_TOKEN}[ \t]{{1,4}}(?:is|was)(?P<assign>:?[ \t]{{1,4}}){_VALUE}",
        _random_secret,
        flags=_I,
    ),
    rule(
        "token",
        "--api --token --secret --access --auth",
        rf"--(?:[a-z]{{1,16}}-)?{_TOKEN}[ \t]{{1,4}}(?P<assign>){_VALUE}",
        _random_secret,
        flags=_I,
    ),
    rule(
        "signature",
        "sig",
        r"[?&](?:x-amz-)?sig(?:nature)?=(?P<secret>[A-Za-z0-9%+/=_-]{16,}+)",
        flags=_I,
    ),
)

_SECRET_NAMES = {
    "password": ("password", "passwd", "passphrase", "passcode", "pwd", "passwort"),
    "api-key": (
        *("apikey", "accesskey", "secretkey", "privatekey", "signingkey", "encryptionkey"),
        *("authkey", "accountkey"),
    ),
    "token": ("token", "secret", "credential", "credentials"),
}
_SECRET_WHOLE_NAMES = {
    "pass": "password",
    "authorization": "authorization",
    "proxyauthorization": "authorization",
    "cookie": "cookie",
    "setcookie": "cookie",
}


def secret_name(key: str) -> str | None:
    """Return the kind of credential that an object key announces, such as `dbPassword`, or None."""
    plain = "".join(filter(str.isalnum, key)).casefold()
    if plain in _SECRET_WHOLE_NAMES:
        return _SECRET_WHOLE_NAMES[plain]
    for kind, endings in _SECRET_NAMES.items():
        if plain.endswith(endings):
            return kind
    return None
