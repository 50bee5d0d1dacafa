"""Entities, their other names and typed relationships that a sentence states plainly. Pure.

Only sentences that leave no doubt: not negated, not asked, not planned, not past. The rest is left
to a model.
"""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cairn.consolidation.plan import AddEntity, BatchMemory, EntityName, Relate
from cairn.consolidation.token_lists import NEGATIONS
from cairn.consolidation.tokens import ORDINARY_WORDS
from cairn.graph.edge import Relation
from cairn.graph.entity_domains import find_domains
from cairn.graph.entity_junk import is_junk
from cairn.graph.entity_names import name_key, tidy_name
from cairn.graph.prose import TIME_WORDS
from cairn.graph.technologies import canonical_technology
from cairn.text.words import sentences, words

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from uuid import UUID

MAX_SENTENCE_CHARS = 400

_PART = r"(?:[A-Z][\w&'\u2019-]*(?:\.[A-Za-z]\w*)*|[a-z0-9][a-z0-9-]*(?:\.[a-z0-9-]+)*\.[a-z]{2,6})"
_NAME = rf"{_PART}(?: {_PART}){{0,3}}"
_A, _B = rf"(?P<a>{_NAME})", rf"(?P<b>{_NAME})"
_WHO = rf"(?:(?P<we>\b[Ww]e|\b[Oo]ur (?:team|company|shop|site|website))|{_A})"
_SAME = r"(?:the same owner|one owner|the same company|the same holding)"

_PATTERNS: tuple[tuple[Relation, re.Pattern[str]], ...] = tuple(
    (relation, re.compile(pattern))
    for relation, pattern in (
        (
            Relation.CONTACT_OF,
            rf"{_A} is (?:the|our|a) (?:\w+ ){{0,2}}contact (?:at|for|of|with) {_B}",
        ),
        (
            Relation.CONTACT_OF,
            rf"(?:[Tt]he|[Oo]ur) (?:\w+ ){{0,2}}contact (?:at|for|of|with) {_B} is {_A}",
        ),
        (Relation.USES, rf"{_WHO} (?:uses?|runs on|relies on|is built (?:with|on)) {_B}"),
        (Relation.WORKS_ON, rf"{_A} (?:works|is working|has been working) on {_B}"),
        (
            Relation.COMPETITOR_OF,
            rf"{_A} (?:is a (?:\w+ )?competitor of|is competing with|competes with) {_B}",
        ),
        (Relation.SAME_OWNER, rf"{_A} and {_B} (?:both )?(?:have|belong to) {_SAME}"),
    )
)
_ALSO = re.compile(
    rf"{_A}(?:,)? (?:\()?(?:also known as|also called|aka|a\.k\.a\.|known as|or simply) "
    rf"[\"'\u201c]?{_B}"
)
_DOUBTFUL = """
    if would could might may should maybe perhaps probably plans planned planning considered
    considering wants wanted used formerly previously until will
"""
_UNSURE = frozenset(_DOUBTFUL.split())
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
    found: dict[Stated, list[UUID]] = defaultdict(list)
    for one in sorted(memories, key=lambda one: one.id):
        for stated in dict.fromkeys(_stated(one, aliases)):
            found[stated].append(one.id)
    return [
        Relate(
            source=stated.source,
            target=stated.target,
            relation=stated.relation,
            memories=tuple(ids),
            strength=len(ids),
        )
        for stated, ids in found.items()
    ]


def other_names(
    memories: Sequence[BatchMemory], aliases: Mapping[str, tuple[str, str]]
) -> list[AddEntity]:
    """Return the entities of which a memory says what else they are called."""
    found: dict[EntityName, tuple[set[str], list[UUID]]] = {}
    for one in sorted(memories, key=lambda one: one.id):
        for sentence in _sentences(one):
            for match in _ALSO.finditer(sentence):
                entity, alias = _entity(match["a"], one, aliases), tidy_name(match["b"])
                if entity is None or alias is None or is_junk(alias):
                    continue
                names, ids = found.setdefault(entity, (set(), []))
                names.add(alias)
                ids.append(one.id)
    return [
        AddEntity(entity=entity, aliases=tuple(sorted(names)), memories=tuple(dict.fromkeys(ids)))
        for entity, (names, ids) in found.items()
    ]


def _stated(memory: BatchMemory, aliases: Mapping[str, tuple[str, str]]) -> Iterator[Stated]:
    for sentence in _sentences(memory):
        for relation, pattern in _PATTERNS:
            for match in pattern.finditer(sentence):
                source = _source(match, memory, aliases)
                target = _entity(match["b"], memory, aliases)
                if source and target and name_key(source.name) != name_key(target.name):
                    yield Stated(relation=relation, source=source, target=target)


def _source(
    match: re.Match[str], memory: BatchMemory, aliases: Mapping[str, tuple[str, str]]
) -> EntityName | None:
    """Return who a sentence speaks of; `we` is the client."""
    if match.groupdict().get("we"):
        client = memory.client_id
        return None if client == "global" else EntityName(name=client, type="client")
    return _entity(match["a"], memory, aliases)


def _entity(
    name: str, memory: BatchMemory, aliases: Mapping[str, tuple[str, str]]
) -> EntityName | None:
    """Return the entity a name stands for: a known one, a technology, or a new concept."""
    tidy = tidy_name(_bare(name))
    if tidy is None:
        return None
    key = name_key(tidy)
    if key in aliases:
        canonical, type_ = aliases[key]
        return EntityName(name=canonical, type=type_)
    if key == name_key(memory.client_id):
        return EntityName(name=memory.client_id, type="client")
    known = {name_key(one.name): one for one in memory.entities}
    if key in known:
        return known[key]
    technology = canonical_technology(tidy)
    if technology is not None:
        return EntityName(name=technology, type="technology")
    if any(found == tidy for _, _, found in find_domains(tidy)):
        return EntityName(name=tidy, type="domain")
    return None if is_junk(tidy) else EntityName(name=tidy, type="concept")


def _bare(name: str) -> str:
    """Return a name without a possessive and without what stands before it: In April Acme."""
    parts = name.removesuffix("'s").removesuffix("\u2019s").rstrip(".,").split()
    while len(parts) > 1 and parts[0].casefold() in _BEFORE_NAMES:
        parts = parts[1:]
    return " ".join(parts)


def _sentences(memory: BatchMemory) -> list[str]:
    """Return the sentences that say how things are."""
    return [
        one
        for one in sentences(memory.text)
        if len(one) <= MAX_SENTENCE_CHARS and not one.endswith("?") and _is_plain(one)
    ]


def _is_plain(sentence: str) -> bool:
    said = set(words(sentence))
    return not said & _UNSURE and not said & NEGATIONS and "n't" not in sentence
