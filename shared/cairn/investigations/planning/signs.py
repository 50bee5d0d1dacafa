"""What is to be seen in an investigation so far, each sign with its source. Pure.

Values that go into sentences are counts, codes and short words of results: never whole texts.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING

from cairn.investigations import citations
from cairn.investigations.planning.covering import (
    ANYONE,
    NO_WORDS,
    plain,
    uncovered,
    unexplained,
    unsigned,
    unwrapped,
    who,
)
from cairn.investigations.planning.known import best_known, matter
from cairn.investigations.planning.looking import Looker
from cairn.investigations.planning.playbooks import BOOKS, GENERAL
from cairn.investigations.planning.playbooks.lexicon import ALARMS, COMMON, NEGATIONS, STRANGERS
from cairn.investigations.planning.playbooks.playbook import (
    CLAIMS,
    DOUBTS,
    HOW,
    HOW_TO,
    LOCKED,
    MYSELF,
    OTHERS,
    SIGN_IN,
    WHAT,
    Sign,
)
from cairn.investigations.planning.records import (
    ACCOUNT,
    DELIVERIES,
    ENDPOINT,
    INVOICES,
    SIGN_INS,
    parts_of,
    serves,
    truth,
)
from cairn.kernel.text.words import content_words, sentences, words

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from cairn.investigations.planning.playbooks.playbook import Playbook
    from cairn.investigations.planning.records import Record
    from cairn.investigations.ports import Question
    from cairn.investigations.state import Brief, Observation


FEWEST_WORDS = 4
"""Content words below which a ticket says too little to look for anything."""

MOST_SENTENCES = 200
"""Of a ticket that are read one by one."""

APART = "|"
"""Between sentences: no beginning of several words spans two."""

_EMAIL = re.compile(
    r"<EMAIL(?:_ADDRESS)?_\d{1,6}>|"
    r"[A-Za-z0-9._%+-]{1,64}@[A-Za-z0-9-]{1,63}(?:\.[A-Za-z0-9-]{1,63})+"
)
_URL = re.compile(r"<URL_\d{1,6}>|https?://[^\s<>\"'\[\](){}]{1,500}")
_AFTER_URL = ".,;:!?"
_AFTER_QUESTION = " !.)\"'\u201d\u2019"
_BEFORE = re.compile(
    r".{1,200}?[,:;\u2013-]\s+(?:and |so |but )?(?=(?:(?:after|for|in|under|at|by|"
    r"within) )?(?:how|where|"
    r"what|which|when|is it possible|can i|can we|may i|wie|wo|was|wann|comment|"
    r"o\u00f9|quand|c\u00f3mo|"
    r"d\u00f3nde|cu\u00e1ndo)\b)",
    re.IGNORECASE,
)
_REQUEST = re.compile(
    r"\b(?:can|could|would|will|may) (?:some|any)(?:one|body)\b|\bkonnte jemand\b"
)
_ELIDED = re.compile(r"(?<=\b\w)'|(?<=\b\w\w)'")


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """A ticket read. `requester` is their address, "" when unknown; `others` are further ones.

    `question` are the sentences that ask for instructions. `for_another` is about a person who is
    only described.
    `doubted`: it was not the requester, or something was lost, stolen or strange.
    """

    book: Playbook
    requester: str
    others: tuple[str, ...]
    urls: tuple[str, ...]
    question: tuple[str, ...]
    vague: bool
    claims: bool
    for_another: bool
    doubted: bool
    signs_in: bool


def read(brief: Brief) -> Reading:
    """Return what a ticket says."""
    text = f"{brief.title}\n{brief.body}"
    parts = sentences(unwrapped(text))
    heard = [spoken(part) for part in parts]
    line = APART.join(heard)
    tokens = sentences(unwrapped(unsigned(brief.body, ANYONE)))[:MOST_SENTENCES]
    book = chosen(APART.join(spoken(item) for item in (brief.title, *tokens)))  # "Legal" signs, too
    addresses = list(dict.fromkeys(_folded(item) for item in _EMAIL.findall(text)))
    requester = address(brief.requester)
    question = _question(brief.title, tokens)
    few = len(_telling(text, brief.language)) < FEWEST_WORDS
    urls = tuple(dict.fromkeys(item.rstrip(_AFTER_URL) for item in _URL.findall(text)))
    return Reading(
        book=book,
        requester=requester,
        others=tuple(item for item in addresses if item != requester),
        urls=urls,
        question=question,
        vague=few and not urls and not question,
        claims=bool(_met(line, CLAIMS)),
        for_another=any(_is_of_another(item) for item in heard[:MOST_SENTENCES]),
        doubted=bool(_met(line, DOUBTS)) or any(_is_doubtful(item) for item in heard),
        signs_in=bool(_met(line, SIGN_IN)),
    )


def _telling(text: str, language: str) -> set[str]:
    common = COMMON.get(language, NO_WORDS)
    return {
        word
        for word in content_words(text)
        if not common.has(plain(word)) and not NEGATIONS.has(plain(word))
    }


def chosen(text: str) -> Playbook:
    """Return the playbook whose every group is met, by the most words; GENERAL when none is."""
    best, most = GENERAL, 0
    for book in BOOKS:
        met = [_met(text, group) for group in book.topic]
        score = sum(len(item) for item in met) + book.weight if all(met) else 0
        if score > most:
            best, most = book, score
    return best


def spoken(text: str) -> str:
    """Return the words of a text between spaces, without accents and apostrophes.

    It is what beginnings match: "can't" is "cant" as many write it, "n'arrive" is "n arrive".
    """
    apart = unicodedata.normalize("NFKD", text)
    bare = "".join(char for char in apart if not unicodedata.combining(char))
    plain = _ELIDED.sub(" ", " ".join(words(bare))).replace("'", "")
    return f" {plain} "


def _met(text: str, group: Iterable[str]) -> set[str]:
    """Return the beginnings that a word of the ticket has; punctuation counts as a space."""
    return {name for name in group if _beginning(name) in text}


def _starts(text: str, group: Iterable[str]) -> bool:
    return any(text.startswith(_beginning(name)) for name in group)


@cache
def _beginning(phrase: str) -> str:
    return spoken(phrase).rstrip()


def _question(title: str, parts: Sequence[str]) -> tuple[str, ...]:
    """Return the sentences that ask for instructions.

    A question beside something that is broken is none, unless it is the title's.
    """
    asking = [part for part in parts if _asks(part)]
    if _asks(title) or _starts(spoken(title), HOW):
        return tuple(dict.fromkeys([title.strip(), *asking]))
    return tuple(asking)


def _asks(sentence: str) -> bool:
    text = spoken(asked_part(sentence))
    if not sentence.rstrip(_AFTER_QUESTION).endswith(("?", "\uff1f")):
        return _starts(text, HOW_TO)
    return bool(_met(text, HOW)) or not WHAT.isdisjoint(text.split()[:1])


def _is_doubtful(text: str) -> bool:
    """Return whether a sentence speaks of loss or attack, or of a stranger at an account."""
    if any(ALARMS.has(part) for part in text.split()):
        return True
    stranger = any(STRANGERS.has(part) for part in _REQUEST.sub(" ", text).split())
    return stranger and bool(_met(text, SIGN_IN))


def asked_part(sentence: str) -> str:
    """Return a question without what stands before it: "Hi, quick question: how do I ...?"."""
    match = _BEFORE.match(sentence)
    return sentence[match.end() :] if match else sentence


def _is_of_another(text: str) -> bool:
    """Return whether a sentence says that somebody else is locked out, and not also who writes."""
    return bool(_met(text, OTHERS) and _met(text, LOCKED)) and MYSELF.isdisjoint(text.split())


def address(text: str) -> str:
    """Return the address that is all of `text`, as it is compared; "" for anything else."""
    return _folded(text.strip()) if _EMAIL.fullmatch(text.strip()) else ""


def _folded(text: str) -> str:
    """Return an address as it is compared; placeholders as they are."""
    return text if text.startswith("<") else text.lower()


ATTACK_ADDRESSES = 3
"""Failed sign-ins from so many addresses are not somebody's own mistyping."""

VALUE_CHARS = 80
FAILED_STATUS = 400
_STATUS = re.compile(r"\b([1-5]\d\d)\b")
_SILENT = re.compile(
    r"\b(?:unreachable|cannot be reached|timed? ?out|did not answer)\b", re.IGNORECASE
)
_LOCKS = frozenset(["lock", "locked", "lockout", "blocked"])
_ENDS = frozenset(["disabled", "suspended", "deactivated", "terminated", "closed"])
_BESIDE = frozenset(["reason", "count", "attempt", "note", "by"])
"""What a field says that only goes with a state: `locked_reason` is no state."""

_LIVES = frozenset(["enabled", "active"])
_GOOD = frozenset(
    ["success", "succeeded", "successful", "ok", "allowed", "granted", "delivered", "passed"]
)
_OUTCOMES = ("success", "succeeded", "outcome", "result", "status", "error code", "error", "reason")
_CODES = ("status code", "http status", "response code", "response status", "code", "status")
_MAIL = frozenset(["email", "mail", "upn"])
_FACTORS = frozenset(["mfa", "2fa", "otp", "totp", "factor", "authenticator"])
_REFUSALS = frozenset(["denied", "rejected"])


@dataclass(frozen=True, slots=True, kw_only=True)
class SignEvidence:
    """A sign's source, and what a sentence about it may name."""

    citation: str
    values: Mapping[str, str] = field(default_factory=dict[str, str])


Signs = Mapping[Sign, SignEvidence]


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    """An investigation as the rules see it: the ticket read, the signs, and what fills arguments.

    `quote` are the sentences of the knowledge base that fit best. `own_words` are the sentences of
    the ticket that no rule covers: what a person has to read.
    """

    reading: Reading
    signs: Signs
    looker: Looker
    quote: tuple[str, ...] = ()
    own_words: tuple[str, ...] = ()


def view(question: Question) -> View:
    """Return what is to be seen now."""
    reading = read(question.memory.brief)
    slots = _slots(question, reading)
    looker = Looker(question=question, slots=slots)
    results = _of_ticket(question, reading)
    results |= (account := _of_account(looker))
    user_id = account[Sign.ACCOUNT].values["id"] if Sign.ACCOUNT in account else ""
    looker = Looker(question=question, slots={**slots, "id": user_id} if user_id else slots)
    results |= _of_sign_ins(looker)
    results |= _of_deliveries(looker)
    looker = Looker(question=question, slots=_with_url(looker))
    results |= _of_endpoint(looker) | _of_invoices(looker)
    results |= _of_change(question, reading)
    passage = best_known(question.memory, [asked_part(item) for item in reading.question])
    if passage is not None:
        results[Sign.KNOWN] = SignEvidence(citation=passage.citation)
        if passage.answers:
            results[Sign.ANSWERED] = results[Sign.KNOWN]
    own_words, saying = _beyond(question, reading)
    results |= saying
    quote = passage.sentences if passage else ()
    return View(reading=reading, signs=results, looker=looker, quote=quote, own_words=own_words)


def _beyond(
    question: Question, reading: Reading
) -> tuple[tuple[str, ...], dict[Sign, SignEvidence]]:
    """Return what of the ticket the playbook does not cover, and the signs of that."""
    brief = question.memory.brief
    here = SignEvidence(citation=citations.ticket(brief.ticket_id))
    person = who(brief)
    own_words = uncovered(brief, person, brief.language, reading.book.covers)
    results = {Sign.UNCOVERED: here} if own_words else {}
    questions = {item: item.removesuffix(asked_part(item)).strip() for item in reading.question}
    stems_asked = frozenset[str]().union(
        *(matter(asked_part(item), brief.language) for item in questions)
    )
    if unexplained(brief, brief.language, questions, stems_asked):
        results[Sign.UNEXPLAINED] = here
    return own_words, results


def _slots(question: Question, reading: Reading) -> dict[str, str]:
    """Return what is known of whom and what the ticket is about, "" left out.

    The requester's, but for accounts: there another's that is named is looked at, never changed.
    """
    other = reading.others[0] if len(reading.others) == 1 else ""
    of_accounts = ACCOUNT in reading.book.looks
    address = (other or reading.requester) if of_accounts else reading.requester
    slots = {
        "email": address,
        "customer": question.memory.brief.customer,
        "url": reading.urls[0] if reading.urls else "",
    }
    return {name: value for name, value in slots.items() if value}


def _of_ticket(question: Question, reading: Reading) -> dict[Sign, SignEvidence]:
    seen = SignEvidence(citation=citations.ticket(question.memory.brief.ticket_id))
    flags = {
        Sign.SUSPICIOUS: question.memory.brief.suspicious,
        Sign.FOREIGN: bool(reading.others) or not reading.requester or reading.for_another,
        Sign.DOUBTED: reading.doubted,
        Sign.SIGN_IN: reading.signs_in,
        Sign.VAGUE: reading.vague,
        Sign.CLAIMS: reading.claims,
    }
    return {sign: seen for sign, true in flags.items() if true}


def _of_account(looker: Looker) -> dict[Sign, SignEvidence]:
    looked = looker.seen(ACCOUNT)
    if looked is None:
        return {}
    records, citation = looked
    accounts = [
        item
        for item in records
        if item.has("email", "username", "status") or _names_account_state(item)
    ]
    email = looker.slots.get("email", "")
    mine = [account for account in accounts if email in _addresses(account)] or accounts
    if len(mine) != 1:
        sign = Sign.FOREIGN if accounts else Sign.NO_ACCOUNT
        return {sign: SignEvidence(citation=citation)}
    account = mine[0]
    user_id = account.text("user id", "account id", "id")
    signs = {Sign.ACCOUNT: SignEvidence(citation=citation, values={"id": user_id})}
    if _is(account, _LOCKS):
        signs[Sign.LOCKED] = SignEvidence(citation=citation)
    if _is(account, _ENDS) or _is_not(account, _LIVES):
        signs[Sign.DISABLED] = SignEvidence(citation=citation)
    if len(signs) == 1:
        signs[Sign.OPEN] = SignEvidence(citation=citation)
    addresses = _addresses(account)
    if addresses and email not in addresses:  # a search may find what is only like the address
        signs[Sign.FOREIGN] = SignEvidence(citation=citation)
    return signs


def _addresses(record: Record) -> frozenset[str]:
    values = (value for name, value in record.fields.items() if parts_of(name) & _MAIL)
    return frozenset(address(str(value)) for value in values) - {""}


def _of_sign_ins(looker: Looker) -> dict[Sign, SignEvidence]:
    looked = looker.seen(SIGN_INS)
    if looked is None:
        return {}
    records, citation = looked
    failed = [item for item in records if item.has(*_OUTCOMES) and not _succeeded(item)]
    factors = [item for item in failed if parts_of(_outcome(item)) & _FACTORS]
    addresses = {item.text("ip", "address", "source") for item in failed} - {""}
    counts = {
        Sign.FAILURES: len(failed),
        Sign.FACTOR_FAILURES: len(factors),
        Sign.SPRAYED: len(addresses) if len(addresses) >= ATTACK_ADDRESSES else 0,
    }
    return {
        sign: SignEvidence(citation=citation, values={"count": str(count)})
        for sign, count in counts.items()
        if count
    }


def _of_deliveries(looker: Looker) -> dict[Sign, SignEvidence]:
    looked = looker.seen(DELIVERIES)
    if looked is None:
        return {}
    records, citation = looked
    sent = [item for item in records if item.has(*_CODES)]
    failed = [item for item in sent if not _succeeded(item, _CODES)]
    if not sent:
        return {}
    latest = failed[0] if failed else sent[0]
    values = {
        "count": str(len(failed)),
        "all": str(len(sent)),
        "status": _short(latest.text(*_CODES)) or "-",
        "url": latest.text("url", "endpoint", "target"),
    }
    sign = Sign.FAILING if failed else Sign.DELIVERED
    return {sign: SignEvidence(citation=citation, values=values)}


def _with_url(looker: Looker) -> Mapping[str, str]:
    """Return the slots with the address of the deliveries, when the ticket names none."""
    looked = looker.seen(DELIVERIES)
    if looked is None or looker.slots.get("url"):
        return looker.slots
    urls = {item.text("url", "endpoint", "target") for item in looked[0]} - {""}
    return {**looker.slots, "url": urls.pop()} if len(urls) == 1 else looker.slots


def _of_endpoint(looker: Looker) -> dict[Sign, SignEvidence]:
    tried = [try_ for try_ in looker.tries(ENDPOINT) if try_.outcome in ("applied", "failed")]
    if not tried or tried[-1].dry_run:
        return {}
    last = tried[-1]
    looked = looker.seen(ENDPOINT)
    codes = [item.text(*_CODES) for item in looked[0]] if looked else []
    status = next((code for code in codes if code.isdecimal()), "") or _code_in(last)
    seen = SignEvidence(citation=citations.tool(last.action_id), values={"status": status})
    if not status:
        return {Sign.ENDPOINT_SILENT: seen} if _SILENT.search(last.text[:500]) else {}
    down = int(status) >= FAILED_STATUS
    return {Sign.ENDPOINT_DOWN if down else Sign.ENDPOINT_UP: seen}


def _of_invoices(looker: Looker) -> dict[Sign, SignEvidence]:
    looked = looker.seen(INVOICES)
    if looked is None:
        return {}
    records, citation = looked
    invoices = [item for item in records if item.has("amount", "total", "price", "gross")]
    if not invoices:
        return {}
    first = invoices[0]
    number = first.text("number", "invoice id", "id")
    amount = " ".join(
        filter(None, [first.text("amount", "total", "price", "gross"), first.text("currency")])
    )
    status = first.text("status", "paid")
    latest = f"{number}: {amount}" + (f" ({status})" if status else "")
    values = {"count": str(len(invoices)), "latest": _short(latest)}
    return {Sign.INVOICES: SignEvidence(citation=citation, values=values)}


def _of_change(question: Question, reading: Reading) -> dict[Sign, SignEvidence]:
    """Return what came of the last try of the change; what worked once, worked."""
    change = reading.book.change
    if change is None:
        return {}
    tried = [
        observation
        for observation in question.memory.observations
        if serves(observation.connector, observation.tool, change.use)
    ]
    if not tried:
        return {}
    worked = [item for item in tried if _came(item) is Sign.CHANGED]
    last = worked[-1] if worked else tried[-1]
    return {_came(last): SignEvidence(citation=citations.tool(last.action_id))}


def _came(observation: Observation) -> Sign:
    if observation.outcome == "applied":
        return Sign.SIMULATED if observation.dry_run else Sign.CHANGED
    if observation.outcome in _REFUSALS:
        return Sign.REFUSED
    return Sign.UNKNOWN if observation.outcome == "unknown" else Sign.FAILED


def _names_account_state(record: Record) -> bool:
    return any(parts_of(name) & (_LOCKS | _ENDS | _LIVES) for name in record.fields)


def _is(record: Record, words: Iterable[str]) -> bool:
    """Return whether a status is one of the words, or a field named by one says so."""
    word_set = frozenset(words)
    if record.text("status", "state").lower() in word_set:
        return True
    return any(
        truth(value) is not False
        for name, value in record.fields.items()
        if parts_of(name) & word_set and not parts_of(name) & _BESIDE
    )


def _is_not(record: Record, words: frozenset[str]) -> bool:
    return any(
        truth(value) is False for name, value in record.fields.items() if parts_of(name) & words
    )


def _succeeded(record: Record, fields: Sequence[str] = _OUTCOMES) -> bool:
    value = record.value(*fields)
    if isinstance(value, bool):
        return value
    text = str(value if value is not None else "").strip().lower()
    if text.isdecimal() and len(text) == 3:
        return int(text) < FAILED_STATUS
    if truth(text) is not None:
        error = record.has("error", "reason") and not record.has("success", "outcome", "result")
        return truth(text) is not error
    return text in _GOOD


def _outcome(record: Record) -> str:
    return " ".join(
        record.text(name) for name in ("outcome", "result", "reason", "error", "error code")
    )


def _code_in(observation: Observation) -> str:
    match = _STATUS.search(observation.text[:500])
    return match[1] if match else ""


def _short(text: str) -> str:
    plain = re.sub(r"[\[\]{}]", " ", text)
    return " ".join(plain.split())[:VALUE_CHARS]
