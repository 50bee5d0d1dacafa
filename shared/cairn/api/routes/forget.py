"""Forgetting: a subject's or a source's data leave every store, and that can be checked."""

from typing import Annotated, Any, Literal
from uuid import UUID

from fastapi import Response
from pydantic import Field

from cairn.api.answers import answer
from cairn.api.dependencies import Admin, Services
from cairn.api.documentation import answers, problems
from cairn.api.fields import Body, Name, Text
from cairn.api.routing import router
from cairn.forgetting.forget import Forgotten, Target
from cairn.forgetting.ports import Forgetting, Reason
from cairn.kernel.errors import FieldError, ValidationFailed

routes = router("operations")

_ID = {"type": "string", "format": "uuid"}
_COUNTS = {"type": "object", "additionalProperties": {"type": "integer"}}
_FORGETTING: dict[str, Any] = {
    "type": "object",
    "required": ["id", "subject_id", "kind", "keyed", "reason", "status", "counts"],
    "properties": {
        "id": _ID,
        "subject_id": _ID,
        "kind": {"type": "string", "enum": ["client", "person", "source"]},
        "keyed": {"type": "boolean", "description": "False: older bodies of the source stay."},
        "reason": {"type": "string", "enum": [one.value for one in Reason]},
        "status": {
            "type": "string",
            "enum": ["begun", "marked", "barred", "purged", "done"],
        },
        "position": {"type": "integer", "description": "The ledger's head when it was begun."},
        "purged_position": {"type": ["integer", "null"]},
        "counts": _COUNTS,
        "begun_at": {"type": "string", "format": "date-time"},
        "done_at": {"type": ["string", "null"], "format": "date-time"},
        "already": {"type": "boolean", "description": "It had been done before."},
    },
}
_PROOF: dict[str, Any] = {
    "type": "object",
    "required": ["clean", "canaries", "places"],
    "properties": {
        "forgetting_id": {"type": ["string", "null"], "format": "uuid"},
        "subject_id": {"type": ["string", "null"], "format": "uuid"},
        "clean": {"type": "boolean"},
        "canaries": {"type": "integer", "description": "How many strings were looked for."},
        "places": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {
                    "store": {"type": "string"},
                    "place": {"type": "string"},
                    "items": {"type": "integer"},
                    "found": {"type": "integer"},
                    "searched": {"type": "boolean"},
                    "note": {"type": "string"},
                },
            },
        },
    },
}
_PLAN: dict[str, Any] = {
    "type": "object",
    "required": ["dry_run", "subject_id", "kind", "keyed", "counts", "node_ids"],
    "properties": {
        "dry_run": {"type": "boolean"},
        "subject_id": {"type": ["string", "null"], "format": "uuid"},
        "kind": {"type": "string"},
        "keyed": {"type": "boolean"},
        "counts": _COUNTS,
        "node_ids": {"type": "array", "items": _ID, "description": "At most 1,000 of them."},
        "proof": _PROOF,
        "words": {"type": "array", "items": {"type": "string"}},
    },
}
MOST_SHOWN = 1_000


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
        **answers(200, "What was done, or would be", {"anyOf": [_FORGETTING, _PLAN]}),
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
    return answer(_shown(services.forgetting.forget(caller, body.target(), body.reason)))


@routes.get(
    "/v1/forget/{forgetting_id}",
    summary="How a forgetting went",
    response_model=None,
    responses={**answers(200, "The forgetting", _FORGETTING), **problems("not-found")},
)
def get_forgetting(forgetting_id: UUID, caller: Admin, services: Services) -> Response:
    """Return what was done: ids, counts and times."""
    return answer(_view(services.forgetting.forget.get(caller, forgetting_id)))


@routes.get(
    "/v1/forget/{forgetting_id}/proof",
    summary="Search every store for what was forgotten, by its ids",
    response_model=None,
    responses={**answers(200, "What was looked at", _PROOF), **problems("not-found")},
)
def prove_forgetting(forgetting_id: UUID, caller: Admin, services: Services) -> Response:
    """Look for the subject's id and its nodes' in every table, index, bucket and the key store."""
    return answer(services.forgetting.prove(caller, forgetting_id))


@routes.post(
    "/v1/forget/{forgetting_id}/proof",
    summary="Search every store for canary strings, too",
    response_model=None,
    responses={**answers(200, "What was looked at", _PROOF), **problems("not-found", body=True)},
)
def prove_forgetting_by_strings(
    forgetting_id: UUID, body: ProofIn, caller: Admin, services: Services
) -> Response:
    """Look for strings that only the forgotten data had. They are held for this request only."""
    return answer(services.forgetting.prove(caller, forgetting_id, body.canaries))


def _dry_run(body: ForgetIn, caller: Admin, services: Services) -> dict[str, Any]:
    target = body.target()
    plan = services.forgetting.forget.plan(caller, target)
    shown: dict[str, Any] = {
        "dry_run": True,
        "subject_id": plan.subject_id,
        "kind": plan.kind,
        "keyed": plan.keyed,
        "counts": plan.counts,
        "node_ids": plan.node_ids[:MOST_SHOWN],
    }
    if body.prove:
        proof, words = services.forgetting.prove.before(
            caller, target, plan.node_ids, body.canaries
        )
        shown |= {"proof": proof, "words": words}
    return shown


def _shown(done: Forgotten) -> dict[str, Any]:
    return {**_view(done.forgetting), "already": done.already}


def _view(row: Forgetting) -> dict[str, Any]:
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
