"""Which sentences of a ticket a rule understands all of, by closed lists. Pure.

A sentence is covered when nothing is left of it once greetings, thanks, the requester's own
signature, phrases and words of the lexicon are taken away. What is left is not judged: it is not
understood, and a person reads it. Lists of what is forbidden only narrow the open places.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from cairn.investigations.planning.known import stems
from cairn.investigations.planning.playbooks import lexicon, questions
from cairn.investigations.planning.playbooks.lexicon import ALARMS, NEGATIONS, OTHERS
from cairn.investigations.planning.playbooks.playbook import FAILING
from cairn.kernel.text.words import sentences, words
from cairn.safety.redaction import PLACEHOLDER

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from cairn.investigations.planning.playbooks.lexicon import Lexicon
    from cairn.investigations.state import Brief

MOST_SENTENCES = 200
MISTYPED_FROM = 7
"""Letters of a word of the matter that one may be wrong in."""

MOST_SIGNED_WORDS = 8
SHORTEST_NICKNAME = 3
LONG_NAME = 5
"""Letters of a name from which on "mlindqvist" is taken for it."""

SEPARATOR = "|"
OWN, OTHER, NUMBER = "ownname", "othername", "0"
NO_WORDS = lexicon.lexicon("")

_ELIDED = re.compile(r"(?<=\b\w)'|(?<=\b\w\w)'")
_PUNCTUATION = re.compile(
    r"[,;:()\[\]{}\u2013\u2014\u201e\u201c\u201d\"\u00ab\u00bb!?.\u2026\u00bf\u00a1/]+|\s-+\s"
)
_WRAPPED = re.compile(r"(?<=[\w,;])[^\S\n]*\n(?=[a-z\u00df-\u00ff])")
_GREETING = re.compile(
    r"^\s*(?:hi|hello|hey|dear|good (?:morning|afternoon|evening|day)|greetings|hallo|liebe[rs]?|"
    r"guten (?:tag|morgen|abend)|sehr geehrte[rs]?|moin|servus|bonjour|bonsoir|salut|"
    r"ch(?:e|\u00e8)re?|"
    r"hola|buen[oa]s (?:d(?:i|\u00ed)as|tardes|noches)|estimad[oa]s?)"
    r"(?: (?:mr|mrs|ms|herr|frau|madame|monsieur|se\u00f1or|se\u00f1ora)\.?)?"
    r"(?: (?!i\b|my\b)[\w<>]+){0,3}\s*[,!:.\n]",
    re.IGNORECASE,
)
_CLOSING = re.compile(
    r"(?:^|(?<=[.!?,;:)\n]))\s*(?P<words>(?:(?:many |kind(?:est)? |best |warm |"
    r"with )*(?:regards|wishes)"
    r"|(?:many |a lot of )?thanks[\w ]*|ta|tia"
    r"|thank you[\w ]*|thx|cheers|best|sincerely|yours (?:sincerely|faithfully|truly)|all the best"
    r"|god bless"
    r"|mfg|danke[\w ]*"
    r"|(?:(?:vielen|besten|herzlichen|lieben|sch(?:o|\u00f6)nen|tausend) )+dank[\w ]*"
    r"|(?:mit )?(?:viele[nr]?|freundliche[nm]?|sch(?:o|\u00f6)ne[nr]?|beste[nr]?|herzliche[nrm]?|"
    r"liebe[nrm]?|lg|vg)(?: und \w+)?"
    r"(?: gr(?:u|\u00fc)(?:ss|\u00df)(?:en?)?)?"
    r"|bien (?:a|\u00e0) vous|(?:bien )?cordialement|(?:tr(?:e|\u00e8)s )?cordiales salutations|"
    r"merci[\w' ]*|"
    r"bonne journ(?:e|\u00e9)e"
    r"|(?:muchas |mil )?gracias[\w ]*|"
    r"(?:(?:reciban?|un) )*(?:cordial )?saludos?(?: cordial(?:es)?)?|atentamente|un abrazo))"
    r"(?:\s*[,.!]*\s*)(?P<name>[^!?\n]*(?:\n[^\n]*){0,6})\s*\Z",
    re.IGNORECASE,
)
_TRAILING = re.compile(
    r"(?:\n|(?<=[.!?)])[^\S\n])\s*(?:[^\W\d_]\.\s?)?(?:[^.!?\n]|\b(?:ext|tel)\.){1,60}\s*\Z"
)
"""What stands behind the last sentence."""

_BESIDE_PAIR = frozenset(
    ["and", "und", "et", "y", "&", "/", "for", "fur", "pour", "por", "i.a", "pp"]
)
"""On the line of a name they bring a second person in."""

_BESIDE_NAME = lexicon.lexicon("""
    of and for the de du des der die und y e la el al a ext tel mob phone fax dept department
    finance sales warehouse logistics support accounting operations engineering commercial
    commerciale comptabilite ventes logistique entrepot cliente ventas atencion contabilidad
    almacen soporte finanzas
""").exact
"""Small letters in a line below a name."""

_SENT_FROM = re.compile(
    r"\n\s*(?:sent from my [\w ]{2,30}|get outlook for \w+|(?:von meinem [\w ]{2,30} gesendet)|"
    r"gesendet von (?:meinem )?[\w ]{2,30}|envoy\u00e9 de(?:puis)? mon [\w ]{2,30}|"
    r"enviado desde mi [\w ]{2,30})[.!]?\s*\Z",
    re.IGNORECASE,
)
"""What a device writes below a message."""

_SMILEY = re.compile(r"(?<=[\w.!?,])\s*(?:[:;]-?[()DPp]+)(?=\s|\Z)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Who:
    """Who writes: what stands in the ticket for the requester's name, and their company.

    With `anyone` a signature may have any name: nothing depends on who writes.
    """

    names: frozenset[str] = frozenset()
    company: frozenset[str] = frozenset()
    anyone: bool = False

    def is_own(self, word: str) -> bool:
        """Return whether a word of a ticket, or a placeholder in it, is the requester's name."""
        return self.anyone or word in self.names


ANYONE = Who(anyone=True)


def who(brief: Brief) -> Who:
    """Return who writes, as triage found it."""
    return Who(
        names=frozenset([*brief.own_names, brief.requester]),
        company=frozenset(words(plain(brief.customer))),
    )


def own_names(address: str, vault: Mapping[str, str], text: str) -> tuple[str, ...]:
    """Return what stands in a redacted text for the name that an address gives away.

    Placeholders and plain words. Values are compared here, and shown to nobody.
    """
    parts = words(plain(address.partition("@")[0].replace("_", " ")))
    hidden = [
        fromkey
        for fromkey in dict.fromkeys(PLACEHOLDER.findall(text))
        if fromkey.startswith("<NAME") and _is_name(vault.get(fromkey, ""), parts)
    ]
    plainly = sorted({word for word in words(plain(text)) if _is_name(word, parts)})
    return (*hidden, *plainly)


def _is_name(value: str, parts: Sequence[str]) -> bool:
    """Return whether each word is a part of the name, its first letter, or short for it."""
    each = words(plain(value))
    return bool(each) and all(
        any(
            part.startswith(item) and (len(item) >= SHORTEST_NICKNAME or len(item) == 1)
            for part in parts
        )
        for item in each
    )


def uncovered(
    brief: Brief, person: Who, language: str, matter: Mapping[str, Lexicon]
) -> tuple[str, ...]:
    """Return the sentences of a ticket that the words of `matter` do not cover, as written."""
    own = matter.get(language, NO_WORDS)
    body = unsigned(brief.body, person)
    results = [
        sentence
        for sentence in sentences(unwrapped(body))
        if not _covered(sentence, person, language, own)
    ]
    if not _covered(brief.title, person, language, own):
        results.insert(0, brief.title.strip())
    return tuple(results[:MOST_SENTENCES])


def unexplained(
    brief: Brief, language: str, question: Mapping[str, str], stems_asked: frozenset[str]
) -> tuple[str, ...]:
    """Return the sentences that are neither of `question` nor the background of one, as written.

    `question` maps sentences to what stands in them before the question itself.
    A background asks for nothing and complains of nothing. It is polite, or shares a word of
    `stems_asked` with the question, or begins as people begin to tell why they ask, or stands
    before the question and speaks of who asks.
    """
    texts = sentences(unwrapped(unsigned(brief.body, ANYONE)))[:MOST_SENTENCES]
    first = next((place for place, text in enumerate(texts) if text in question), 0)
    leads = language == "en" and bool(texts) and not _goes_on(texts[first])
    return tuple(
        text
        for place, text in enumerate(question.get(item, item) for item in texts)
        if text
        and not _covered(text, ANYONE, language, lexicon.ASKING)
        and not _is_background(text, stems_asked, before=leads and place < first)
    )


def _goes_on(question: str) -> bool:
    return not questions.GOES_ON.isdisjoint(tokens(question).split()[:1])


def _is_background(sentence: str, stems_asked: frozenset[str], *, before: bool) -> bool:
    """Return whether a sentence only tells why somebody asks; more is told `before` they do."""
    whole = text = tokens(sentence)
    for item in questions.LOOKED:
        text = re.sub(rf"(?<= )(?:{item})(?= )", " ", text)
    each = text.split()
    if "?" in sentence or any(item.has(word) for item in (ALARMS, NEGATIONS) for word in each):
        return False
    if any(f" {ask} " in text for ask in questions.ASKS) or _meets(text, FAILING):
        return False
    near = bool(stems_asked & stems(sentence))
    if re.search(questions.WANTS, text):
        return near
    if before and not questions.PEOPLE.isdisjoint(each):
        complains = any(questions.COMPLAINS.has(item) for item in each)
        if not complains:
            return True
    begins = any(re.search(rf"(?:^|[|])[^|]*?\b(?:{item})", text) for item in questions.BACKGROUND)
    return begins or text != whole or near


def _meets(text: str, beginnings: Iterable[str]) -> bool:
    return any(f" {plain(beginning)}" in text for beginning in beginnings)


def unsigned(body: str, person: Who) -> str:
    """Return a ticket's text without its greeting and the requester's own signature.

    A signature that names somebody else, or says something, stays, and is covered by nothing.
    """
    text = _GREETING.sub("", _SENT_FROM.sub("", body), count=1)
    closing = _CLOSING.search(text)
    while closing is not None:
        if _is_signature(closing["name"], person):
            return text[: closing.start("name")]
        closing = _CLOSING.search(text, closing.start("words") + 1)
    trailing = _TRAILING.search(text)
    return text[: trailing.start()] if trailing and _is_signature(trailing[0], person) else text


def _is_signature(text: str, person: Who) -> bool:
    """Return whether lines are the requester's name, and what stands below a name."""
    lines = [line.strip(" ,.-_\t\r*!") for line in text.splitlines()]
    lines = [line for line in lines if line]
    if not lines:
        return True
    first = [
        part.strip(",.")
        for part in re.split(r"[\s,]+", _replace_placeholders(lines[0], person))
        if part
    ]
    own = [item for item in first if item == OWN or (len(item) > 1 and person.is_own(plain(item)))]
    if not own or OTHER in first or not _is_name_line(first, person):
        return False
    return all(_stands_below(line, person) for line in lines[1:])


def _is_name_line(parts: Sequence[str], person: Who) -> bool:
    """Return whether a line begins with the requester's name, and goes on with a job or a place."""
    begins = parts[0] == OWN or person.is_own(plain(parts[0]))
    pair = any(plain(part) in _BESIDE_PAIR for part in parts)
    return begins and not pair and _stands_below("", person, parts)


def _stands_below(line: str, person: Who, parts: Sequence[str] | None = None) -> bool:
    """Return whether a line has only jobs, places and numbers: no word in small letters."""
    name_words = parts or _replace_placeholders(line, person).split()
    return len(name_words) <= MOST_SIGNED_WORDS and all(
        item in (OWN, NUMBER)
        or person.is_own(plain(item))
        or plain(item).strip(",.") in person.company | _BESIDE_NAME
        or (item[:1].isupper() and not _is_guarded(plain(item)))
        or not any(map(str.isalpha, item))
        for item in name_words
    )


def _is_guarded(word: str) -> bool:
    return any(item.has(word) for item in (ALARMS, OTHERS, NEGATIONS))


def _replace_placeholders(text: str, person: Who) -> str:
    def put(match: re.Match[str]) -> str:
        token = match[0]
        if token.startswith("<PHONE"):
            return f" {NUMBER} "
        own = token in person.names or (person.anyone and token.startswith("<NAME"))
        return f" {OWN if own else OTHER} "

    return PLACEHOLDER.sub(put, text)


def unwrapped(text: str) -> str:
    """Return a text without the breaks that only end a line, smileys as ends of sentences."""
    return _SMILEY.sub(".", _WRAPPED.sub(" ", text))


def plain(text: str) -> str:
    """Return a text in small letters, without accents and apostrophes."""
    apart = unicodedata.normalize("NFKD", text.replace("\u2019", "'").replace("\u00df", "ss"))
    bare = "".join(char for char in apart if not unicodedata.combining(char)).casefold()
    return _ELIDED.sub(" ", bare).replace("'", "")


def tokens(sentence: str) -> str:
    """Return the words of a sentence between spaces, `|` where punctuation parts them."""
    parts = (" ".join(words(part)) for part in _PUNCTUATION.split(plain(sentence)))
    return f" {f' {SEPARATOR} '.join(part for part in parts if part)} "


def _covered(sentence: str, person: Who, language: str, matter: Lexicon) -> bool:
    return not left_of(sentence, person, language, matter)


def left_of(sentence: str, person: Who, language: str, matter: Lexicon) -> list[str]:
    """Return the words of a sentence that nothing covers."""
    text = tokens(_replace_placeholders(sentence, person))
    if any(re.search(account, text) for account in (*lexicon.FOREIGN_ACCOUNTS, *lexicon.RECURRING)):
        return text.split()
    text = _with_own(text, person)
    for phrase in _phrases(language):
        text = phrase.sub(" ", text)
    common = lexicon.COMMON.get(language, NO_WORDS)
    return [
        part
        for part in text.split()
        if part != SEPARATOR
        and not (common.has(part) or matter.has(part) or _is_time(part))
        and not (part == OWN or _is_mistyped(part))
    ]


def _with_own(text: str, person: Who) -> str:
    """Return a text with one word in the place of the requester's names, and of made from them."""
    names = {name for name in person.names if name.isalpha() and len(name) > 1}  # "l" is French
    whole = {item for item in names if len(item) >= LONG_NAME}
    put = (
        OWN if part in names or any(each in part for each in whole) else part
        for part in text.split()
    )
    return f" {' '.join(put)} "


_TIME = re.compile(r"\d{1,4}(?:h|x|am|pm|th|st|nd|rd)?(?:\d\d)?")


def _is_time(word: str) -> bool:
    return _TIME.fullmatch(word) is not None


@cache
def _phrases(language: str) -> tuple[re.Pattern[str], ...]:
    guards = (ALARMS, OTHERS, NEGATIONS, lexicon.JOINTS.get(language, NO_WORDS))
    words_of = sorted({word for guard in guards for word in guard.exact})
    begins = sorted({f"{word}\\w*" for guard in guards for word in guard.begins})
    slot = rf"(?:(?!(?:{'|'.join([*words_of, *begins])}) )\w+)"
    return tuple(
        re.compile(rf"(?<= )(?:{phrase.strip().replace('SLOT', slot).replace('OWN', OWN)})(?= )")
        for phrase in lexicon.PHRASES.get(language, ())
    )


def _is_mistyped(word: str) -> bool:
    """Return whether a word is one of the long ones of a matter with one letter wrong."""
    return len(word) >= MISTYPED_FROM - 1 and any(
        not _shortened(word).isdisjoint(_shortened(item)) for item in lexicon.MISTYPED
    )


@cache
def _shortened(word: str) -> frozenset[str]:
    """Return a word, and what it is without any one of its letters."""
    return frozenset([word, *(word[:at] + word[at + 1 :] for at in range(len(word)))])
