"""Intents of a member: inferred from words, proposed, kept, changed, settled. Not discovery."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeVar
from uuid import UUID

from cairn.discovery.intents.profile import profile_of
from cairn.discovery.intents.reading import Source, words_of
from cairn.discovery.intents.reconcile import UNSURE, Action, Change, OpenIntent, likeness
from cairn.discovery.intents.rows import (
    MOST_AS_OF,
    OPEN,
    IntentRow,
    IntentState,
    profile_id,
)
from cairn.discovery.intents.statements import Side, read
from cairn.discovery.intents.verify import MOST_CHARS, Verified
from cairn.discovery.intents.views import (
    IntentAction,
    IntentsSubmitted,
    IntentView,
    intent_view,
    metadata_of,
    past_view,
    statement_view,
)
from cairn.discovery.intents.writing import LASTS, IntentsMoved, IntentWrite, missing
from cairn.discovery.networks.acting import acting, client_of
from cairn.discovery.networks.members import Members
from cairn.graph.node import Label
from cairn.kernel.errors import Conflict, NotFound
from cairn.kernel.text.checks import clean_text
from cairn.kernel.text.scrub import scrub
from cairn.writing.checks import moment, refuse, require_writer, source_agent
from cairn.writing.subjects import resolve
from cairn.writing.writer import Work, Write, Writer

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from datetime import datetime

    from cairn.discovery.intents.planning import Planner, Understood
    from cairn.discovery.intents.profile import ProfileText
    from cairn.discovery.intents.rows import TextRow
    from cairn.kernel.access import Principal
    from cairn.kernel.stores import Stores
    from cairn.writing.items import IdempotencyKey
    from cairn.writing.platform import Platform

ATTEMPTS = 3
"""Plans of one text, when the member's open intents change while it is planned."""

ResultT = TypeVar("ResultT")


@dataclass(frozen=True, slots=True, kw_only=True)
class Submission:
    """Words that may say what a member seeks or offers. Without `infer` they are one intent.

    `networks` are where the new intents belong, None for wherever they fit.
    """

    source: Source
    infer: bool = True
    side: Side | None = None
    networks: tuple[UUID, ...] | None = None
    expires_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class IntentChange:
    """What is to change of an intent; None leaves it."""

    description: str | None = None
    side: Side | None = None
    expires_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """What is open of a member, as a plan saw it. Somebody who never was a member has nothing."""

    rows: Mapping[UUID, IntentRow]
    texts: Mapping[UUID, TextRow]
    profile: ProfileText | None

    @property
    def versions(self) -> dict[UUID, int]:
        """Return what a plan holds good for."""
        return {id_: row.version for id_, row in self.rows.items()}

    def open(self) -> list[OpenIntent]:
        """Return the open intents as the reconciler reads them."""
        return [
            OpenIntent(id=row.id, text=self.texts[row.id].text, side=Side(row.side))
            for row in self.rows.values()
            if row.id in self.texts
        ]


@dataclass(frozen=True, slots=True, kw_only=True)
class Intents:
    """The intents of the member that a principal is or acts for.

    `place` takes an intent and the networks it was assigned to (None: those it fits), after the
    commit, and lets it be looked for. `gone` cleans up after intents that are over.
    """

    platform: Platform
    planner: Planner
    place: Callable[[Principal, UUID, tuple[UUID, ...] | None], object]
    gone: Callable[[UUID, Sequence[UUID]], None]

    def propose(self, principal: Principal, submission: Submission) -> IntentsSubmitted:
        """Return what a text would change; nothing is written."""
        member = _member(principal)
        seen, understood = self._understood(member, submission)
        actions = self._actions(member, submission, seen, understood)
        views = tuple(_action_view(action, None) for action in actions)
        return _submitted("propose", understood, views, ())

    def submit(
        self,
        principal: Principal,
        submission: Submission,
        *,
        idempotency: IdempotencyKey | None = None,
    ) -> IntentsSubmitted:
        """Make, change and end intents as a text says; the same text again changes nothing.

        Raises ValidationFailed, TooLarge or NotFound for the text, Conflict (`too-many-intents`).
        """
        member = _member(principal)
        self._require_places(member, submission.networks or ())
        understood, done = self._attempted(member, submission, idempotency)
        self._after(member, done, submission.networks)
        ids = [each.id for each in done if each.id is not None]
        return _submitted("create", understood, done, self._views(member, ids))

    def get(self, principal: Principal, intent_id: UUID) -> IntentView:
        """Return one of the member's own; NotFound for anybody else's."""
        views = self._views(_member(principal), [intent_id])
        if not views:
            raise missing(intent_id)
        return views[0]

    def page(
        self,
        principal: Principal,
        *,
        before: UUID | None,
        limit: int,
        states: Sequence[IntentState] | None = None,
        as_of: datetime | None = None,
    ) -> Sequence[IntentView]:
        """Return the member's, the newest first, as they are or as they were at a moment."""
        member = _member(principal)
        client_id = client_of(member)
        with self.platform.transactions.reading(member) as stores:
            if as_of is not None:
                position = stores.ledger.position_at(as_of)
                past = stores.intents.texts_as_of(client_id, Label.INTENT, position, MOST_AS_OF)
                views = [past_view(text) for text in past]
                return [
                    view
                    for view in views
                    if (states is None or view.state in states)
                    and (before is None or view.id < before)
                ][:limit]
            row = stores.members.of_client(client_id)
            if row is None:
                return ()
            rows = stores.intents.page(row.id, states=states, before=before, limit=limit)
            texts = stores.intents.texts([each.id for each in rows])
        return [intent_view(each, texts[each.id]) for each in rows if each.id in texts]

    def search(self, principal: Principal, query: str, *, limit: int) -> Sequence[IntentView]:
        """Return the member's open intents that share words with a query, the likest first."""
        member = _member(principal)
        with self.platform.transactions.reading(member) as stores:
            seen = _seen(stores, client_of(member))
        scores = {each.id: likeness(query, each.text) for each in seen.open()}
        best = sorted((id_ for id_, score in scores.items() if score), key=lambda id_: -scores[id_])
        return [intent_view(seen.rows[id_], seen.texts[id_]) for id_ in best[:limit]]

    def update(
        self, principal: Principal, intent_id: UUID, change: IntentChange
    ) -> tuple[IntentView, ...]:
        """Change an intent in place, or end it and make another: of the other side, or of other
        matter. Returns it as it is now, and before it the new one where there is one.
        """
        member = _member(principal)
        text = _description(change.description)
        until = moment(change.expires_at, "expires_at")
        row, before, profile = self._intent(member, intent_id)
        _require_open(row)
        side = change.side or Side(row.side)
        anew = side is not Side(row.side) or (text is not None and _is_other(text, before.text))
        verified = self._verified(member, text, side, profile) if text is not None else None
        metadata = metadata_of(verified) if verified else dict(before.metadata)
        final = verified.text if verified else before.text

        def do(intents: IntentWrite) -> tuple[UUID, ...]:
            if not anew:
                changed = until or row.expires_at
                return (intents.update(row, final, metadata, expires_at=changed).id,)
            intents.stand(row, before.metadata, IntentState.EXPIRED)
            new = intents.create(self.platform.new_id(), side, final, metadata, until)
            return new.id, row.id

        ids = self._write(member, do)
        self.place(member, ids[0], None)
        if anew:
            self.gone(member.workspace_id, (row.id,))
        return self._views(member, ids)

    def pause(self, principal: Principal, intent_id: UUID) -> IntentView:
        """Keep an intent without looking for it; the same again changes nothing."""
        return self._stand(principal, intent_id, IntentState.PAUSED, (IntentState.ACTIVE,))

    def resume(self, principal: Principal, intent_id: UUID) -> IntentView:
        """Look for a paused intent again; the same again changes nothing."""
        return self._stand(principal, intent_id, IntentState.ACTIVE, (IntentState.PAUSED,))

    def refresh(
        self, principal: Principal, intent_id: UUID, expires_at: datetime | None = None
    ) -> IntentView:
        """Let an intent last anew, an expired one too; Conflict for a deleted one."""
        until = moment(expires_at, "expires_at") or self.platform.clock() + LASTS
        state = (IntentState.ACTIVE, IntentState.PAUSED, IntentState.EXPIRED)
        return self._stand(principal, intent_id, None, state, expires_at=until)

    def remove(self, principal: Principal, intent_id: UUID) -> IntentView:
        """Archive an intent and clean up after it; the same again changes nothing."""
        states = (*OPEN, IntentState.EXPIRED)
        return self._stand(principal, intent_id, IntentState.ARCHIVED, states)

    def settle(self, principal: Principal, intent_id: UUID, *, is_change: bool) -> IntentView:
        """Answer whether a new intent is a change of the open one that it is near to.

        A change is written there and the new one is archived; else both stay. Conflict
        (`no-question`) for an intent that nothing is asked of.
        """
        member = _member(principal)
        row, text, _ = self._intent(member, intent_id)
        about = text.metadata.get("question_about")
        if about is None or row.state not in OPEN:
            raise Conflict("There is no question about this intent.", reason="no-question")
        settled = dict(text.metadata) | {"question_about": None}
        near, old, _ = self._intent(member, UUID(about))

        def do(intents: IntentWrite) -> UUID:
            if not is_change or near.state not in OPEN:
                return intents.stand(row, settled, row.state).id
            intents.stand(row, settled, IntentState.ARCHIVED)
            metadata = settled | {"original": old.text}
            return intents.update(near, text.text, metadata).id

        kept_id = self._write(member, do)
        if kept_id != row.id:
            self.place(member, kept_id, None)
            self.gone(member.workspace_id, (row.id,))
        return self.get(member, kept_id)

    # What those are made of

    def _understood(self, member: Principal, submission: Submission) -> tuple[Seen, Understood]:
        moment(submission.expires_at, "expires_at")
        text = words_of(self.platform, member, submission.source)
        with self.platform.transactions.reading(member) as stores:
            seen = _seen(stores, client_of(member))
        if submission.infer:
            return seen, self.planner.understand(member.workspace_id, text, seen.profile)
        if submission.side is None:
            refuse("side", "is needed where nothing is inferred: seeking, offering or both")
        assert submission.side is not None
        text = clean_text(text, field="text", max_chars=MOST_CHARS)
        return seen, self.planner.as_said(text, submission.side, seen.profile)

    def _require_places(self, member: Principal, networks: Sequence[UUID]) -> None:
        """Raise NotFound for a network that the member is not in: then nothing is written."""
        if not networks:
            return
        with self.platform.transactions.reading(member) as stores:
            row = stores.members.of_client(client_of(member))
            places = stores.networks.places_of(row.id) if row is not None else ()
        there = {place.network_id for place in places}
        for network_id in networks:
            if network_id not in there:
                raise NotFound("There is no such network.", network_id=str(network_id))

    def _attempted(
        self, member: Principal, submission: Submission, idempotency: IdempotencyKey | None
    ) -> tuple[Understood, tuple[IntentAction, ...]]:
        """Plan and carry out, again when the member's open intents changed meanwhile."""
        for _ in range(ATTEMPTS - 1):
            with suppress(IntentsMoved):
                return self._attempt(member, submission, idempotency)
        return self._attempt(member, submission, idempotency)

    def _attempt(
        self, member: Principal, submission: Submission, idempotency: IdempotencyKey | None
    ) -> tuple[Understood, tuple[IntentAction, ...]]:
        seen, understood = self._understood(member, submission)
        actions = self._actions(member, submission, seen, understood)
        return understood, self._carry_out(member, submission, seen, actions, idempotency)

    def _actions(
        self, member: Principal, submission: Submission, seen: Seen, understood: Understood
    ) -> Sequence[Action]:
        if submission.infer:
            statements = understood.statements
            return self.planner.reconcile(member.workspace_id, statements, seen.open())
        (statement,) = understood.statements
        there = {(each.text, each.side) for each in seen.open()}
        if (statement.text, statement.side) in there:
            return ()
        new = Action(
            change=Change.CREATE, verified=statement, text=statement.text, side=statement.side
        )
        return (new,)

    def _carry_out(
        self,
        member: Principal,
        submission: Submission,
        seen: Seen,
        actions: Sequence[Action],
        idempotency: IdempotencyKey | None,
    ) -> tuple[IntentAction, ...]:
        def do(intents: IntentWrite) -> tuple[IntentAction, ...]:
            rows = intents.write.stores.intents.open(intents.member_id)
            if {row.id: row.version for row in rows} != seen.versions:
                raise IntentsMoved
            return tuple(_done(intents, seen, each, submission.expires_at) for each in actions)

        return self._write(member, do, idempotency, _kept_actions, _read_actions)

    def _after(
        self,
        member: Principal,
        done: Sequence[IntentAction],
        networks: tuple[UUID, ...] | None,
    ) -> None:
        over = [each.id for each in done if each.type == Change.EXPIRE and each.id]
        if over:
            self.gone(member.workspace_id, over)
        for each in done:
            if each.type != Change.EXPIRE and each.id is not None:
                self.place(member, each.id, networks if each.type == Change.CREATE else None)

    def _intent(
        self, member: Principal, intent_id: UUID
    ) -> tuple[IntentRow, TextRow, ProfileText | None]:
        with self.platform.transactions.reading(member) as stores:
            row = stores.intents.find(intent_id)
            if row is None:
                raise missing(intent_id)
            texts = stores.intents.texts([intent_id, profile_id(row.member_id)])
        if intent_id not in texts:
            raise missing(intent_id)
        return row, texts[intent_id], _profile(texts.get(profile_id(row.member_id)))

    def _stand(
        self,
        principal: Principal,
        intent_id: UUID,
        state: IntentState | None,
        states: Sequence[IntentState],
        **changes: Any,
    ) -> IntentView:
        """Change how an intent stands from one of `states`; None opens what is expired."""
        member = _member(principal)
        row, text, _ = self._intent(member, intent_id)
        if row.state is state and not changes:
            return intent_view(row, text)
        if row.state not in states:
            raise Conflict(f"This intent is {row.state}.", reason=f"intent-{row.state}")
        to = state or (IntentState.ACTIVE if row.state is IntentState.EXPIRED else row.state)

        def do(intents: IntentWrite) -> UUID:
            return intents.stand(row, text.metadata, to, **changes).id

        self._write(member, do)
        if to is IntentState.ACTIVE:
            self.place(member, intent_id, None)
        elif to not in OPEN:
            self.gone(member.workspace_id, (intent_id,))
        return self.get(member, intent_id)

    def _verified(
        self, member: Principal, text: str, side: Side, profile: ProfileText | None
    ) -> Verified:
        understood = self.planner.as_said(text, side, profile)
        statement = understood.statements[0]
        judged = next((each for each in read(text) if each.is_intent), None)
        act = judged.act if judged is not None else statement.act
        return replace(statement, act=act)

    def _write(
        self,
        member: Principal,
        do: Callable[[IntentWrite], ResultT],
        idempotency: IdempotencyKey | None = None,
        keep: Callable[[ResultT], Mapping[str, Any]] | None = None,
        read_answer: Callable[[Mapping[str, Any]], ResultT] | None = None,
    ) -> ResultT:
        client_id = client_of(member)

        def prepared() -> Work[ResultT]:
            resolution = resolve(self.platform, member, (("client", client_id),))

            def work(write: Write) -> ResultT:
                row = Members.ensure(write, client_id)
                intents = IntentWrite(
                    write=write,
                    member_id=row.id,
                    client_id=client_id,
                    source_agent=source_agent(None, member),
                )
                result = do(intents)
                write.append()
                write.wake_embed(intents.touched)
                return result

            return Work(
                resolution=resolution,
                do=work,
                keep=keep or (lambda _: {}),
                read=read_answer or _unread,
            )

        return Writer(self.platform).write_once(member, prepared, idempotency)

    def _views(self, member: Principal, ids: Sequence[UUID]) -> tuple[IntentView, ...]:
        with self.platform.transactions.reading(member) as stores:
            rows = [row for id_ in ids if (row := stores.intents.find(id_)) is not None]
            texts = stores.intents.texts(ids)
        return tuple(intent_view(row, texts[row.id]) for row in rows if row.id in texts)


def _member(principal: Principal) -> Principal:
    """Return the principal that is one member, and may write."""
    require_writer(principal)
    return acting(principal, None)


def _seen(stores: Stores, client_id: str) -> Seen:
    member = stores.members.of_client(client_id)
    if member is None:
        return Seen(rows={}, texts={}, profile=None)
    rows = {row.id: row for row in stores.intents.open(member.id)}
    own = profile_id(member.id)
    texts = stores.intents.texts([*rows, own])
    return Seen(rows=rows, texts=texts, profile=_profile(texts.get(own)))


def _profile(text: TextRow | None) -> ProfileText | None:
    return profile_of(text.metadata) if text is not None else None


def _done(
    intents: IntentWrite, seen: Seen, action: Action, expires_at: datetime | None
) -> IntentAction:
    """Carry out one action and return what it was."""
    if action.change is Change.CREATE:
        assert action.side is not None
        metadata = metadata_of(action.verified)
        if action.unsure and action.near is not None:
            metadata["question_about"] = str(action.near)
        new_id = intents.write.entries.new_id()
        text = action.text or action.verified.text
        intents.create(new_id, action.side, text, metadata, expires_at)
        return _action_view(action, new_id)
    assert action.id is not None
    row, before = seen.rows[action.id], seen.texts[action.id]
    if action.change is Change.EXPIRE:
        intents.stand(row, before.metadata, IntentState.EXPIRED)
    else:
        metadata = metadata_of(action.verified) | {"original": before.text}
        intents.update(row, action.text or before.text, metadata)
    return _action_view(action, action.id)


def _action_view(action: Action, id_: UUID | None) -> IntentAction:
    return IntentAction(
        type=action.change.value,
        id=id_ or action.id,
        description=action.text,
        side=action.side,
        score=action.score,
        unsure=action.unsure,
        near=action.near,
    )


def _submitted(
    mode: str,
    understood: Understood,
    actions: tuple[IntentAction, ...],
    intents: tuple[IntentView, ...],
) -> IntentsSubmitted:
    questions = [
        f"Is \u201c{each.description}\u201d a change of the open intent {each.near}, or a new one?"
        for each in actions
        if each.unsure and each.near is not None
    ]
    return IntentsSubmitted(
        mode=mode,
        by=understood.by,
        statements=tuple(statement_view(each) for each in understood.statements),
        actions=actions,
        intents=intents,
        questions=tuple(questions),
        left_out=understood.left_out,
    )


def _kept_actions(actions: tuple[IntentAction, ...]) -> Mapping[str, Any]:
    """Return what was done without any text: what an answer is kept as for a repeat."""
    return {
        "actions": [
            {
                "type": each.type,
                "id": str(each.id),
                "side": each.side.value if each.side else None,
                "score": each.score,
                "unsure": each.unsure,
                "near": str(each.near) if each.near else None,
            }
            for each in actions
        ]
    }


def _read_actions(answer: Mapping[str, Any]) -> tuple[IntentAction, ...]:
    return tuple(
        IntentAction(
            type=each["type"],
            id=UUID(each["id"]),
            description=None,
            side=Side(each["side"]) if each["side"] else None,
            score=each["score"],
            unsure=each["unsure"],
            near=UUID(each["near"]) if each["near"] else None,
        )
        for each in answer["actions"]
    )


def _unread(_: Mapping[str, Any]) -> Any:
    raise RuntimeError("this write keeps no answer")


def _require_open(row: IntentRow) -> None:
    if row.state not in OPEN:
        raise Conflict(f"This intent is {row.state}.", reason=f"intent-{row.state}")


def _description(text: str | None) -> str | None:
    if text is None:
        return None
    return scrub(clean_text(text, field="description", max_chars=MOST_CHARS)).text


def _is_other(text: str, before: str) -> bool:
    """Return whether a text is of other matter than the one before: it shares few words with it."""
    return likeness(text, before) < UNSURE / 2 and likeness(before, text) < UNSURE / 2
