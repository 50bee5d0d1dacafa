"""Forgetting: a subject's or a source's data leave every store, and that can be checked."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Annotated, Literal, NotRequired
from uuid import UUID

from fastapi import Response
from pydantic import Field
from typing_extensions import TypedDict

from cairn.api.answers import answer
from cairn.api.dependencies import Admin, Services
from cairn.api.documentation import among, answers, problems
from cairn.api.fields import Body, Name, Text
from cairn.api.routing import router
from cairn.forgetting.forget import Forgotten, Target
from cairn.forgetting.ports import Forgetting, Reason, Step
from cairn.forgetting.prove import Proof
from cairn.kernel.errors import FieldError, ValidationFailed

routes = router("operations")

MOST_SHOWN = 1_000


class ForgettingView(TypedDict):
    """A forgetting: ids, counts and times, and nothing of what was forgotten."""

    id: UUID
    subject_id: UUID
    kind: Annotated[str, among("client", "person", "source")]
    keyed: bool
    reason: Annotated[str, among(*Reason)]
    status: Annotated[str, among(*Step)]
    position: int
    purged_position: int | None
    counts: Mapping[str, int]
    begun_at: datetime
    done_at: datetime | None


class ForgettingDone(ForgettingView):
    """A forgetting that was asked for; `already` when it had been done before."""

    already: bool


class ForgettingPlan(TypedDict):
    """What would go. `proof` and `words` are there with `prove`."""

    dry_run: Literal[True]
    subject_id: UUID | None
    kind: str
    keyed: bool
    counts: Mapping[str, int]
    node_ids: Sequence[UUID]
    proof: NotRequired[Proof]
    words: NotRequired[Sequence[str]]


class SubjectIn(Body):
    """A client or a person by the name they are known by."""

    kind: Literal["client", "person"]
    natural_key: Name


Canaries = Annotated[list[Text], Field(max_length=50)]


class ForgetIn(Body):
    """Who or what is to be forgotten: exactly one of subject, subject_id and source."""

    subject: SubjectIn | None = None
    subject_id: Annotated[UUID | None, Field(strict=False)] = None
    source: Annotated[str | None, Field(min_length=1, max_length=2000)] = None
    reason: Annotated[Reason, Field(strict=False)] = Reason.REQUEST
    dry_run: bool = False
    prove: bool = False
    canaries: Canaries = Field(default_factory=list)

    def target(self) -> Target:
        """Return whom it names; ValidationFailed unless that is one."""
        if [self.subject, self.subject_id, self.source].count(None) != 2:
            fault = FieldError("subject", "Give exactly one of subject, subject_id and source")
            raise ValidationFailed("Exactly one subject is needed.", errors=[fault])
        owner = (self.subject.kind, self.subject.natural_key) if self.subject else None
        return Target(owner=owner, subject_id=self.subject_id, source=self.source)


class ProofIn(Body):
    """Strings that must not be found any more. They are kept nowhere."""

    canaries: Canaries = Field(default_factory=list)


@routes.post(
    "/v1/forget",
    summary="Forget a data subject or a source",
    response_model=None,
    responses={
        **answers(200, "What was done, or would be", ForgettingDone | ForgettingPlan),
        **problems("not-found", body=True),
    },
)
def forget(body: ForgetIn, caller: Admin, services: Services) -> Response:
    """Destroy the key, purge every projection, leave a signed tombstone. It cannot be undone.

    Repeated, it goes on where it was interrupted, or answers what was done. With `dry_run` it lists
    what would go; with `prove` as well it searches every store now, to show that the search finds.
    """
    if body.dry_run:
        return answer(_dry_run(body, caller, services))
    return answer(_shown(services.forget(caller, body.target(), body.reason)))


@routes.get(
    "/v1/forget/{forgetting_id}",
    summary="How a forgetting went",
    response_model=None,
    responses={**answers(200, "The forgetting", ForgettingView), **problems("not-found")},
)
def get_forgetting(forgetting_id: UUID, caller: Admin, services: Services) -> Response:
    """Return what was done: ids, counts and times."""
    return answer(_view(services.forget.get(caller, forgetting_id)))


@routes.get(
    "/v1/forget/{forgetting_id}/proof",
    summary="Search every store for what was forgotten, by its ids",
    response_model=None,
    responses={**answers(200, "What was looked at", Proof), **problems("not-found")},
)
def prove_forgetting(forgetting_id: UUID, caller: Admin, services: Services) -> Response:
    """Look for the subject's id and its nodes' in every table, index, bucket and the key store."""
    return answer(services.prove(caller, forgetting_id))


@routes.post(
    "/v1/forget/{forgetting_id}/proof",
    summary="Search every store for canary strings, too",
    response_model=None,
    responses={**answers(200, "What was looked at", Proof), **problems("not-found", body=True)},
)
def prove_forgetting_by_strings(
    forgetting_id: UUID, body: ProofIn, caller: Admin, services: Services
) -> Response:
    """Look for strings that only the forgotten data had. They are held for this request only."""
    return answer(services.prove(caller, forgetting_id, body.canaries))


def _dry_run(body: ForgetIn, caller: Admin, services: Services) -> ForgettingPlan:
    target = body.target()
    plan = services.forget.plan(caller, target)
    shown: ForgettingPlan = {
        "dry_run": True,
        "subject_id": plan.subject_id,
        "kind": plan.kind,
        "keyed": plan.keyed,
        "counts": plan.counts,
        "node_ids": plan.node_ids[:MOST_SHOWN],
    }
    if body.prove:
        proof, words = services.prove.before(caller, target, plan.node_ids, body.canaries)
        shown["proof"], shown["words"] = proof, words
    return shown


def _shown(done: Forgotten) -> ForgettingDone:
    return {**_view(done.forgetting), "already": done.already}


def _view(row: Forgetting) -> ForgettingView:
    """Return a row without what only resuming needs."""
    return {
        "id": row.id,
        "subject_id": row.subject_id,
        "kind": row.kind,
        "keyed": row.keyed,
        "reason": row.reason,
        "status": row.status,
        "position": row.position,
        "purged_position": row.purged_position,
        "counts": row.counts,
        "begun_at": row.begun_at,
        "done_at": row.done_at,
    }
