"""Entities, their other names and typed relationships that a sentence states plainly. Pure.

Only sentences that leave no doubt: not negated, not asked, not planned, not past. The rest is left
to a model.
"""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING

from cairn.consolidation.plan import AddEntity, BatchMemory, EntityName, Relate
from cairn.consolidation.tokens import ORDINARY_WORDS
from cairn.consolidation.word_lists import NEGATIONS
from cairn.graph.edge import Relation
from cairn.graph.entities import type_of_name
from cairn.graph.entity_names import find_domains, name_key, tidy_name
from cairn.graph.person_names import may_be_person
from cairn.graph.prose import TIME_WORDS, is_junk
from cairn.graph.technologies import canonical_technology
from cairn.kernel.text.words import sentences, words

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from uuid import UUID

MAX_SENTENCE_CHARS = 400

_PART = r"(?:[A-Z][\w&'\u2019-]*(?:\.[A-Za-z]\w*)*|[a-z0-9][a-z0-9-]*(?:\.[a-z0-9-]+)*\.[a-z]{2,6})"
_NAME = rf"{_PART}(?: {_PART}){{0,3}}"
_AGENT = r"[a-z][a-z0-9]*(?:-[a-z0-9]+)+"
_A = rf"(?P<a>{_NAME})"
_MANY = rf"(?P<a>(?:{_NAME}|{_AGENT})(?: and {_NAME})?)"
_ARTICLE = r"(?:(?:the|an?|our|their|its) )?"
_LIST = rf"{_NAME}(?:(?:, | and |, and ){_NAME}){{0,4}}"
_HEAD = (
    r"(?:account|api|app|backend|board|cluster|dashboard|database|engine|frontend|gateway|group"
    r"|integration|library|migration|module|pipeline|platform|portal|programme|program|project"
    r"|redesign|release|rollout|service|site|store|system|tool|warehouse|website)s?"
)
_B = rf"{_ARTICLE}(?P<b>{_NAME})"
_OBJECTS = rf"{_ARTICLE}(?P<b>{_LIST})"
_WORK = rf"(?:{_OBJECTS}|(?:the|our|their|its) (?P<c>(?:[a-z][a-z-]+ ){{1,2}}{_HEAD}))(?![\w-])"
_ADVERB = r"(?:(?:also|currently|mainly|mostly|now|still) )?"
_WHO = (
    rf"(?:(?P<we>\b[Ww]e|\b[Oo]ur (?:team|company|shop|site|website))"
    rf"|(?P<a>{_NAME})(?: {_HEAD})?)"
)
_USING = (
    r"(?:uses?|(?:is|are) using|runs? on|(?:is|are) running on|relies on|rely on"
    r"|(?:is|are) (?:built (?:with|on)|powered by|hosted on)|ha(?:s|ve) (?:switched|moved) to)"
)
_WORKING = (
    r"(?:works? on|(?:is|are) working on|ha(?:s|ve) been working on|leads|maintains|oversees"
    r"|is (?:responsible for|in charge of|building|leading|developing))"
)
_SAME = r"(?:the same owner|one owner|the same company|the same holding)"
_CONTACT = r"(?:\w+ ){0,2}contact (?:at|for|of|with)"

_PATTERNS: tuple[tuple[Relation, re.Pattern[str]], ...] = tuple(
    (relation, re.compile(pattern))
    for relation, pattern in (
        (Relation.CONTACT_OF, rf"{_A} is (?:the|our|a) {_CONTACT} {_B}"),
        (Relation.CONTACT_OF, rf"(?:[Tt]he|[Oo]ur) {_CONTACT} {_B} is {_A}"),
        (Relation.CONTACT_OF, rf"(?:[Tt]he|[Oo]ur) {_CONTACT} {_B}, {_A},"),
        (Relation.USES, rf"{_WHO} {_ADVERB}{_USING} {_OBJECTS}"),
        (Relation.WORKS_ON, rf"{_MANY} {_ADVERB}{_WORKING} {_WORK}"),
        (Relation.WORKS_ON, rf"[Tt]he (?P<b>{_NAME})(?: {_HEAD})? is led by {_A}"),
        (
            Relation.COMPETITOR_OF,
            rf"{_A} (?:is a (?:\w+ )?competitor of|is competing with|competes with"
            rf"|competes against) {_B}",
        ),
        (Relation.COMPETITOR_OF, rf"{_A} and {_B} are competitors"),
        (Relation.SAME_OWNER, rf"{_A} and {_B} (?:both )?(?:have|belong to) {_SAME}"),
    )
)
_PEOPLES = frozenset({Relation.WORKS_ON, Relation.CONTACT_OF})
"""Relations whose source is somebody: a name no list knows is then a person's, if it may be one."""
_AND = re.compile(r",? and |, ")
_ALSO = re.compile(
    rf"{_A}(?:,)? (?:\()?(?:also known as|also called|aka|a\.k\.a\.|known as|or simply) "
    rf"[\"'\u201c]?{_B}"
)
_DOUBTFUL = """
    if would could might should maybe perhaps probably plans planned planning considered
    considering wants wanted used formerly previously until will
"""
_UNSURE = frozenset(_DOUBTFUL.split())
_MAY = re.compile(r"\bmay\b")  # the month is written May
_BEFORE_NAMES = ORDINARY_WORDS | TIME_WORDS


@dataclass(frozen=True, slots=True, kw_only=True)
class Stated:
    """What one sentence of a memory states of two entities."""

    relation: Relation
    source: EntityName
    target: EntityName


def relationships(
    memories: Sequence[BatchMemory], aliases: Mapping[str, tuple[str, str]]
) -> list[Relate]:
    """Return the relationships memories of one audience state, each as strong as it is often."""
    sources: dict[Stated, list[UUID]] = defaultdict(list)
    for memory in sorted(memories, key=lambda memory: memory.id):
        for stated in dict.fromkeys(_stated(memory, aliases)):
            sources[stated].append(memory.id)
    return [
        Relate(
            source=stated.source,
            target=stated.target,
            relation=stated.relation,
            memories=tuple(ids),
            strength=len(ids),
        )
        for stated, ids in sources.items()
    ]


def other_names(
    memories: Sequence[BatchMemory], aliases: Mapping[str, tuple[str, str]]
) -> list[AddEntity]:
    """Return the entities of which a memory says what else they are called."""
    results: dict[EntityName, tuple[set[str], list[UUID]]] = {}
    for memory in sorted(memories, key=lambda memory: memory.id):
        for sentence in _sentences(memory):
            for match in _ALSO.finditer(sentence):
                entity, alias = _entity(match["a"], memory, aliases), tidy_name(match["b"])
                if entity is None or alias is None or is_junk(alias):
                    continue
                names, ids = results.setdefault(entity, (set(), []))
                names.add(alias)
                ids.append(memory.id)
    return [
        AddEntity(entity=entity, aliases=tuple(sorted(names)), memories=tuple(dict.fromkeys(ids)))
        for entity, (names, ids) in results.items()
    ]


def _stated(memory: BatchMemory, aliases: Mapping[str, tuple[str, str]]) -> Iterator[Stated]:
    for sentence in _sentences(memory):
        for relation, pattern in _PATTERNS:
            for match in pattern.finditer(sentence):
                sources = _sources(match, memory, aliases, somebody=relation in _PEOPLES)
                targets = _targets(match, memory, aliases)
                for source, target in product(sources, targets):
                    if name_key(source.name) != name_key(target.name):
                        yield Stated(relation=relation, source=source, target=target)


def _sources(
    match: re.Match[str],
    memory: BatchMemory,
    aliases: Mapping[str, tuple[str, str]],
    *,
    somebody: bool,
) -> list[EntityName]:
    """Return whom a sentence speaks of; `we` is the client."""
    if match.groupdict().get("we"):
        client = memory.client_id
        return [] if client == "global" else [EntityName(name=client, type="client")]
    results = [_entity(name, memory, aliases) for name in _AND.split(match["a"])]
    entities = [item for item in results if item is not None]
    if not somebody:
        return entities
    return [
        EntityName(name=item.name, type="person")
        if item.type == "concept" and may_be_person(item.name)
        else item
        for item in entities
    ]


def _targets(
    match: re.Match[str], memory: BatchMemory, aliases: Mapping[str, tuple[str, str]]
) -> list[EntityName]:
    """Return what a sentence says of them; a plain description is a name too."""
    described = match.groupdict().get("c")
    if described:
        return [EntityName(name=described, type="concept")]
    results = [_entity(name, memory, aliases) for name in _AND.split(match["b"])]
    return [item for item in results if item is not None]


def _entity(
    name: str, memory: BatchMemory, aliases: Mapping[str, tuple[str, str]]
) -> EntityName | None:
    """Return the entity a name stands for: a known one, a technology, or what its form says."""
    tidy = tidy_name(_bare(name))
    if tidy is None:
        return None
    key = name_key(tidy)
    if key in aliases:
        canonical, type_ = aliases[key]
        return EntityName(name=canonical, type=type_)
    if key == name_key(memory.client_id):
        return EntityName(name=memory.client_id, type="client")
    entities = {name_key(entity.name): entity for entity in memory.entities}
    if key in entities:
        return entities[key]
    if (technology := canonical_technology(tidy)) is not None:
        return EntityName(name=technology, type="technology")
    if any(value == tidy for _, _, value in find_domains(tidy)):
        return EntityName(name=tidy, type="domain")
    if re.fullmatch(_AGENT, tidy):
        return EntityName(name=tidy, type="agent")
    return None if is_junk(tidy) else EntityName(name=tidy, type=type_of_name(tidy))


def _bare(name: str) -> str:
    """Return a name without a possessive and without what stands before it: In April Acme."""
    parts = name.removesuffix("'s").removesuffix("\u2019s").rstrip(".,").split()
    if len(parts) > 1 and parts[-1] == "API":
        parts = parts[:-1]
    while len(parts) > 1 and parts[0].casefold() in _BEFORE_NAMES:
        parts = parts[1:]
    return " ".join(parts)


def _sentences(memory: BatchMemory) -> list[str]:
    """Return the sentences that say how things are."""
    return [
        sentence
        for sentence in sentences(memory.text)
        if len(sentence) <= MAX_SENTENCE_CHARS
        and not sentence.endswith("?")
        and _is_plain(sentence)
    ]


def _is_plain(sentence: str) -> bool:
    sentence_words = set(words(sentence))
    if _MAY.search(sentence):
        return False
    return not sentence_words & _UNSURE and not sentence_words & NEGATIONS and "n't" not in sentence
