"""The pages of the discovery network: networks, who is in them, invites, how discovery does.

What a member keeps to themselves (intents, feed, proposals, negotiations) is theirs and their
agents'; whoever is tied to the member sees it under `console.discovery`, whatever their role.
"""

from typing import Any
from uuid import UUID

from fastapi import APIRouter, Request, Response

from cairn.api.console import pages
from cairn.api.console.forms import Form, checked, number_or_text, refused_deed
from cairn.api.console.guard import Visitor, form_from, id_of, require_meant
from cairn.api.console.routes import Body, ConsoleRoute, Reader, shown
from cairn.api.routes.networks import InviteIn, NetworkChangesIn, NetworkIn
from cairn.discovery.networks.invites import MadeInvite
from cairn.discovery.networks.manage import NetworkChanges, NewNetwork
from cairn.discovery.networks.rows import JoinPolicy
from cairn.kernel.access import Role
from cairn.kernel.errors import Conflict, ValidationFailed
from cairn.kernel.records import convert

NETWORKS = "/console/networks"
SHOWN = 25
DONE = {
    "made": "It is there. Members come by an invite, or by themselves where anyone may.",
    "changed": "The change holds; what is in it is judged anew where its prompt changed.",
    "removed": "It is gone.",
    "let-go": "They are in it no longer.",
    "tied": "They see and do under For you what that member may.",
    "revoked": "The invite lets nobody in.",
}

routes = APIRouter(route_class=ConsoleRoute, include_in_schema=False)


@routes.get(NETWORKS)
def show_networks(request: Request, visitor: Reader, before: str | None = None) -> Response:
    """Show networks, the newest first, and how discovery does."""
    return _list(request, visitor, before=before)


@routes.post(NETWORKS)
def make_network(request: Request, body: Body) -> Response:
    """Make a network of the workspace."""
    visitor, form = form_from(request, body)
    _require_admin(visitor)
    try:
        new = convert(checked(NetworkIn, _fields(form)), NewNetwork)
        network = visitor.services.networks.make(visitor.principal, new)
    except (Conflict, ValidationFailed) as error:
        return _list(request, visitor, **refused_deed(form, error, "name"))
    return pages.go_to(f"{NETWORKS}/{network.id}?done=made")


@routes.post(NETWORKS + "/maintain")
def maintain(request: Request, body: Body) -> Response:
    """Look after all feeds now, and let what failed be tried again."""
    visitor, _ = form_from(request, body)
    run = visitor.services.maintain_feeds.run(visitor.principal)
    done = f"Looked after: {run.feeds} feeds. Tried again: {run.redriven}."
    return _list(request, visitor, done=done)


@routes.get(NETWORKS + "/{network_id}")
def show_network(
    request: Request, visitor: Reader, network_id: str, before: str | None = None
) -> Response:
    """Show one: who is in it as they describe themselves, and invites without their tokens."""
    return _network(request, visitor, id_of(network_id), before=before)


@routes.post(NETWORKS + "/{network_id}/change")
def change_network(request: Request, network_id: str, body: Body) -> Response:
    """Change its name, what belongs there, and who may join."""
    (visitor, form), id_ = form_from(request, body), id_of(network_id)
    _require_admin(visitor)
    try:
        changes = convert(checked(NetworkChangesIn, _fields(form)), NetworkChanges)
        visitor.services.networks.update(visitor.principal, id_, changes)
    except (Conflict, ValidationFailed) as error:
        return _network(request, visitor, id_, **refused_deed(form, error, "name"))
    return pages.go_to(f"{NETWORKS}/{id_}?done=changed")


@routes.post(NETWORKS + "/{network_id}/invites")
def invite(request: Request, network_id: str, body: Body) -> Response:
    """Make an invite for one person, and show its link, this once."""
    (visitor, form), id_ = form_from(request, body), id_of(network_id)
    _require_admin(visitor)
    try:
        chosen = checked(InviteIn, {"days": number_or_text(form.get("days", "").strip())})
        created = visitor.services.invites.make(visitor.principal, id_, days=chosen.days)
    except (Conflict, ValidationFailed) as error:
        return _network(request, visitor, id_, **refused_deed(form, error, "days"))
    return _network(request, visitor, id_, created=created, status=201)


@routes.post(NETWORKS + "/{network_id}/invites/{invite_id}/revoke")
def revoke_invite(request: Request, network_id: str, invite_id: str, body: Body) -> Response:
    """Withdraw an invite that was not used."""
    visitor, _ = form_from(request, body)
    _require_admin(visitor)
    visitor.services.invites.revoke(visitor.principal, id_of(network_id), id_of(invite_id))
    return pages.go_to(f"{NETWORKS}/{id_of(network_id)}?done=revoked")


@routes.post(NETWORKS + "/{network_id}/members/{member_id}/let-go")
def let_go(request: Request, network_id: str, member_id: str, body: Body) -> Response:
    """Let somebody be in a network no longer."""
    (visitor, form), id_ = form_from(request, body), id_of(network_id)
    _require_admin(visitor)
    require_meant(form)
    try:
        visitor.services.places.let_go(visitor.principal, id_, id_of(member_id))
    except Conflict as error:
        return _network(request, visitor, id_, **refused_deed(form, error, "member"))
    return pages.go_to(f"{NETWORKS}/{id_}?done=let-go")


@routes.post(NETWORKS + "/{network_id}/members/{member_id}/tie")
def tie(request: Request, network_id: str, member_id: str, body: Body) -> Response:
    """Say who of the people that sign in this member is."""
    (visitor, form), id_ = form_from(request, body), id_of(network_id)
    _require_admin(visitor)
    person_id = id_of(form.get("person", ""))
    try:
        visitor.services.people.tie(visitor.principal, person_id, member_id=id_of(member_id))
    except Conflict as error:
        return _network(request, visitor, id_, **refused_deed(form, error, "person"))
    return pages.go_to(f"{NETWORKS}/{id_}?done=tied")


@routes.post(NETWORKS + "/{network_id}/remove")
def remove_network(request: Request, network_id: str, body: Body) -> Response:
    """Remove one that nobody else is in."""
    (visitor, form), id_ = form_from(request, body), id_of(network_id)
    _require_admin(visitor)
    require_meant(form)
    try:
        visitor.services.networks.remove(visitor.principal, id_)
    except Conflict as error:
        return _network(request, visitor, id_, **refused_deed(form, error, "name"))
    return pages.go_to(f"{NETWORKS}?done=removed")


def _require_admin(visitor: Visitor) -> None:
    """Raise Denied for others: who names no member acts for the workspace."""
    visitor.principal.require(Role.ADMIN)


def _fields(form: dict[str, str]) -> dict[str, Any]:
    return {
        "name": form.get("name", "").strip(),
        "prompt": form.get("prompt", "").replace("\r\n", "\n").strip(),
        "join_policy": form.get("join_policy", ""),
    }


def _list(
    request: Request,
    visitor: Visitor,
    *,
    before: str | None = None,
    form: Form | None = None,
    done: str = "",
    status: int = 200,
) -> Response:
    _require_admin(visitor)
    services, caller = visitor.services, visitor.principal
    networks = services.networks.page(
        caller, before=id_of(before) if before else None, limit=SHOWN + 1
    )
    return shown(
        request,
        visitor,
        "networks.html",
        status=status,
        **pages.cut("networks", networks, SHOWN),
        measures=services.negotiations.measures(caller),
        work=services.browse.get_status(caller),
        policies=[each.value for each in JoinPolicy],
        form=form or Form(),
        done=done or DONE.get(request.query_params.get("done", ""), ""),
    )


def _network(
    request: Request,
    visitor: Visitor,
    network_id: UUID,
    *,
    before: str | None = None,
    form: Form | None = None,
    created: MadeInvite | None = None,
    status: int = 200,
) -> Response:
    _require_admin(visitor)
    services, caller = visitor.services, visitor.principal
    network = services.networks.get(caller, network_id)
    members = services.show_members.of_network(
        caller, network_id, before=id_of(before) if before else None, limit=SHOWN + 1
    )
    return shown(
        request,
        visitor,
        "network.html",
        status=status,
        network=network,
        **pages.cut("members", members, SHOWN),
        people=services.people.all(caller),
        invites=services.invites.page(caller, network_id, limit=SHOWN),
        created=created,
        link=f"{request.base_url}v1/networks/join#{created.token}" if created else "",
        policies=[each.value for each in JoinPolicy],
        form=form or Form(),
        done=DONE.get(request.query_params.get("done", ""), ""),
    )
