"""Profiles of members, and the premises they rest on: read, written, merged, generated."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from cairn.discovery.intents.profile import (
    MOST_ATTRIBUTE_CHARS,
    MOST_ATTRIBUTES,
    MOST_BIO_CHARS,
    MOST_NAME_CHARS,
    MOST_PREMISES,
    MOST_TEXT_CHARS,
    ProfileText,
    filled,
    is_confirmation,
    merged,
    premises_of,
    profile_from,
    profile_of,
    without,
)
from cairn.discovery.intents.reading import Source, words_of
from cairn.discovery.intents.rows import (
    MOST_AS_OF,
    PREMISE_ADDED,
    PREMISES_RETRACTED,
    PROFILE_WRITTEN,
    profile_id,
)
from cairn.discovery.intents.views import PremiseView, ProfileView, Skipped
from cairn.discovery.networks.acting import acting, client_of
from cairn.discovery.networks.members import Members
from cairn.documents.pages import page_of
from cairn.graph.node import Label
from cairn.kernel.errors import CairnError, Conflict, NotFound, ValidationFailed
from cairn.kernel.text.canonical import format_timestamp
from cairn.kernel.text.checks import clean_text
from cairn.kernel.text.scrub import scrub
from cairn.safety.screening import Verdict, screen
from cairn.writing.checks import moment, refuse, require_writer, source_agent
from cairn.writing.subjects import resolve
from cairn.writing.writer import Work, Write, Writer

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from datetime import datetime
    from uuid import UUID

    from cairn.discovery.intents.models import AskOfIntents
    from cairn.discovery.intents.rows import TextRow
    from cairn.discovery.intents.verify import By
    from cairn.documents.pages import Fetch
    from cairn.kernel.access import Principal
    from cairn.writing.items import IdempotencyKey
    from cairn.writing.platform import Platform

MOST_LINKS = 5
MOST_DOCUMENTS = 5
MOST_MEMORIES = 100
_LIMITS = {
    "name": MOST_NAME_CHARS,
    "bio": MOST_BIO_CHARS,
    "location": MOST_NAME_CHARS,
    "context": MOST_TEXT_CHARS,
}

ResultT = TypeVar("ResultT")


@dataclass(frozen=True, slots=True, kw_only=True)
class ProfileSources:
    """What a profile is to be made from. `memories`: the member allows their own to be read."""

    text: str | None = None
    document_ids: tuple[UUID, ...] = ()
    links: tuple[str, ...] = ()
    memories: bool = False
    force: bool = False  # parts that are there are made anew, too


@dataclass(frozen=True, slots=True, kw_only=True)
class _Was:
    """A profile before a write."""

    member_id: UUID | None
    text: TextRow | None

    @property
    def profile(self) -> ProfileText:
        return profile_of(self.text.metadata) if self.text else ProfileText()


@dataclass(frozen=True, slots=True, kw_only=True)
class MemberProfiles:
    """The profile of the member that a principal is or acts for."""

    platform: Platform
    models: AskOfIntents
    fetch: Callable[[], Fetch]

    def read(self, principal: Principal, *, as_of: datetime | None = None) -> ProfileView:
        """Return it as it is, at once, or as it was at a moment."""
        member = _member(principal)
        if as_of is None:
            return self._view(member, self._was(member))
        text = next(iter(self._past(member, Label.MEMBER, as_of, limit=1)), None)
        return self._view(member, _Was(member_id=None, text=text))

    def replace(
        self,
        principal: Principal,
        profile: ProfileText,
        *,
        idempotency: IdempotencyKey | None = None,
    ) -> ProfileView:
        """Write all of it; the same again changes nothing."""
        member = _member(principal)
        return self._written(
            member, self._was(member), _checked(profile), "rules", idempotency=idempotency
        )

    def merge(
        self, principal: Principal, changes: Mapping[str, Any], text: str | None = None
    ) -> ProfileView:
        """Write parts of it, and what a text says; lists grow. A confirmation says nothing."""
        member = _member(principal)
        was = self._was(member)
        before = was.profile
        by: By = "rules"
        premises: tuple[str, ...] = ()
        if text is not None:
            words = _words(text)
            if not is_confirmation(words):
                new, by = self._composed(member, (words,))
                before, premises = merged(before, new), premises_of(words)
        profile = _checked(replace(before, **changes))
        return self._written(member, was, profile, by, premises=premises)

    def generate(self, principal: Principal, sources: ProfileSources) -> ProfileView:
        """Make the parts that are missing from sources; all of them with `force`.

        Raises ValidationFailed (`no-sources`) when there is nothing to make it from.
        """
        member = _member(principal)
        was = self._was(member)
        if was.text is not None and not was.profile.missing and not sources.force:
            return self._view(member, was)
        texts, skipped = self._texts(member, sources)
        if not texts:
            reasons = "; ".join(f"{each.source}: {each.reason}" for each in skipped)
            raise ValidationFailed(
                f"There is nothing to make a profile from. {reasons}".strip(), reason="no-sources"
            )
        new, by = self._composed(member, texts)
        take = merged if sources.force else filled
        profile = _checked(take(was.profile, new), cut=True)
        return self._written(member, was, profile, by, skipped=tuple(skipped))

    # Premises

    def premises(
        self, principal: Principal, *, as_of: datetime | None = None
    ) -> Sequence[PremiseView]:
        """Return what the member says of themselves, or said at a moment, the oldest first."""
        member = _member(principal)
        if as_of is not None:
            past = self._past(member, Label.PREMISE, as_of, limit=MOST_AS_OF)
            return [
                _premise_view(row)
                for row in reversed(past)
                if row.state == "active" and (not row.expires_at or row.expires_at > as_of)
            ]
        with self.platform.transactions.reading(member) as stores:
            row = stores.members.of_client(client_of(member))
            if row is None:
                return ()
            now = self.platform.clock()
            rows = stores.intents.premises(profile_id(row.id), now, MOST_PREMISES)
        return [_premise_view(each) for each in rows]

    def add_premises(
        self, principal: Principal, text: str, *, expires_at: datetime | None = None
    ) -> Sequence[PremiseView]:
        """Keep each statement of a self-description by itself; those that stand stay as they are.

        Raises ValidationFailed (`no-premise`) for a text that describes nobody, Conflict
        (`too-many-premises`).
        """
        member = _member(principal)
        until = moment(expires_at, "expires_at")
        premises = premises_of(_words(text))
        if not premises:
            raise ValidationFailed("The text describes nobody.", reason="no-premise")

        def do(write: Write, member_id: UUID) -> int:
            return self._add(write, member, member_id, premises, until)

        self._write(member, do)
        return self.premises(principal)

    def retract(self, principal: Principal, premise_id: UUID) -> None:
        """Take back one premise, and where the profile says so in the same words, there too."""
        member = _member(principal)
        was = self._was(member)
        listed = {each.id: each for each in self.premises(principal)}
        if premise_id not in listed:
            raise NotFound("There is no such premise.", premise_id=str(premise_id))
        less = without(was.profile, listed[premise_id].text)

        def do(write: Write, member_id: UUID) -> None:
            meta = {"premise_ids": [str(premise_id)]}
            _note(write, member_id, PREMISES_RETRACTED, meta)
            if was.text is not None and less != was.profile:
                self._put(write, member, member_id, was, less, was.text.metadata["by"])

        self._write(member, do)

    # What those are made of

    def _past(
        self, member: Principal, label: Label, as_of: datetime, *, limit: int
    ) -> Sequence[TextRow]:
        with self.platform.transactions.reading(member) as stores:
            position = stores.ledger.position_at(as_of)
            return stores.intents.texts_as_of(client_of(member), label, position, limit)

    def _was(self, member: Principal) -> _Was:
        with self.platform.transactions.reading(member) as stores:
            row = stores.members.of_client(client_of(member))
            if row is None:
                return _Was(member_id=None, text=None)
            own = profile_id(row.id)
            return _Was(member_id=row.id, text=stores.intents.texts([own]).get(own))

    def _composed(self, member: Principal, texts: Sequence[str]) -> tuple[ProfileText, By]:
        by_model = self.models.profile(member.workspace_id, texts)
        if by_model is not None:
            return by_model, "model"
        profile = ProfileText()
        for text in texts:
            profile = merged(profile, profile_from(text))
        return profile, "rules"

    def _texts(self, member: Principal, sources: ProfileSources) -> tuple[list[str], list[Skipped]]:
        """Return the words of sources; those of others that read like orders are left out."""
        if len(sources.links) > MOST_LINKS or len(sources.document_ids) > MOST_DOCUMENTS:
            refuse("links", f"and document_ids are at most {MOST_LINKS} each")
        texts: list[str] = []
        skipped: list[Skipped] = []
        if sources.text is not None:
            words = _words(sources.text)
            if not is_confirmation(words):
                texts.append(words)
        for document_id in sources.document_ids:
            read = partial(words_of, self.platform, member, Source(document_id=document_id))
            self._read(read, str(document_id), texts, skipped)
        for link in sources.links:
            self._read(partial(self._page, member, link), link, texts, skipped)
        if sources.memories:
            with self.platform.transactions.reading(member) as stores:
                memories = stores.intents.memories(client_of(member), MOST_MEMORIES)
            clean = [each for each in memories if screen(each).verdict is Verdict.CLEAN]
            if clean:
                texts.append("\n".join(clean))
        return texts, skipped

    def _read(
        self, take: Callable[[], str], source: str, texts: list[str], skipped: list[Skipped]
    ) -> None:
        try:
            text = take()
        except CairnError as error:
            skipped.append(Skipped(source=source[:200], reason=error.reason))
            return
        if screen(text).verdict is Verdict.CLEAN:
            texts.append(text)
        else:
            skipped.append(Skipped(source=source[:200], reason="suspicious"))

    def _page(self, member: Principal, link: str) -> str:
        url = clean_text(link, field="links", max_chars=2_000)
        page = page_of(self.fetch()(member.workspace_id, url))
        return f"{page.title}\n{page.text}"

    def _written(
        self,
        member: Principal,
        was: _Was,
        profile: ProfileText,
        by: By,
        *,
        premises: Sequence[str] = (),
        skipped: tuple[Skipped, ...] = (),
        idempotency: IdempotencyKey | None = None,
    ) -> ProfileView:
        changed = tuple(
            each.name
            for each in fields(profile)
            if getattr(profile, each.name) != getattr(was.profile, each.name)
        )
        added = 0
        if changed or premises or was.text is None:

            def do(write: Write, member_id: UUID) -> int:
                if changed or was.text is None:
                    self._put(write, member, member_id, was, profile, by)
                return self._add(write, member, member_id, premises, None)

            added = self._write(member, do, idempotency)
        view = self._view(member, self._was(member))
        return replace(view, changed=changed, skipped=skipped, premises_added=added)

    def _put(
        self,
        write: Write,
        member: Principal,
        member_id: UUID,
        was: _Was,
        profile: ProfileText,
        by: str,
    ) -> None:
        """Plan the entry of a profile; Conflict (`moved`) when another write came between."""
        own = profile_id(member_id)
        now = write.stores.intents.texts([own]).get(own)
        # not by position: an embedding or a description of the node moves it, too
        if _Was(member_id=member_id, text=now).profile != was.profile:
            raise Conflict("The profile was changed meanwhile; look at it again.", reason="moved")
        body = {
            "text": profile.text,
            "title": profile.name or None,
            "metadata": profile.told() | {"by": by},
        }
        meta = {"profile_id": str(own), "new": now is None}
        _note(write, member_id, PROFILE_WRITTEN, meta, body | _whose(member))
        write.append()
        write.wake_embed((own,))

    def _add(
        self,
        write: Write,
        member: Principal,
        member_id: UUID,
        premises: Sequence[str],
        until: datetime | None,
    ) -> int:
        own = profile_id(member_id)
        stand = {
            row.text for row in write.stores.intents.premises(own, write.now, MOST_PREMISES + 1)
        }
        new = [each for each in premises if each not in stand]
        if len(stand) + len(new) > MOST_PREMISES:
            raise Conflict(
                f"A member has at most {MOST_PREMISES} premises; retract some first.",
                reason="too-many-premises",
            )
        ids: list[UUID] = []
        for text in new:
            ids.append(write.entries.new_id())
            meta = {
                "premise_id": str(ids[-1]),
                "profile_id": str(own),
                "by": "rules",
                "expires_at": format_timestamp(until) if until else None,
            }
            _note(write, member_id, PREMISE_ADDED, meta, {"text": text} | _whose(member))
        write.append()
        write.wake_embed(ids)
        return len(ids)

    def _write(
        self,
        member: Principal,
        do: Callable[[Write, UUID], ResultT],
        idempotency: IdempotencyKey | None = None,
    ) -> ResultT:
        client_id = client_of(member)

        def prepared() -> Work[Any]:
            resolution = resolve(self.platform, member, (("client", client_id),))

            def work(write: Write) -> ResultT:
                return do(write, Members.ensure(write, client_id).id)

            return Work(
                resolution=resolution,
                do=work,
                keep=lambda result: {"count": result or 0},
                read=lambda answer: answer["count"],
            )

        return Writer(self.platform).write_once(member, prepared, idempotency)

    def _view(self, member: Principal, now: _Was) -> ProfileView:
        profile = now.profile
        return ProfileView(
            id=now.text.id if now.text else None,
            client_id=client_of(member),
            written=now.text is not None,
            name=profile.name,
            bio=profile.bio,
            location=profile.location,
            context=profile.context,
            skills=profile.skills,
            interests=profile.interests,
            text=profile.text,
            by=now.text.metadata["by"] if now.text else "rules",
            missing=profile.missing,
            position=now.text.position if now.text else 0,
        )


def _member(principal: Principal) -> Principal:
    require_writer(principal)
    return acting(principal, None)


def _words(text: str) -> str:
    return scrub(clean_text(text, field="text", max_chars=20_000)).text


def _whose(member: Principal) -> dict[str, Any]:
    """Return whose a node is, as bodies of entries say it."""
    return {
        "client_id": client_of(member),
        "agents": None,
        "source_agent": source_agent(None, member),
    }


def _note(
    write: Write,
    member_id: UUID,
    type_: str,
    meta: Mapping[str, Any],
    body: Mapping[str, Any] | None = None,
) -> None:
    write.entries.add(
        type_,
        {**meta, "scope": "shared"},
        body,
        data_subjects=(member_id,),
        occurred_at=write.now,
    )


def _checked(profile: ProfileText, *, cut: bool = False) -> ProfileText:
    """Return a profile scrubbed and within its limits; `cut` shortens what is too long."""
    texts: dict[str, str] = {}
    for name, limit in _LIMITS.items():
        value = str(getattr(profile, name)).strip()
        value = value[:limit] if cut else value
        if value:
            value = scrub(clean_text(value, field=name, max_chars=limit)).text
        texts[name] = value
    lists = {
        name: _attributes(getattr(profile, name), name, cut=cut) for name in ("skills", "interests")
    }
    return ProfileText(**texts, skills=lists["skills"], interests=lists["interests"])


def _attributes(items: Sequence[str], field: str, *, cut: bool) -> tuple[str, ...]:
    if len(items) > MOST_ATTRIBUTES and not cut:
        refuse(field, f"has more than {MOST_ATTRIBUTES} items")
    results: list[str] = []
    for number, item in enumerate(items[:MOST_ATTRIBUTES]):
        text = item.strip()[:MOST_ATTRIBUTE_CHARS] if cut else item.strip()
        if text or not cut:
            place = f"{field}.{number}"
            results.append(
                scrub(clean_text(text, field=place, max_chars=MOST_ATTRIBUTE_CHARS)).text
            )
    return tuple(dict.fromkeys(results))


def _premise_view(row: TextRow) -> PremiseView:
    return PremiseView(
        id=row.id,
        text=row.text,
        by=row.metadata.get("by", "rules"),
        recorded_at=row.recorded_at,
        expires_at=row.expires_at,
    )
