"""Members as others see them, and which networks somebody's intents belong to."""

from collections.abc import Sequence
from typing import Annotated
from uuid import UUID

from fastapi import Path, Response
from pydantic import Field

from cairn.api.answers import answer
from cairn.api.dependencies import ClientGiven, ClientWriter, Services
from cairn.api.documentation import ListOf, answers, problems
from cairn.api.fields import Body, Name, examples
from cairn.api.routing import router
from cairn.discovery.networks.indexing import Assignment
from cairn.discovery.networks.showing import MemberView

routes = router("networks")
_NETWORKS = "/v1/intents/{intent_id}/networks"
MOST_NETWORKS = 100

IntentId = Annotated[UUID, Path(description="The intent's id.")]


class AssignIn(Body):
    """Networks that an intent belongs to; none: it is judged where it does."""

    model_config = examples({"networks": ["019a8f0e-3b5c-7c11-9d2e-6f4a1b2c3d4e"]}, {})

    networks: Annotated[
        list[Annotated[UUID, Field(strict=False)]], Field(max_length=MOST_NETWORKS)
    ] = Field(default_factory=list[UUID])
    client_id: Name | None = None


@routes.get(
    "/v1/members/{member_id}",
    summary="Show a member",
    response_model=None,
    responses={**answers(200, "The member", MemberView), **problems("not-found")},
)
def get_member(
    member_id: Annotated[UUID, Path(description="The member's id.")],
    caller: ClientWriter,
    services: Services,
    client_id: ClientGiven,
) -> Response:
    """Show who is in a network with one: as they describe themselves, and their intents there."""
    return answer(services.show_members.get(caller, member_id, client_id=client_id))


@routes.get(
    _NETWORKS,
    summary="List the networks of an intent",
    response_model=None,
    responses={**answers(200, "Networks", ListOf[Assignment]), **problems("not-found")},
)
def list_intent_networks(
    intent_id: IntentId, caller: ClientWriter, services: Services, client_id: ClientGiven
) -> Response:
    """List where one's intent belongs, with its score."""
    return _shown(services.indexer.of(caller, intent_id, client_id=client_id))


@routes.post(
    _NETWORKS,
    summary="Assign an intent to networks",
    response_model=None,
    responses={
        **answers(200, "Where it belongs now", ListOf[Assignment]),
        **problems("not-found", body=True),
    },
)
def assign_intent(
    intent_id: IntentId, body: AssignIn, caller: ClientWriter, services: Services
) -> Response:
    """Assign one's intent to networks that one is in, or let it be judged for all of them."""
    networks = body.networks or None
    placed = services.indexer.assign(caller, intent_id, networks, client_id=body.client_id)
    return _shown(placed)


@routes.delete(
    f"{_NETWORKS}/{{network_id}}",
    summary="Take an intent out of a network",
    response_model=None,
    responses={
        **answers(200, "Where it belongs now", ListOf[Assignment]),
        **problems("not-found"),
    },
)
def unassign_intent(
    intent_id: IntentId,
    network_id: Annotated[UUID, Path(description="The network's id.")],
    caller: ClientWriter,
    services: Services,
    client_id: ClientGiven,
) -> Response:
    """Take one's intent out of a network, until it is judged anew."""
    services.indexer.unassign(caller, intent_id, network_id, client_id=client_id)
    return _shown(services.indexer.of(caller, intent_id, client_id=client_id))


def _shown(items: Sequence[Assignment]) -> Response:
    return answer({"items": items})
