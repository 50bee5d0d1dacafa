"""The one grammar of citations in what agents write, and which claims have one. Pure.

    citation = "[" kind ":" target "]"
    doc      = "[doc:" uri ["#" headings] ["#L" from "-L" to | "#p" from "-p" to] "]"
    headings = heading *(" > " heading)
    memory   = "[memory:" node id "]"       tool = "[tool:" action id "]"
    ticket   = "[ticket:" ticket id "]"

Ids are UUIDs. Brackets, number signs and breaks would end a part: inside a name they are written
as a space (`recall.rendering` does). A claim is a sentence that says something: not a greeting,
a question, a request, or a line that only introduces what follows. It ends with a citation when
one stands right before or after its full stop. Whether the source says so is not checked here.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING
from uuid import UUID

from cairn.kernel.text.words import sentences, words
from cairn.recall.questions.small_talk import small_talk
from cairn.recall.rendering import HEADINGS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from cairn.investigations.state import WorkingMemory

MOST_ROUNDS = 8
MAX_CHARS = 2000
"""Of a citation; what is longer is none."""

NO_SOURCE = "(no source)"
"""Ends a claim for which there is none, in English; `no_source` knows other languages."""

_NO_SOURCE: Mapping[str, str] = {
    "en": NO_SOURCE,
    "de": "(ohne Quelle)",
    "fr": "(sans source)",
    "es": "(sin fuente)",
}
_TOKEN = re.compile(rf"\[(doc|memory|tool|ticket):([^\[\]\n]{{1,{MAX_CHARS}}})\]")
_SPAN = re.compile(r"(L|p)(\d{1,9})-(L|p)(\d{1,9})")
_MASK = "\ue000"
_AFTER = re.compile(rf"\A[{_MASK}\s,;]*{_MASK}[.,;]?")
_ENDS = re.compile(rf"(?>(?:{_MASK}[\s,;]*+)+)[\s.!\u2026\u3002\uff01,;:\"'\u201d\u2019)]*\Z")
_SPACE_BEFORE = re.compile(r" ([.,;])(?=\s|\Z)")
_SPACES = re.compile(r"\s+")
_SALUTATION_WORDS = 6
_REQUESTS = (("please",), ("bitte",), ("veuillez",), ("merci", "de"), ("por", "favor"))
_STATES = frozenset(["note", "be", "know", "beachten", "noter", "tenga"])
"""After a word of request: what follows is stated, not asked for."""


class Kind(StrEnum):
    """What a citation names."""

    DOC = "doc"
    MEMORY = "memory"
    TOOL = "tool"
    TICKET = "ticket"


@dataclass(frozen=True, slots=True, kw_only=True)
class Citation:
    """A citation read. `target` is a URI for documents, else an id in its canonical form.

    `lines` and `pages` are (first, last), counted from 1. `str()` writes it.
    """

    kind: Kind
    target: str
    headings: tuple[str, ...] = ()
    lines: tuple[int, int] | None = None
    pages: tuple[int, int] | None = None

    def __str__(self) -> str:
        """Return the token."""
        parts = [self.target]
        if self.headings:
            parts.append(HEADINGS.join(self.headings))
        if self.lines:
            parts.append(f"L{self.lines[0]}-L{self.lines[1]}")
        elif self.pages:
            parts.append(f"p{self.pages[0]}-p{self.pages[1]}")
        return f"[{self.kind}:{'#'.join(parts)}]"

    @property
    def id(self) -> UUID | None:
        """Return the id; None for a document."""
        return None if self.kind is Kind.DOC else UUID(self.target)


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """A sentence that says something, as written, and the citations it ends with."""

    text: str
    citations: tuple[Citation, ...]


def tool(action_id: UUID) -> str:
    """Return the citation of what a tool said."""
    return f"[tool:{action_id}]"


def ticket(ticket_id: UUID) -> str:
    """Return the citation of a ticket."""
    return f"[ticket:{ticket_id}]"


def memory(node_id: UUID) -> str:
    """Return the citation of a memory, or of any other node that is no part of a document."""
    return f"[memory:{node_id}]"


def parse(token: str) -> Citation | None:
    """Return the citation that is all of `token`, None for anything else."""
    match = _TOKEN.fullmatch(token.strip())
    if match is None:
        return None
    kind, rest = Kind(match[1]), match[2].strip()
    if kind is Kind.DOC:
        return _doc(rest)
    try:
        return Citation(kind=kind, target=str(UUID(rest)))
    except ValueError:
        return None


def citations(text: str) -> tuple[Citation, ...]:
    """Return every well-formed citation in `text`, in order."""
    results = (parse(match[0]) for match in _TOKEN.finditer(text))
    return tuple(item for item in results if item is not None)


def pieces(text: str) -> Iterator[str | Citation]:
    """Yield `text` in order, its citations apart from what stands between them."""
    start = 0
    for match in _TOKEN.finditer(text):
        if (cited := parse(match[0])) is not None:
            yield text[start : match.start()]
            yield cited
            start = match.end()
    yield text[start:]


def without(text: str) -> str:
    """Return `text` without its citations: those of another investigation resolve to nothing."""
    return _TOKEN.sub("", text)


def for_readers(text: str) -> str:
    """Return `text` as its requester reads it: titles of documents, and no ids.

    Of citations in a row of one document only the last is written.
    """
    tokens = [match[0] for match in _TOKEN.finditer(text)]
    following = [*tokens[1:], ""]
    rest = iter(zip(tokens, following, strict=True))

    def titled(_: re.Match[str]) -> str:
        token, then = next(rest)
        cited = parse(token)
        return f"({_title(cited)})" if cited and cited.kind is Kind.DOC and then != token else ""

    lines = (_SPACES.sub(" ", line).strip() for line in _TOKEN.sub(titled, text).splitlines())
    return "\n".join(_SPACE_BEFORE.sub(r"\1", line) for line in lines)


def _title(cited: Citation) -> str:
    """Return what a document is called, without the ids in its address."""
    if cited.headings:
        return ", ".join(cited.headings)
    return cited.target.rpartition("/")[2].partition("?")[0].rpartition(".")[0] or cited.target


def claims(text: str) -> tuple[Claim, ...]:
    """Return the sentences of `text` that say something, in order, each with its citations."""
    return tuple(
        Claim(text=item.text, citations=item.citations)
        for line in _lines(text)
        for item in line
        if _states(item)
    )


def no_source(language: str = "en") -> str:
    """Return the words that end a claim without a source."""
    return _NO_SOURCE.get(language, NO_SOURCE)


def sources(memory: WorkingMemory) -> tuple[Citation, ...]:
    """Return what may be cited: what was found, what tools said, the ticket and its like."""
    tokens = [
        *(fact.citation for fact in (*memory.evidence, *memory.facts, *memory.similar)),
        *(tool(observation.action_id) for observation in memory.observations),
        ticket(memory.brief.ticket_id),
    ]
    results = (parse(token) for token in tokens)
    return tuple(item for item in results if item is not None)


def resolves(citation: Citation, citations: Iterable[Citation]) -> bool:
    """Return whether a citation names one of `citations`, or a part of its document."""
    return any(_within(citation, item) for item in citations)


def unsourced(text: str, citations: Sequence[Citation]) -> tuple[Claim, ...]:
    """Return the claims of `text` that neither end with a citation of `citations` nor say so."""
    return tuple(
        claim
        for claim in claims(text)
        if not any(resolves(cited, citations) for cited in claim.citations)
        and not _admits(claim.text)
    )


def disclaimed(text: str, citations: Sequence[Citation], *, language: str = "en") -> str:
    """Return `text` with only these citations, each claim without one ending with `no_source`.

    Lines are kept, runs of spaces are not. What is said already is said once: doing it again
    changes nothing.
    """
    text = _settled(
        lambda item: _TOKEN.sub(lambda token: _resolved_citation(token[0], citations), item), text
    )
    marker = no_source(language)
    return _settled(lambda item: _marked(item, citations, marker), text)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Sentence:
    """A sentence with its citations put back, and the tokens it ends with."""

    masked: str
    tokens: tuple[str, ...]

    @property
    def text(self) -> str:
        return _unmasked(self.masked, self.tokens)

    @property
    def citations(self) -> tuple[Citation, ...]:
        """Return the well-formed citations it ends with."""
        end = _ENDS.search(self.masked)
        if end is None:
            return ()
        results = (parse(token) for token in self.tokens[-end[0].count(_MASK) :])
        return tuple(item for item in results if item is not None)


def _lines(text: str) -> Iterator[list[_Sentence]]:
    """Yield the sentences of each line; citations after a full stop belong to what they follow."""
    tokens: list[str] = []

    def hidden(match: re.Match[str]) -> str:
        tokens.append(match[0])
        return _MASK

    masked = _TOKEN.sub(hidden, text.replace(_MASK, ""))
    rest = iter(tokens)
    for line in masked.splitlines():
        yield [
            _Sentence(masked=item, tokens=tuple(next(rest) for _ in range(item.count(_MASK))))
            for item in _joined(sentences(line))
        ]


def _joined(parts: Sequence[str]) -> list[str]:
    """Return the sentences with citations that were split off given back to the one before."""
    results: list[str] = []
    for part in parts:
        after = _AFTER.match(part)
        if after is None or not results:
            results.append(part)
            continue
        results[-1] = f"{results[-1]} {after[0].strip()}"
        if left := part[after.end() :].strip():
            results.append(left)
    return results


def _states(sentence: _Sentence) -> bool:
    bare = sentence.masked.replace(_MASK, " ").strip().lstrip("-*> ").strip()
    tokens = words(bare)
    if not tokens or bare.startswith("#") or bare.endswith(("?", "\uff1f", ":")):
        return False
    if small_talk(bare) or (bare.endswith(",") and len(tokens) <= _SALUTATION_WORDS):
        return False
    return not any(
        tuple(tokens[: len(asks)]) == asks and _STATES.isdisjoint(tokens[len(asks) : len(asks) + 1])
        for asks in _REQUESTS
    )


def _settled(change: Callable[[str], str], text: str) -> str:
    """Return `text` changed until it stays as it is: what a change leaves may be due for one."""
    for _ in range(MOST_ROUNDS):
        changed = change(text)
        if changed == text:
            break
        text = changed
    return text


def _resolved_citation(token: str, citations: Sequence[Citation]) -> str:
    cited = parse(token)
    return token if cited is not None and resolves(cited, citations) else ""


def _marked(text: str, citations: Sequence[Citation], marker: str) -> str:
    lines = [" ".join(_ended(item, citations, marker) for item in line) for line in _lines(text)]
    return "\n".join(lines).strip()


def _ended(sentence: _Sentence, citations: Sequence[Citation], marker: str) -> str:
    """Return a sentence with the marker where one is due, in single spaces."""
    text = _SPACE_BEFORE.sub(r"\1", _SPACES.sub(" ", sentence.text)).strip()
    sourced = any(resolves(cited, citations) for cited in sentence.citations)
    if sourced or not _states(sentence) or _admits(text):
        return text
    bare = text.rstrip(".!\u2026\u3002 ")
    return f"{bare} {marker}."


def _admits(text: str) -> bool:
    return text.rstrip(".! ").endswith(tuple(_NO_SOURCE.values()))


def _unmasked(masked: str, tokens: Sequence[str]) -> str:
    rest = iter(tokens)
    return "".join(next(rest) if char == _MASK else char for char in masked)


def _doc(rest: str) -> Citation | None:
    uri, *parts = [part.strip() for part in rest.split("#")]
    spans: dict[str, tuple[int, int]] = {}
    if parts and (span := _SPAN.fullmatch(parts[-1])) and span[1] == span[3]:
        first, last = int(span[2]), int(span[4])
        if not 0 < first <= last:
            return None
        spans[span[1]] = (first, last)
        parts.pop()
    if not uri or len(parts) > 1:
        return None
    headings = tuple(part.strip() for part in parts[0].split(HEADINGS)) if parts else ()
    return Citation(
        kind=Kind.DOC,
        target=uri,
        headings=headings,
        lines=spans.get("L"),
        pages=spans.get("p"),
    )


def _within(citation: Citation, source: Citation) -> bool:
    """Return whether `citation` is `source`, or the same document without more than it covers."""
    if citation.kind is not source.kind or citation.target != source.target:
        return False
    if citation.headings and citation.headings != source.headings[: len(citation.headings)]:
        return False
    return _inside(citation.lines, source.lines) and _inside(citation.pages, source.pages)


def _inside(span: tuple[int, int] | None, source: tuple[int, int] | None) -> bool:
    if span is None:
        return True
    return source is not None and source[0] <= span[0] and span[1] <= source[1]
