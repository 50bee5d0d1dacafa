"""The page of messaging channels: added, changed, paused, removed; and who of them is who here.

Admins set channels. Everybody who signed in ties themselves: a code is theirs alone.
"""

from collections.abc import Mapping
from typing import Any

from fastapi import APIRouter, Request, Response

from cairn.api.console import pages
from cairn.api.console.forms import (
    NO_KIND,
    Form,
    as_typed,
    checked,
    kind_config_of,
    kind_secrets_of,
    number_or_text,
    refused_deed,
)
from cairn.api.console.guard import Visitor, form_from, id_of, require_meant
from cairn.api.console.routes import Body, ConsoleRoute, Reader, shown
from cairn.api.routes.channels import MessagingChannelChangeIn, MessagingChannelIn
from cairn.channels.channel import ChannelSettings
from cairn.channels.keep import ChannelChange, NewChannel
from cairn.kernel.errors import CairnError, Conflict, NotFound, ValidationFailed
from cairn.kernel.records import convert

CHANNELS = "/console/channels"
DONE = {
    "added": "It is heard from now on.",
    "changed": "The change holds from now on.",
    "paused": "Nothing is heard of it any more.",
    "resumed": "It is heard again.",
    "removed": "It is gone, with its secrets and ties. Its conversations stay.",
    "untied": "They decide and answer nothing there any more.",
}
NUMBERS = ("per_minute", "per_day", "per_session", "idle_minutes")
TEXTS = ("busy", "agent", "day_usd", "wait_minutes", "away_minutes", "after_unanswered")

routes = APIRouter(route_class=ConsoleRoute, include_in_schema=False)


@routes.get(CHANNELS)
def show_channels(request: Request, visitor: Reader) -> Response:
    """Show every channel and the form of the kind that is chosen; to others, where they tie."""
    query = request.query_params
    done = DONE.get(query.get("done", ""), "")
    return _page(request, visitor, done=done, kind=query.get("kind", ""))


@routes.post(CHANNELS)
def add_channel(request: Request, body: Body) -> Response:
    """Add a channel."""
    visitor, form = form_from(request, body)
    try:
        kind = form.get("kind", "")
        parts = visitor.services.messenger_forms.get(kind, NO_KIND)
        values = {
            "name": form.get("name", "").strip(),
            "kind": kind,
            "config": kind_config_of(form, parts),
            "secrets": kind_secrets_of(form, parts),
            "settings": _settings(form),
        }
        new = convert(checked(MessagingChannelIn, values), NewChannel)
        visitor.services.messaging_channels.create(visitor.principal, new)
    except (Conflict, ValidationFailed) as error:
        refused = refused_deed(form, error, "name")
        return _page(request, visitor, kind=form.get("kind", ""), **refused)
    return pages.go_to(f"{CHANNELS}?done=added")


@routes.post(CHANNELS + "/{channel_id}/change")
def change_channel(request: Request, channel_id: str, body: Body) -> Response:
    """Set it anew; secrets that are left empty stay."""
    visitor, form = form_from(request, body)
    id_, keep = id_of(channel_id), visitor.services.messaging_channels
    channel = keep.get(visitor.principal, id_)
    parts = visitor.services.messenger_forms.get(channel.kind.value, NO_KIND)
    try:
        values = {
            "config": kind_config_of(form, parts),
            "secrets": kind_secrets_of(form, parts) or None,
            "settings": _settings(form),
        }
        change = convert(checked(MessagingChannelChangeIn, values), ChannelChange)
        keep.change(visitor.principal, id_, change)
    except (Conflict, ValidationFailed) as error:
        refused = refused_deed(form, error, "config")
        return _page(request, visitor, changed=channel_id, **refused)
    return pages.go_to(f"{CHANNELS}?done=changed")


@routes.post(CHANNELS + "/{channel_id}/{deed}")
def do_to_channel(request: Request, channel_id: str, deed: str, body: Body) -> Response:
    """Check, pause, go on, tie oneself, untie somebody, or remove it; that says it is meant."""
    visitor, form = form_from(request, body)
    services, caller, id_ = visitor.services, visitor.principal, id_of(channel_id)
    if deed == "code":
        code = services.channel_ties.make_code(caller, id_, caller.principal_id)
        return _page(request, visitor, code=code.code, changed=channel_id)
    if deed == "check":
        return _keys_checked(request, visitor, channel_id)
    if deed == "untie":
        services.channel_ties.untie(caller, id_, id_of(form.get("person", "")))
        return pages.go_to(f"{CHANNELS}?done=untied")
    if deed == "remove":
        require_meant(form)
        services.messaging_channels.remove(caller, id_)
    elif deed in ("pause", "resume"):
        change = ChannelChange(paused=deed == "pause")
        services.messaging_channels.change(caller, id_, change)
    else:
        raise NotFound("There is no such deed.")
    return pages.go_to(f"{CHANNELS}?done={deed}d")


def _keys_checked(request: Request, visitor: Visitor, channel_id: str) -> Response:
    try:
        app = visitor.services.messaging_channels.check(visitor.principal, id_of(channel_id))
    except CairnError as error:
        return _page(request, visitor, wrong=error.detail, status=409)
    return _page(request, visitor, done=f"The keys are good: the app is {app} there.")


def _settings(form: Mapping[str, str]) -> dict[str, Any]:
    """Return what a channel may do as a form says it; what is empty is as when it is new."""
    texts = {name: form.get(name, "").strip() for name in (*NUMBERS, *TEXTS)}
    limits = {name: number_or_text(texts[name]) for name in NUMBERS if texts[name]}
    names = ("wait_minutes", "away_minutes", "after_unanswered")
    persons = {name: number_or_text(texts[name]) for name in names if texts[name]}
    settings: dict[str, Any] = {name: texts[name] for name in ("busy", "agent") if texts[name]}
    if texts["day_usd"]:
        settings["day_usd"] = texts["day_usd"]
    return {
        **settings,
        "answers": "answers" in form,
        "outsiders": "outsiders" in form,
        "limits": limits,
        "hand_off": persons or None,
    }


def _page(
    request: Request,
    visitor: Visitor,
    *,
    done: str = "",
    wrong: str = "",
    form: Form | None = None,
    changed: str = "",
    kind: str = "",
    code: str = "",
    status: int = 200,
) -> Response:
    services, caller = visitor.services, visitor.principal
    forms = services.messenger_forms
    rows = services.messaging_channels.all(caller) if visitor.is_admin else ()
    return shown(
        request,
        visitor,
        "channels.html",
        status=status,
        channels=[
            (
                each,
                ChannelSettings.model_validate(each.settings),
                forms[each.kind.value],
                services.channel_ties.all(caller, each.id),
            )
            for each in rows
        ],
        named=services.messaging_channels.names(caller),
        kinds=sorted(forms),
        kind=kind,
        parts=forms.get(kind),
        fresh=ChannelSettings(),
        as_typed=as_typed,
        form=form or Form(),
        blank=Form(),
        changed=changed,
        code=code,
        fields=["name", "kind", *NUMBERS, *TEXTS],
        done=done,
        wrong=wrong,
        base=str(request.base_url).rstrip("/"),
    )
