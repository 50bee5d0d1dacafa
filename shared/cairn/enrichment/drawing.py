"""Memories drawn from what people say: drafts of what messages state, and what they take back.

Not the rules that know a statement (`cairn.extraction`), and not the embed stage, which calls this
in its transaction. What is drawn is written as other memories are, by `memories.plan`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from datetime import timedelta, timezone
from typing import TYPE_CHECKING, Any

from cairn.conversations.messages import OWN_METADATA, MessageRole
from cairn.enrichment.ports import Stated
from cairn.extraction.corrections import taken_back
from cairn.extraction.draw import Speaker, Statement, draw
from cairn.extraction.keys import PREFIX
from cairn.extraction.sentences import sentences
from cairn.extraction.statements import StatementKind
from cairn.extraction.times import resolved
from cairn.graph.node import KnowledgeCategory, Label
from cairn.kernel.text.hashes import content_hash
from cairn.kernel.text.scrub import scrub
from cairn.memories.draft import MemoryDraft
from cairn.memories.identity import chain_key, dedup_key
from cairn.memories.kinds import DEFAULT_CATEGORY, MemoryKind, derived_importance
from cairn.memories.plan import BatchPlan
from cairn.safety.screening import Verdict, screen
from cairn.writing.audience import Audience

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence, Set
    from datetime import datetime
    from uuid import UUID

    from cairn.enrichment.ports import EnrichableNode
    from cairn.kernel.stores import Stores
    from cairn.writing.entries import Entries

SOMEBODY = "User"
"""Who speaks where the channel gives no name, but a number, an address or nothing."""

EARLIER_MESSAGES = 20
"""Messages of a conversation that are read again to know who and what is spoken of."""

MAX_DRAWN = 20
"""Memories of one message; the message itself is found by the rest of its words."""

RULES = "rules"
_NAME = re.compile(r"[^\W\d_][^\W\d_'.-]*(?:[ '-][^\W\d_]+\.?){0,3}")
_PAST = re.compile(r"\b(?:was|were|had|went|did|ago|last|yesterday|\w{2,}ed)\b", re.I)
_WORD = re.compile(r"[\w'-]*\w")
_DAY = re.compile(r" \([^()]*\)\.$")
_KINDS = {StatementKind.DECISION: MemoryKind.DECISION}


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageStatements:
    """What one message states, and what it takes back: words of each, none for the last.

    `named` are earlier messages of the speaker here that have all the words of one.
    """

    message: EnrichableNode
    statements: tuple[Statement, ...] = ()
    taken_back: tuple[frozenset[str], ...] = ()
    named: frozenset[UUID] = frozenset()
    drawn_by: str = RULES


def may_state(node: EnrichableNode) -> bool:
    """Return whether memories may be drawn from a node: a message of a person, let in."""
    own = _own_metadata(node)
    return (
        node.label == Label.MESSAGE
        and node.kind == MessageRole.USER
        and bool(own.get("accepted", True))
        and bool(own.get("infer", True))
    )


def heard(
    stores: Stores, nodes: Iterable[EnrichableNode]
) -> tuple[list[EnrichableNode], Sequence[EnrichableNode]]:
    """Return the messages that memories are to be drawn from, and what was said before them.

    None where the workspace or the conversation says so.
    """
    messages = [node for node in nodes if may_state(node) and not node.consolidated]
    if not messages or not infers(stores):
        return [], ()
    talks = {node.parent_id for node in messages if node.parent_id is not None}
    silent = stores.embeddings.silent(talks)
    messages = [node for node in messages if node.parent_id not in silent]
    return messages, stores.embeddings.said_before(messages, limit=EARLIER_MESSAGES)


def infers(stores: Stores) -> bool:
    """Return whether the workspace has memories drawn from messages at all."""
    from cairn.workspace.documents import read  # pydantic's models are not for every batch

    return read(stores.settings.stored().document).settings.conversations.infer


def said_in(
    messages: Iterable[EnrichableNode], before: Iterable[EnrichableNode]
) -> list[MessageStatements]:
    """Return what each message says, in the order of their conversations.

    `before` are earlier messages of the same conversations: who was named and what was stated last.
    """
    speakers: dict[tuple[UUID | None, str], Speaker] = {}
    earlier = [message for message in _in_order(before) if message.kind == MessageRole.USER]
    for message in earlier:
        _stated(message, _speaker(speakers, message))
    drawn: list[MessageStatements] = []
    for message in _in_order(messages):
        drawn.append(
            _with_named(_message_statements(message, _speaker(speakers, message)), earlier)
        )
        earlier.append(message)
    return drawn


def _with_named(drawn: MessageStatements, earlier: Sequence[EnrichableNode]) -> MessageStatements:
    """Return what a message says with the messages whose words it wants forgotten."""
    word_sets = [words for words in drawn.taken_back if words]
    if not word_sets:
        return drawn
    ids = (
        each.id
        for each in earlier
        if is_by_same(each, drawn.message)
        and any(words <= set(_WORD.findall(words_of(each).lower())) for words in word_sets)
    )
    return replace(drawn, named=frozenset(ids))


def _message_statements(message: EnrichableNode, speaker: Speaker) -> MessageStatements:
    """Return what a message says; nothing when it reads like an attempt to direct a model."""
    text = words_of(message)
    if screen(text).verdict is not Verdict.CLEAN:
        return MessageStatements(message=message)
    back = [words for sentence in sentences(text) if (words := taken_back(sentence)) is not None]
    return MessageStatements(
        message=message,
        statements=tuple(_stated(message, speaker)[:MAX_DRAWN]),
        taken_back=tuple(back),
    )


def _stated(message: EnrichableNode, speaker: Speaker) -> list[Statement]:
    return draw(words_of(message), speaker)


def words_of(message: EnrichableNode) -> str:
    """Return what a message says, without the speaker's name where a transcript repeats it."""
    return message.text.removeprefix(f"{_own_metadata(message).get('sender')}: ")


def name_of(message: EnrichableNode) -> str:
    """Return the name of who speaks."""
    sender = str(_own_metadata(message).get("sender") or "")
    return sender if len(sender) <= 60 and _NAME.fullmatch(sender) else SOMEBODY


def _speaker(speakers: dict[tuple[UUID | None, str], Speaker], message: EnrichableNode) -> Speaker:
    sender = str(_own_metadata(message).get("sender") or "")
    return speakers.setdefault((message.parent_id, sender), Speaker(name_of(message)))


def _in_order(messages: Iterable[EnrichableNode]) -> list[EnrichableNode]:
    return sorted(messages, key=lambda message: (str(message.parent_id), message.sequence or 0))


def _own_metadata(message: EnrichableNode) -> Mapping[str, Any]:
    """Return what Cairn noted of a message beside what its sender wrote."""
    return message.metadata.get(OWN_METADATA) or {}


def draft_of(drawn: MessageStatements, statement: Statement, key: str | None) -> MemoryDraft:
    """Return the draft of a memory: its message's audience, client, session and time."""
    message, kind = drawn.message, _KINDS.get(statement.kind, MemoryKind.FACT)
    text = scrub(_dated(message, statement)).text
    relates = statement.kind is StatementKind.RELATION
    area = KnowledgeCategory.RELATIONSHIP if relates else KnowledgeCategory.GENERAL
    return MemoryDraft(
        text=text,
        kind=kind,
        content_hash=content_hash(text),
        audience=Audience(
            scope=message.scope, agents=message.agents, data_subjects=message.data_subjects
        ),
        source_agent=message.source_agent or "",
        occurred_at=message.occurred_at,
        valid_from=message.occurred_at,
        client_id=message.client_id,
        key=f"{PREFIX}{name_of(message).casefold()}: {key}" if key else None,
        category=DEFAULT_CATEGORY[kind].value,
        knowledge_category=area.value,
        importance=derived_importance(text, kind),
        session_id=message.session_id,
        parent_id=message.id,
        task_id=message.id,
        conversation_id=message.parent_id,
        confidence=statement.confidence,
        metadata={OWN_METADATA: {"statement": statement.kind.value, "drawn_by": drawn.drawn_by}},
    )


def _dated(message: EnrichableNode, statement: Statement) -> str:
    """Return the text with the day that "next Friday" meant where and when it was said."""
    past = statement.kind is not StatementKind.PLAN and bool(_PAST.search(statement.said))
    day = resolved(statement.said, _local(message), past=past)
    if day is None or day in statement.said:
        return statement.text
    return f"{statement.text.removesuffix('.')} ({day})."


def _local(message: EnrichableNode) -> datetime:
    minutes = int(_own_metadata(message).get("utc_offset", 0))
    return message.occurred_at.astimezone(timezone(timedelta(minutes=minutes)))


@dataclass(frozen=True, slots=True)
class _Option:
    """A statement that is to become a memory, under one of its keys."""

    said: MessageStatements
    statement: Statement
    drafts: list[MemoryDraft]


def planned(stores: Stores, entries: Entries, drawn: Sequence[MessageStatements]) -> list[UUID]:
    """Plan the entries of what messages say, over what is known at this moment.

    Returns the memories to embed. That a message was drawn from stands in the entry of its own
    enrichment.
    """
    options = [
        _Option(message, each, _drafts(message, each))
        for message in drawn
        for each in message.statements
    ]
    for message in drawn:
        if message.taken_back or any(each.corrects for each in message.statements):
            options = _without_withdrawn(stores, entries, message, options)
    drafts = [draft for option in options for draft in option.drafts]
    places = [(key, draft.valid_from) for draft in drafts if (key := chain_key(draft))]
    plan = BatchPlan(
        entries=entries,
        known=dict(stores.memories.known({dedup_key(draft) for draft in drafts})),
        links=dict(stores.memories.links(places)) if places else {},
        conversations={},
    )
    for option in options:
        plan.remember(_known_by(plan, option.drafts))
    return list(plan.touched)


def _drafts(drawn: MessageStatements, statement: Statement) -> list[MemoryDraft]:
    return [draft_of(drawn, statement, key) for key in statement.keys or (None,)]


def _known_by(plan: BatchPlan, drafts: Sequence[MemoryDraft]) -> MemoryDraft:
    """Return the draft under the first key that something is known by; the last when none is."""
    chains = ((draft, chain_key(draft)) for draft in drafts)
    return next((draft for draft, chain in chains if chain and plan.links.get(chain)), drafts[-1])


def _without_withdrawn(
    stores: Stores, entries: Entries, drawn: MessageStatements, options: Sequence[_Option]
) -> list[_Option]:
    """Plan the withdrawal of what a message takes back or corrects; return what is left to draw.

    What has a key is not withdrawn by a correction: it is replaced.
    """
    own = [option for option in options if _is_before(option.said.message, drawn.message)]
    held = stores.memories.stated(drawn.message)
    fresh = [_stated_by(option) for option in own]
    corrected = {each.corrects for each in drawn.statements if each.corrects and not each.keys}
    gone = [each for each in (*fresh, *held) if _undated(each.text) in corrected]
    back = [
        each for words in drawn.taken_back for each in _meant([*fresh, *held], words, drawn.message)
    ]
    stored = {each.id for each in held} & {each.id for each in (*gone, *back)}
    _withdraw(entries, drawn, stored, drawn.named | {each.message_id for each in back})
    dropped = {(each.message_id, each.text) for each in (*gone, *back)}
    return [
        option
        for option in options
        if option not in own or (option.said.message.id, option.drafts[0].text) not in dropped
    ]


def _withdraw(
    entries: Entries, drawn: MessageStatements, stored: set[UUID], messages: Set[UUID]
) -> None:
    """Plan the deletion of stored memories; a message that was taken back is found no more.

    Nor is the message that takes it back: it may have the words that are to be forgotten.
    """
    common: dict[str, Any] = {
        "data_subjects": drawn.message.data_subjects,
        "occurred_at": drawn.message.occurred_at,
    }
    if stored:
        meta: dict[str, Any] = {"node_ids": _texts(stored), "recontexted": []}
        entries.add("memory.deleted", meta, {}, **common)
    if messages:
        ids = _texts(messages | {drawn.message.id})
        entries.add("node.archived", {"node_ids": ids}, {}, **common)


def _is_before(message: EnrichableNode, other: EnrichableNode) -> bool:
    """Return whether the same speaker said a message before another one, in one conversation."""
    return is_by_same(message, other) and (message.sequence or 0) < (other.sequence or 0)


def is_by_same(message: EnrichableNode, other: EnrichableNode) -> bool:
    """Return whether two messages are of one speaker in one conversation."""
    same = _own_metadata(message).get("sender") == _own_metadata(other).get("sender")
    return message.parent_id == other.parent_id and message.kind == other.kind and same


def _stated_by(option: _Option) -> Stated:
    message, text = option.said.message, option.drafts[0].text
    return Stated(
        id=message.id, text=text, message_id=message.id, conversation_id=_conversation(message)
    )


def _conversation(message: EnrichableNode) -> UUID:
    return message.parent_id or message.id


def _meant(
    statements: Sequence[Stated], words: frozenset[str], message: EnrichableNode
) -> Sequence[Stated]:
    """Return what is taken back: what has all the words, or of none what was stated last here.

    Messages' ids sort by the time they were recorded.
    """
    if words:
        return [each for each in statements if words <= set(_WORD.findall(each.text.lower()))]
    here = [each for each in statements if each.conversation_id == _conversation(message)]
    last = max((each.message_id for each in here), default=None)
    return [each for each in here if each.message_id == last]


def _undated(text: str) -> str:
    return _DAY.sub(".", text)


def _texts(ids: Iterable[UUID]) -> list[str]:
    return sorted(str(id_) for id_ in ids)
