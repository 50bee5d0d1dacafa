"""A member's own profile, and what they say of themselves, which nobody else is shown."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fastapi import APIRouter, Request, Response

from cairn.api.console import pages
from cairn.api.console.discovery.acting import OWN, member_of, of_member
from cairn.api.console.forms import Form, checked, refused_deed
from cairn.api.console.guard import Visitor, form_from, id_of
from cairn.api.console.routes import Body, ConsoleRoute, Reader
from cairn.api.routes.member_profiles import PARTS, MemberProfileIn, PremisesIn, parts_of
from cairn.discovery.intents.profile import ProfileText
from cairn.kernel.errors import Conflict, ValidationFailed

if TYPE_CHECKING:
    from cairn.kernel.access import Principal

PROFILE = OWN + "/profile"
LISTS = PARTS[-2:]
FIELDS = (*PARTS, "text")
DONE = {
    "written": "This is how your networks show you from now on.",
    "stated": "It is kept, each sentence by itself.",
    "retracted": "It no longer holds, and your profile no longer says so.",
}

routes = APIRouter(route_class=ConsoleRoute, include_in_schema=False)


@routes.get(PROFILE)
def show_profile(request: Request, visitor: Reader) -> Response:
    """Show the member's profile as others see it, and what only they see."""
    return _profile(request, visitor, member_of(visitor))


@routes.post(PROFILE)
def write_profile(request: Request, body: Body) -> Response:
    """Write the whole profile."""
    visitor, form = form_from(request, body)
    member = member_of(visitor)
    values = {name: form.get(name, "").replace("\r\n", "\n").strip() for name in PARTS}
    lists = {name: [each.strip() for each in values[name].split(",")] for name in LISTS}
    filled = {name: [each for each in items if each] for name, items in lists.items()}
    try:
        profile = ProfileText(**parts_of(checked(MemberProfileIn, {**values, **filled})))
        visitor.services.member_profiles.replace(member, profile)
    except (Conflict, ValidationFailed) as error:
        return _profile(request, visitor, member, **refused_deed(form, error, "name"))
    return pages.go_to(f"{PROFILE}?done=written")


@routes.post(PROFILE + "/premises")
def state_premises(request: Request, body: Body) -> Response:
    """Keep each statement of a self-description."""
    visitor, form = form_from(request, body)
    member = member_of(visitor)
    try:
        premises = checked(PremisesIn, {"text": form.get("text", "").strip()})
        visitor.services.member_profiles.add_premises(member, premises.text)
    except (Conflict, ValidationFailed) as error:
        return _profile(request, visitor, member, **refused_deed(form, error, "text"))
    return pages.go_to(f"{PROFILE}?done=stated")


@routes.post(PROFILE + "/premises/{premise_id}/retract")
def retract_premise(request: Request, body: Body, premise_id: str) -> Response:
    """Take one back."""
    visitor, _ = form_from(request, body)
    visitor.services.member_profiles.retract(member_of(visitor), id_of(premise_id))
    return pages.go_to(f"{PROFILE}?done=retracted")


def _profile(
    request: Request,
    visitor: Visitor,
    member: Principal,
    *,
    form: Form | None = None,
    status: int = 200,
) -> Response:
    profiles = visitor.services.member_profiles
    return of_member(
        request,
        visitor,
        "profile.html",
        member,
        status=status,
        profile=profiles.read(member),
        premises=profiles.premises(member),
        form=form or Form(),
        fields=FIELDS,
        done=DONE.get(request.query_params.get("done", ""), ""),
    )
