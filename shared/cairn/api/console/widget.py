"""The page of the chat widget: where it stands, what it says and may cost, and the line to paste.

Whatever a form does not name stays as it is: limits, and the keys of the host.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from fastapi import APIRouter, Request, Response
from pydantic import ValidationError

from cairn.api.console import pages
from cairn.api.console.forms import (
    SECRETS,
    Form,
    as_failure,
    json_object,
    number_of,
    refused_deed,
)
from cairn.api.console.guard import Visitor, form_from, require_meant
from cairn.api.console.routes import Body, ConsoleRoute, Reader, shown
from cairn.chat.widget import ChallengeKind, WidgetHandOff, WidgetSettings
from cairn.kernel.access import Role
from cairn.kernel.errors import Conflict, FieldError, NotFound, ValidationFailed

if TYPE_CHECKING:
    from collections.abc import Mapping

WIDGET = "/console/widget"
LOOK = ("primary", "background", "text", "side")
WORDS = ("title", "greeting", "placeholder")
PERSONS = ("wait_minutes", "away_minutes", "after_unanswered")
NAMED = ("origins", "theme", "texts", "hand_off", "day_usd", "challenge", "site_key", "agent")
FIELDS = (*LOOK, *WORDS, *PERSONS, *NAMED, "rest", "secrets")
DONE = {
    "set": "It holds from now on; pages that have it show it within a minute.",
    "removed": "Nobody is answered any more. What was said stays under Conversations.",
}

routes = APIRouter(route_class=ConsoleRoute, include_in_schema=False)


@routes.get(WIDGET)
def show_widget(request: Request, visitor: Reader) -> Response:
    """Show the widget, or what a new one would be."""
    return _page(request, visitor)


@routes.post(WIDGET)
def set_widget(request: Request, body: Body) -> Response:
    """Make the widget, or set it anew."""
    visitor, form = form_from(request, body)
    keep = visitor.services.keep_widget
    try:
        keep.set(visitor.principal, _settings(form), secret=form.get(SECRETS) or None)
    except ValidationError as error:
        return _page(request, visitor, **refused_deed(form, _of_fields(as_failure(error)), "rest"))
    except (Conflict, ValidationFailed) as error:
        return _page(request, visitor, **refused_deed(form, error, "rest"))
    return pages.go_to(f"{WIDGET}?done=set")


@routes.post(WIDGET + "/remove")
def remove_widget(request: Request, body: Body) -> Response:
    """Answer nobody any more."""
    visitor, form = form_from(request, body)
    require_meant(form)
    visitor.services.keep_widget.remove(visitor.principal)
    return pages.go_to(f"{WIDGET}?done=removed")


def _settings(form: Mapping[str, str]) -> WidgetSettings:
    """Return what a form asks for, over the rest that it has as JSON."""
    values: dict[str, Any] = json_object(form, "rest")
    lines = form.get("origins", "").splitlines()
    values["origins"] = [line.strip() for line in lines if line.strip()]
    for part, names in (("theme", LOOK), ("texts", WORDS)):
        if isinstance(rest := values.get(part, {}), dict):  # else it is refused as what it is
            values[part] = {**cast("dict[str, Any]", rest), **_filled(form, names)}
    values["hand_off"] = _persons(form) if form.get("persons") == "yes" else None
    for name in ("day_usd", "challenge", "site_key", "agent"):
        values[name] = form.get(name, "").strip() or None
    return WidgetSettings.model_validate({k: v for k, v in values.items() if v is not None})


def _filled(form: Mapping[str, str], names: tuple[str, ...]) -> dict[str, str]:
    return {name: text for name in names if (text := form.get(name, "").strip())}


def _persons(form: Mapping[str, str]) -> dict[str, Any]:
    numbers = _filled(form, PERSONS).items()
    return {name: text if number_of(text) is None else number_of(text) for name, text in numbers}


def _of_fields(error: ValidationFailed) -> ValidationFailed:
    """Return an error whose parts are named as the form names them."""
    wrong: list[FieldError] = []
    for each in error.errors:
        whole, _, part = each.location.partition(".")
        name = part if part in FIELDS else whole
        wrong.append(
            FieldError(
                name if name in FIELDS and each.location != "name" else "rest",
                f"{each.location}: {each.message}",
            )
        )
    return ValidationFailed(error.detail, errors=wrong)


def _page(
    request: Request, visitor: Visitor, *, form: Form | None = None, status: int = 200
) -> Response:
    visitor.principal.require(Role.ADMIN)
    try:
        view = visitor.services.keep_widget.show(visitor.principal)
    except NotFound:
        view = None
    values = view.settings.model_dump(mode="json") if view else _NEW
    return shown(
        request,
        visitor,
        "widget.html",
        status=status,
        widget=view,
        values=values,
        rest=pages.as_json(_rest(values)),
        challenges=[each.value for each in ChallengeKind],
        base=str(request.base_url).rstrip("/"),
        form=form or Form(),
        fields=FIELDS,
        done=DONE.get(request.query_params.get("done", ""), ""),
    )


_NEW: Mapping[str, Any] = {
    **WidgetSettings(origins=["https://www.example.org"]).model_dump(mode="json"),
    "origins": [],
    "hand_off": WidgetHandOff().model_dump(),
}
"""What a new widget is until somebody says otherwise: customers have a way to a person."""


def _rest(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return what has no field of its own."""
    others = {name: value for name, value in values.items() if name not in NAMED}
    theme = {name: value for name, value in values["theme"].items() if name not in LOOK}
    texts = {name: value for name, value in values["texts"].items() if name not in WORDS}
    return {**others, "theme": theme, "texts": texts}
