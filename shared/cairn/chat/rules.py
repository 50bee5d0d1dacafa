"""A turn without a model: what is asked for, by its first words, and an answer that only quotes.

Rules never pretend: what they say of the world stands in quotation marks with its citation, and
where recall says nothing they say so.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from cairn.chat.loop import Answer, use
from cairn.chat.tools import Does
from cairn.chat.wording import phrase
from cairn.extraction.draw import Speaker, draw
from cairn.kernel.text.elements import one_line
from cairn.recall.questions.small_talk import small_talk

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from cairn.chat.telling import Teller
    from cairn.chat.tools import Result, Toolbox

MOST_QUOTES = 3
QUOTE_CHARS = 400
MOST_LISTED = 20
TITLE_CHARS = 100

_PLEASE = r"^\s*(?:(?:please|bitte|s'il (?:te|vous) pla[iî]t|por favor)[,\s]+)?"
_TO_ME = r"(?:\s+(?:that|dass|que|this|das|ceci|esto))?\s*[:,]?\s+"
_REMEMBER = re.compile(
    rf"{_PLEASE}(?:remember|keep in mind|note|merke? dir|retiens|retenez|recuerda|anota){_TO_ME}"
    r"(?P<what>.{2,})",
    re.IGNORECASE | re.DOTALL,
)
_FORGET = re.compile(
    rf"{_PLEASE}(?:forget|delete|erase|remove|vergiss|l(?:ö|oe)sche?|oublie|efface|supprime|olvida"
    r"|borra|elimina)(?:\s+(?:about|what you know (?:about|of)|the memory (?:about|of|that)))?"
    rf"{_TO_ME}"
    r"(?P<what>.{2,})",
    re.IGNORECASE | re.DOTALL,
)
_LIST = re.compile(
    rf"{_PLEASE}(?:(?:list|show)(?: me)?(?: all)?(?: my| the| your)? memories"
    r"|what do you (?:know|remember)(?: about me)?|was wei(?:ß|ss)t du(?: [uü]ber mich)?"
    r"|que sais[- ]tu(?: de moi)?|qu[eé] sabes(?: de m[ií])?)\s*[?.!]*\s*$",
    re.IGNORECASE,
)
_TICKET = re.compile(
    rf"{_PLEASE}(?:open|create|file|add|raise|er(?:ö|oe)ffne|erstelle|ouvre|cr[eé]e|abre|crea)\s+"
    r"(?:an?|ein|un)\s+ticket(?:\s+(?:about|for|that|saying|[uü]ber|wegen|pour|sobre|para))?"
    r"\s*[:,]?\s+(?P<what>.{2,})",
    re.IGNORECASE | re.DOTALL,
)
_PERSON = re.compile(
    r"\b(?:(?:speak|talk|chat)(?:ing)? (?:to|with)|connect me (?:to|with)|transfer me to|get me"
    r"|i (?:want|need|would like|'d like)) (?:an? |the |some )?(?:real |live |actual )?"
    r"(?:person|human(?: being)?|someone (?:real|human)|human agent|operator|representative"
    r"|member of (?:the|your) (?:team|staff)|support agent)\b"
    r"|\bmit (?:einem|einer|dem) (?:echten )?(?:menschen|mitarbeiter(?:in)?|person) "
    r"(?:sprechen|reden|chatten)"
    r"|\bparler (?:à|avec) (?:une (?:vraie )?personne|un (?:humain|conseiller|agent))\b"
    r"|\bhablar con (?:una persona(?: real)?|un (?:humano|agente)|alguien)\b",
    re.IGNORECASE,
)
_ASKS = re.compile(
    rf"{_PLEASE}(?:who|whom|whose|what|when|where|which|why|how|is|are|was|were|do|does|did|can|could"
    r"|will|would|should|has|have|had|tell me|show me|wer|was|wann|wo|warum|wieso|wie|welche[rsnm]?"
    r"|qui|que|quoi|quand|o\u00f9|pourquoi|comment|quel(?:le)?s?|qui\u00e9n|qu\u00e9|cu\u00e1ndo"
    r"|d\u00f3nde|c\u00f3mo|cu\u00e1l(?:es)?)\b",
    re.IGNORECASE,
)
_YES = {
    *("yes", "y", "yep", "yeah", "confirm", "confirmed", "ja", "jawohl", "oui", "confirme"),
    *("s\u00ed", "si", "confirmo", "best\u00e4tigt"),
}
_NO = {"no", "n", "nope", "cancel", "nein", "abbrechen", "non", "annule", "cancela", "cancelar"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
    """What a message asks for; `does` None for small talk."""

    does: Does | None
    what: str = ""


def wish_of(message: str) -> Wish:
    """Return what a message asks for. A question is never an order, whatever it begins with."""
    text = message.strip()
    if small_talk(text):
        return Wish(does=None)
    if _LIST.match(text):
        return Wish(does=Does.LIST)
    if not text.endswith(("?", "\uff1f", "\u061f")):
        for does, pattern in (
            (Does.REMEMBER, _REMEMBER),
            (Does.TICKET, _TICKET),
            (Does.DELETE, _FORGET),
        ):
            if match := pattern.match(text):
                return Wish(does=does, what=match["what"].strip())
    return Wish(does=Does.RECALL, what=text)


def wants_person(message: str) -> bool:
    """Return whether a message asks for a person to talk to."""
    return _PERSON.search(message) is not None


def says_something(message: str) -> bool:
    """Return whether a message may answer a later question: no question, no order, no yes or no."""
    if draw(message, Speaker(name="")):
        return True
    asks = _ASKS.match(message) or message.rstrip().endswith(("?", "\uff1f", "\u061f"))
    return wish_of(message).does is Does.RECALL and yes_or_no(message) is None and not asks


def yes_or_no(message: str) -> bool | None:
    """Return whether a message is nothing but a yes, or a no."""
    word = message.strip().strip(".!").casefold()
    if word in _YES:
        return True
    return False if word in _NO else None


@dataclass(slots=True, kw_only=True)
class ByRules:
    """Answers one message by rules."""

    teller: Teller
    toolbox: Toolbox
    propose: Callable[[str, Mapping[str, Any]], Result]
    language: str | None
    session: str
    client_id: str | None = None

    def __call__(self, message: str, query: str | None = None) -> Answer:
        """Return the answer; `query` is the message made fit for a search."""
        self.teller.tell("iteration_start", iteration=1)
        wish = wish_of(message)
        if wish.does is None:
            return Answer(text=phrase("greeting", self.language), rounds=1)
        if wish.does not in self.toolbox.does:
            return Answer(text=phrase("unable", self.language), rounds=1)
        if wish.does is Does.RECALL:
            return self._recalled(query or wish.what, states=bool(draw(message, Speaker(name=""))))
        if wish.does is Does.DELETE:
            return self._to_delete(wish.what)
        arguments, head, limit = self._tool_call(wish)
        name = self.toolbox.does[wish.does]
        result = use(self.teller, self.toolbox, name, arguments)
        if result.error is not None:
            return self._failed(name, result)
        lines = result.shown if limit is None else "\n".join(self._lines(result, limit))
        if wish.does is Does.REMEMBER:
            lines = f"\u201c{one_line(wish.what)}\u201d {_cited(result)}".strip()
        return self._tool_answer(name, phrase(head, self.language) if lines else "", lines)

    def _tool_call(self, wish: Wish) -> tuple[dict[str, Any], str, int | None]:
        whose = self._whose()
        if wish.does is Does.REMEMBER:
            return {"text": wish.what, "session_id": self.session, **whose}, "remembered", None
        if wish.does is Does.TICKET:
            title = one_line(wish.what)[:TITLE_CHARS]
            return {"title": title, "body": wish.what}, "ticket", None
        return {"limit": MOST_LISTED, **whose}, "listed", MOST_LISTED

    def _whose(self) -> dict[str, Any]:
        return {"client_id": self.client_id} if self.client_id else {}

    def _recalled(self, what: str, *, states: bool) -> Answer:
        name = self.toolbox.does[Does.RECALL]
        result = use(self.teller, self.toolbox, name, {"query": what[:2000], **self._whose()})
        if result.error is not None:
            return self._failed(name, result)
        quotes = self._lines(result, MOST_QUOTES)
        if not quotes:
            return self._tool_answer(
                name, "", phrase("stated" if states else "nothing", self.language)
            )
        return self._tool_answer(name, phrase("found", self.language), "\n".join(quotes))

    def _to_delete(self, what: str) -> Answer:
        """Find what is meant and ask for a yes; nothing that only resembles it a little."""
        recall = self.toolbox.does.get(Does.RECALL)
        if recall is None:
            return Answer(text=phrase("unable", self.language), rounds=1)
        result = use(self.teller, self.toolbox, recall, {"query": what[:2000], **self._whose()})
        row = next(iter(memories(result)), None)
        if row is None:
            return self._tool_answer(recall, "", phrase("nothing", self.language))
        name = self.toolbox.does[Does.DELETE]
        self.propose(name, {"id": id_of(row)})
        return self._tool_answer(recall, phrase("waits", self.language), f"{name}: {quote(row)}")

    def _lines(self, result: Result, most: int) -> list[str]:
        rows: list[Mapping[str, Any]] = []
        for row in stated(result):
            text = _text(row)
            if not any(text in quoted or quoted in text for quoted in map(_text, rows)):
                rows.append(row)
        return [quote(row) for row in rows[:most]]

    def _failed(self, name: str, result: Result) -> Answer:
        return self._tool_answer(name, phrase("failed", self.language), result.shown)

    def _tool_answer(self, name: str, head: str, lines: str) -> Answer:
        from cairn.investigations.citations import citations

        text = "\n".join(filter(None, (head, lines)))
        sources = tuple(dict.fromkeys(str(each) for each in citations(text)))
        return Answer(text=text, sources=sources, rounds=1, tools=(name,))


def rows_of(result: Result) -> Sequence[Mapping[str, Any]]:
    """Return what a tool listed."""
    structured = result.structured or {}
    rows: object = structured.get("results") or structured.get("items") or ()
    return cast("Sequence[Mapping[str, Any]]", rows) if isinstance(rows, list) else ()


def stated(result: Result) -> list[Mapping[str, Any]]:
    """Return the rows that say something: no questions, no orders, nothing an assistant said."""
    return [
        row
        for row in rows_of(result)
        if str(row.get("text") or "").strip()
        and row.get("kind", row.get("type")) not in ("assistant", "tool", "system")
        and not str(row["text"]).rstrip().endswith(("?", "\uff1f", "\u061f"))
        and wish_of(str(row["text"])).does is Does.RECALL
        and yes_or_no(str(row["text"])) is None
    ]


def memories(result: Result) -> list[Mapping[str, Any]]:
    """Return the rows that are memories: what can be deleted one by one."""
    kinds = ("fact", "event", "decision", "status", "Memory")
    return [row for row in stated(result) if row.get("kind") in kinds or row.get("type") in kinds]


def id_of(row: Mapping[str, Any]) -> str:
    """Return a row's id."""
    return str(row.get("id") or row.get("node_id"))


def quote(row: Mapping[str, Any]) -> str:
    """Return what a row says in quotation marks, with its citation."""
    text = one_line(str(row["text"]))
    short = text if len(text) <= QUOTE_CHARS else f"{text[: QUOTE_CHARS - 1]}\u2026"
    source = str(row.get("source") or "")
    citation = source if source.startswith("[doc:") else f"[memory:{id_of(row)}]"
    return f"\u201c{short}\u201d {citation}"


def _text(row: Mapping[str, Any]) -> str:
    return one_line(str(row["text"]))


def _cited(result: Result) -> str:
    memory_id = (result.structured or {}).get("id")
    return f"[memory:{memory_id}]" if memory_id else ""
