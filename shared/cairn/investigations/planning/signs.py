"""What is to be seen in an investigation so far, each sign with its source. Pure.

Values that go into sentences are counts, codes and short words of results: never whole texts.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from cairn.investigations import citations
from cairn.investigations.planning.covering import uncovered, unexplained, who
from cairn.investigations.planning.known import best_known, matter
from cairn.investigations.planning.looking import Looker
from cairn.investigations.planning.playbooks.playbook import Sign
from cairn.investigations.planning.reading import address, asked_part, read
from cairn.investigations.planning.records import parts_of, truth
from cairn.investigations.planning.uses import (
    ACCOUNT,
    DELIVERIES,
    ENDPOINT,
    INVOICES,
    SIGN_INS,
    serves,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from cairn.investigations.planning.reading import Reading
    from cairn.investigations.planning.records import Record
    from cairn.investigations.ports import Question
    from cairn.investigations.state import Observation

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
class Seen:
    """A sign's source, and what a sentence about it may name."""

    citation: str
    values: Mapping[str, str] = field(default_factory=dict[str, str])


Signs = Mapping[Sign, Seen]


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
    found: dict[Sign, Seen] = {}
    found |= _of_ticket(question, reading)
    found |= (account := _of_account(looker))
    user_id = account[Sign.ACCOUNT].values["id"] if Sign.ACCOUNT in account else ""
    looker = Looker(question=question, slots={**slots, "id": user_id} if user_id else slots)
    found |= _of_sign_ins(looker)
    found |= _of_deliveries(looker)
    looker = Looker(question=question, slots=_with_url(looker))
    found |= _of_endpoint(looker) | _of_invoices(looker)
    found |= _of_change(question, reading)
    known = best_known(question.memory, [asked_part(one) for one in reading.question])
    if known is not None:
        found[Sign.KNOWN] = Seen(citation=known.citation)
        if known.answers:
            found[Sign.ANSWERED] = found[Sign.KNOWN]
    own_words, saying = _beyond(question, reading)
    found |= saying
    quote = known.sentences if known else ()
    return View(reading=reading, signs=found, looker=looker, quote=quote, own_words=own_words)


def _beyond(question: Question, reading: Reading) -> tuple[tuple[str, ...], dict[Sign, Seen]]:
    """Return what of the ticket the playbook does not cover, and the signs of that."""
    brief = question.memory.brief
    here = Seen(citation=citations.ticket(brief.ticket_id))
    known = who(brief)
    own_words = uncovered(brief, known, brief.language, reading.book.covers)
    found = {Sign.UNCOVERED: here} if own_words else {}
    asked = {one: one.removesuffix(asked_part(one)).strip() for one in reading.question}
    wanted = frozenset[str]().union(*(matter(asked_part(one), brief.language) for one in asked))
    if unexplained(brief, brief.language, asked, wanted):
        found[Sign.UNEXPLAINED] = here
    return own_words, found


def _slots(question: Question, reading: Reading) -> dict[str, str]:
    """Return what is known of whom and what the ticket is about, "" left out.

    The requester's, but for accounts: there another's that is named is looked at, never changed.
    """
    named = reading.others[0] if len(reading.others) == 1 else ""
    of_accounts = ACCOUNT in reading.book.looks
    address = (named or reading.requester) if of_accounts else reading.requester
    slots = {
        "email": address,
        "customer": question.memory.brief.customer,
        "url": reading.urls[0] if reading.urls else "",
    }
    return {name: value for name, value in slots.items() if value}


def _of_ticket(question: Question, reading: Reading) -> dict[Sign, Seen]:
    seen = Seen(citation=citations.ticket(question.memory.brief.ticket_id))
    said = {
        Sign.SUSPICIOUS: question.memory.brief.suspicious,
        Sign.FOREIGN: bool(reading.others) or not reading.requester or reading.for_another,
        Sign.DOUBTED: reading.doubted,
        Sign.SIGN_IN: reading.signs_in,
        Sign.VAGUE: reading.vague,
        Sign.CLAIMS: reading.claims,
    }
    return {sign: seen for sign, true in said.items() if true}


def _of_account(looker: Looker) -> dict[Sign, Seen]:
    looked = looker.seen(ACCOUNT)
    if looked is None:
        return {}
    found, citation = looked
    accounts = [one for one in found if one.has("email", "username", "status") or _named(one)]
    wanted = looker.slots.get("email", "")
    mine = [one for one in accounts if wanted in _addresses(one)] or accounts
    if len(mine) != 1:
        sign = Sign.FOREIGN if accounts else Sign.NO_ACCOUNT
        return {sign: Seen(citation=citation)}
    account = mine[0]
    user_id = account.text("user id", "account id", "id")
    signs = {Sign.ACCOUNT: Seen(citation=citation, values={"id": user_id})}
    if _is(account, _LOCKS):
        signs[Sign.LOCKED] = Seen(citation=citation)
    if _is(account, _ENDS) or _is_not(account, _LIVES):
        signs[Sign.DISABLED] = Seen(citation=citation)
    if len(signs) == 1:
        signs[Sign.OPEN] = Seen(citation=citation)
    named = _addresses(account)
    if named and wanted not in named:  # a search may find what is only like the address
        signs[Sign.FOREIGN] = Seen(citation=citation)
    return signs


def _addresses(one: Record) -> frozenset[str]:
    named = (value for name, value in one.fields.items() if parts_of(name) & _MAIL)
    return frozenset(address(str(value)) for value in named) - {""}


def _of_sign_ins(looker: Looker) -> dict[Sign, Seen]:
    looked = looker.seen(SIGN_INS)
    if looked is None:
        return {}
    found, citation = looked
    failed = [one for one in found if one.has(*_OUTCOMES) and not _succeeded(one)]
    factors = [one for one in failed if parts_of(_outcome(one)) & _FACTORS]
    addresses = {one.text("ip", "address", "source") for one in failed} - {""}
    counts = {
        Sign.FAILURES: len(failed),
        Sign.FACTOR_FAILURES: len(factors),
        Sign.SPRAYED: len(addresses) if len(addresses) >= ATTACK_ADDRESSES else 0,
    }
    return {
        sign: Seen(citation=citation, values={"count": str(count)})
        for sign, count in counts.items()
        if count
    }


def _of_deliveries(looker: Looker) -> dict[Sign, Seen]:
    looked = looker.seen(DELIVERIES)
    if looked is None:
        return {}
    found, citation = looked
    sent = [one for one in found if one.has(*_CODES)]
    failed = [one for one in sent if not _succeeded(one, _CODES)]
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
    return {sign: Seen(citation=citation, values=values)}


def _with_url(looker: Looker) -> Mapping[str, str]:
    """Return the slots with the address of the deliveries, when the ticket names none."""
    looked = looker.seen(DELIVERIES)
    if looked is None or looker.slots.get("url"):
        return looker.slots
    urls = {one.text("url", "endpoint", "target") for one in looked[0]} - {""}
    return {**looker.slots, "url": urls.pop()} if len(urls) == 1 else looker.slots


def _of_endpoint(looker: Looker) -> dict[Sign, Seen]:
    tried = [one for one in looker.tries(ENDPOINT) if one.outcome in ("applied", "failed")]
    if not tried or tried[-1].dry_run:
        return {}
    last = tried[-1]
    looked = looker.seen(ENDPOINT)
    codes = [one.text(*_CODES) for one in looked[0]] if looked else []
    status = next((one for one in codes if one.isdecimal()), "") or _code_in(last)
    seen = Seen(citation=citations.tool(last.action_id), values={"status": status})
    if not status:
        return {Sign.ENDPOINT_SILENT: seen} if _SILENT.search(last.text[:500]) else {}
    down = int(status) >= FAILED_STATUS
    return {Sign.ENDPOINT_DOWN if down else Sign.ENDPOINT_UP: seen}


def _of_invoices(looker: Looker) -> dict[Sign, Seen]:
    looked = looker.seen(INVOICES)
    if looked is None:
        return {}
    found, citation = looked
    invoices = [one for one in found if one.has("amount", "total", "price", "gross")]
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
    return {Sign.INVOICES: Seen(citation=citation, values=values)}


def _of_change(question: Question, reading: Reading) -> dict[Sign, Seen]:
    """Return what came of the last try of the change; what worked once, worked."""
    change = reading.book.change
    if change is None:
        return {}
    tried = [
        one for one in question.memory.observations if serves(one.connector, one.tool, change.use)
    ]
    if not tried:
        return {}
    worked = [one for one in tried if _came(one) is Sign.CHANGED]
    last = worked[-1] if worked else tried[-1]
    return {_came(last): Seen(citation=citations.tool(last.action_id))}


def _came(one: Observation) -> Sign:
    if one.outcome == "applied":
        return Sign.SIMULATED if one.dry_run else Sign.CHANGED
    if one.outcome in _REFUSALS:
        return Sign.REFUSED
    return Sign.UNKNOWN if one.outcome == "unknown" else Sign.FAILED


def _named(one: Record) -> bool:
    return any(parts_of(name) & (_LOCKS | _ENDS | _LIVES) for name in one.fields)


def _is(one: Record, words: Iterable[str]) -> bool:
    """Return whether a status is one of the words, or a field named by one says so."""
    wanted = frozenset(words)
    if one.text("status", "state").lower() in wanted:
        return True
    return any(
        truth(value) is not False
        for name, value in one.fields.items()
        if parts_of(name) & wanted and not parts_of(name) & _BESIDE
    )


def _is_not(one: Record, words: frozenset[str]) -> bool:
    return any(
        truth(value) is False for name, value in one.fields.items() if parts_of(name) & words
    )


def _succeeded(one: Record, fields: Sequence[str] = _OUTCOMES) -> bool:
    said = one.value(*fields)
    if isinstance(said, bool):
        return said
    text = str(said if said is not None else "").strip().lower()
    if text.isdecimal() and len(text) == 3:
        return int(text) < FAILED_STATUS
    if truth(text) is not None:
        error = one.has("error", "reason") and not one.has("success", "outcome", "result")
        return truth(text) is not error
    return text in _GOOD


def _outcome(one: Record) -> str:
    return " ".join(
        one.text(name) for name in ("outcome", "result", "reason", "error", "error code")
    )


def _code_in(one: Observation) -> str:
    match = _STATUS.search(one.text[:500])
    return match[1] if match else ""


def _short(text: str) -> str:
    plain = re.sub(r"[\[\]{}]", " ", text)
    return " ".join(plain.split())[:VALUE_CHARS]
