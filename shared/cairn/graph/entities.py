"""Who and what a text speaks of, found by rules. No language model, no storage, no roles of events.

The first to name something decides its type, in this order: the client, the agent, domain names,
technologies, systems and aliases, quoted names, capitalised phrases.
"""

import json
import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import chain
from types import MappingProxyType
from uuid import UUID

from cairn.graph.edge import Role
from cairn.graph.entity_names import find_domains, name_key, tidy_name
from cairn.graph.person_names import is_person_name
from cairn.graph.prose import find_known, find_phrases, find_quoted, is_junk, is_speech
from cairn.graph.technologies import canonical_technology, find_technologies
from cairn.kernel.ids import derived_id
from cairn.kernel.text.language import language_of

MAX_ENTITIES = 20
"""Entities taken from one text, the client and the agent among them."""

MAX_TEXT_CHARS = 200_000
"""A longer text is read this far."""

SYSTEMS: Mapping[str, str] = MappingProxyType(
    {
        "active directory": "Active Directory",
        "google drive": "Google Drive",
        "google workspace": "Google Workspace",
        "microsoft 365": "Microsoft 365",
        "office 365": "Microsoft 365",
        "microsoft teams": "Microsoft Teams",
    }
)
"""Systems by `name_key`, with the name they are kept under; a caller may pass another table."""

_NO_ALIASES: Mapping[str, tuple[str, str]] = MappingProxyType({})
CONCEPT = "concept"
_ORGANISATION = re.compile(
    r" (?:inc|ltd|llc|llp|plc|corp|gmbh|sarl|sas|pty|corporation|foundation|university)\.?$", re.I
)
_TOKEN_WITH_SLASH = re.compile(r"(?<!\S)[^\s/\\]*+[/\\]\S*+")
_PATH = re.compile(r"[\"'(`]*(?:[A-Za-z]+://|~?/|\.{1,2}/)|[^\\]*\\|(?:[^/]*/){2}|\S*\.\w{1,5}$")


@dataclass(frozen=True, slots=True, kw_only=True)
class ExtractedEntity:
    """A name found in a text, the type of what it names, and as what the text refers to it."""

    name: str
    type: str
    role: Role


def entity_id(
    workspace_id: UUID, scope: str, agents: Collection[str] | None, type: str, name: str
) -> UUID:
    """Return the id of the one node for this type and name within one audience.

    Two audiences have two nodes, so that nobody learns from an entity that a memory exists which
    they may not see. Case and surplus space in a name make no difference.
    """
    readers = None if agents is None else sorted(set(agents))
    return derived_id(workspace_id, "entity", json.dumps([scope, readers, type, name_key(name)]))


def extract_entities(
    text: str,
    *,
    client_id: str | None,
    source_agent: str | None,
    aliases: Mapping[str, tuple[str, str]] = _NO_ALIASES,
    systems: Mapping[str, str] = SYSTEMS,
    speaker: str | None = None,
) -> tuple[ExtractedEntity, ...]:
    """Return the entities of one text: each name once, at most `MAX_ENTITIES`.

    `speaker` is whose "my sister" is meant; without one it is who a line of talk begins with.

    `aliases` maps the `name_key` of a name to its canonical name and type; whatever is found is
    looked up there. The client `global` and None are no entity. O(characters) for any input.
    """
    record: dict[str, ExtractedEntity] = {}
    names: list[tuple[str, str, Role]] = []
    if client_id and client_id != "global":
        names.append((client_id, "client", Role.ABOUT))
    if source_agent:
        names.append((source_agent, "agent", Role.SOURCE))
    mentioned = (
        (name, type, Role.MENTIONED)
        for name, type in _mentions(text[:MAX_TEXT_CHARS], aliases, systems, speaker)
    )
    for name, type, role in chain(names, mentioned):
        entity = _resolved(name, type, role, aliases)
        if entity is not None:
            record.setdefault(name_key(entity.name), entity)
        if len(record) == MAX_ENTITIES:
            break
    return tuple(record.values())


def _resolved(
    name: str, type: str, role: Role, aliases: Mapping[str, tuple[str, str]]
) -> ExtractedEntity | None:
    """Return the entity a name stands for; a client and an agent keep their type."""
    tidy = tidy_name(name)
    if tidy is None:
        return None
    canonical, its_type = aliases.get(name_key(tidy), (tidy, type))
    if role is not Role.MENTIONED and its_type != type:
        canonical, its_type = tidy, type
    return ExtractedEntity(name=canonical, type=its_type, role=role)


@dataclass(slots=True)
class _Claims:
    """Which characters of a text belong to a name already."""

    text: str
    taken: bytearray = field(init=False)

    def __post_init__(self) -> None:
        self.taken = bytearray(len(self.text))

    def claim(self, start: int, end: int) -> bool:
        """Take a stretch; False when nothing but space was left of it."""
        taken = self.taken[start:end]
        left = any(
            not is_taken and not self.text[start + at].isspace()
            for at, is_taken in enumerate(taken)
        )
        self.taken[start:end] = b"\x01" * (end - start)
        return left


def _mentions(
    text: str,
    aliases: Mapping[str, tuple[str, str]],
    systems: Mapping[str, str],
    speaker: str | None,
) -> Iterator[tuple[str, str]]:
    """Yield (name, type) in the order of the module docstring.

    German begins every noun with a capital: there it marks a name only where a list knows of what.
    """
    claims = _Claims(text)
    nouns = language_of(text) == "de"
    prose = _TOKEN_WITH_SLASH.sub(_without_path, text)
    yield from _technical(text, prose, claims)
    for start, end, key in find_known(prose, systems.keys() | aliases.keys()):
        if claims.claim(start, end):
            yield aliases.get(key) or (systems[key], "system")
    phrases = (
        each for each in find_phrases(prose) if not nouns or type_of_name(each[2]) != CONCEPT
    )
    for start, end, name in chain(find_quoted(text), phrases):
        mention = _judged(name, aliases, systems)
        if mention is None and not is_speech(name):
            claims.claim(start, end)
        elif mention is not None and claims.claim(start, end):
            yield mention
    talk = _of_talk(prose, claims, speaker)
    yield from (each for each in talk if not nouns or each[1] != CONCEPT)


def _technical(text: str, prose: str, claims: _Claims) -> Iterator[tuple[str, str]]:
    technologies = list(find_technologies(prose))
    taken = {start for start, _, _ in technologies}
    domains = (
        domain for domain in find_domains(text) if domain[0] not in taken
    )  # Socket.IO is none
    for type, results in (("domain", domains), ("technology", technologies)):
        for start, end, name in results:
            if claims.claim(start, end):
                yield name, type


def _of_talk(prose: str, claims: _Claims, speaker: str | None) -> Iterator[tuple[str, str]]:
    """Yield names of one word, and the family of whoever speaks or is named."""
    from cairn.graph.single_names import find_kin, find_single_names, speaker_of

    for start, end, name, type in find_single_names(prose):
        if claims.claim(start, end):
            yield name, type or CONCEPT
    for start, end, name in find_kin(prose, speaker or speaker_of(prose)):
        if claims.claim(start, end):
            yield name, "person"


def _judged(
    name: str, aliases: Mapping[str, tuple[str, str]], systems: Mapping[str, str]
) -> tuple[str, str] | None:
    """Return (name, type) of a quoted or capitalised name; None for junk no list knows."""
    key = name_key(name)
    if key in aliases:
        return aliases[key]
    if key in systems:
        return systems[key], "system"
    technology = canonical_technology(name)
    if technology is not None:
        return technology, "technology"
    if is_junk(name):
        return None
    return name, type_of_name(name)


def type_of_name(name: str) -> str:
    """Return what a name that no list knows is most likely of: by its form alone."""
    if _ORGANISATION.search(name):
        return "organisation"
    return "person" if is_person_name(name) else CONCEPT


def _without_path(match: re.Match[str]) -> str:
    """Return blanks for a path or a link, so that its parts are no names; `AWS/GCP` stays."""
    token = match.group()
    return " " * len(token) if _PATH.match(token) else token
