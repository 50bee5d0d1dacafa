"""The page of settings: what each is, where its value is from, and changing it.

What is wrong with a value stands beside it. Nothing is changed that somebody else changed first.
"""

import json
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, cast

from fastapi import APIRouter, Request, Response

from cairn.api.console import pages
from cairn.api.console.forms import Form, refused_form
from cairn.api.console.guard import Visitor, form_from
from cairn.api.console.routes import Body, ConsoleRoute, Reader, shown
from cairn.kernel.errors import Conflict, NotFound, ValidationFailed
from cairn.workspace.change import SettingsView

SETTINGS = "/console/settings"
DONE = {"set": "The change holds within a second.", "reset": "It is as the deployment has it."}

routes = APIRouter(route_class=ConsoleRoute, include_in_schema=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """One setting: its value as somebody would type it, and where that is from."""

    path: str
    allowed: str
    meaning: str
    text: str
    source: str


@routes.get(SETTINGS)
def show_settings(request: Request, visitor: Reader) -> Response:
    """Show every setting."""
    return _page(request, visitor, done=DONE.get(request.query_params.get("done", ""), ""))


@routes.post(SETTINGS)
def change_setting(request: Request, body: Body) -> Response:
    """Set one setting or reset it, in the version that its sender has seen."""
    visitor, form = form_from(request, body)
    path, resets = form.get("setting", ""), "reset" in form
    if path not in meanings():
        raise NotFound("There is no such setting.")
    try:
        value = None if resets else _value(path, form.get("value", ""))
        visitor.services.keep_settings.change(
            visitor.principal, _patch(path, value), expected=_version(form)
        )
    except (Conflict, ValidationFailed) as error:
        status = 409 if isinstance(error, Conflict) else 422
        refused = refused_form(form, error, path)
        return _page(request, visitor, path=path, form=refused, status=status)
    return pages.go_to(f"{SETTINGS}?done={'reset' if resets else 'set'}")


@cache
def meanings() -> Mapping[str, Mapping[str, str]]:
    """Return what each setting is and which values it takes, by path."""
    return tomllib.loads((Path(__file__).parent / "settings.toml").read_text("utf-8"))


def _value(path: str, text: str) -> Any:
    """Return what somebody typed: JSON, or a plain word as the command takes it."""
    try:
        value: Any = json.loads(text)
    except (ValueError, RecursionError):
        value = text
    if value is None or value == "":
        raise ValidationFailed(f"{path} is empty: reset it instead.")
    return value


def _patch(path: str, value: Any) -> dict[str, Any]:
    patch: Any = value
    for name in reversed(path.split(".")):
        patch = {name: patch}
    return cast("dict[str, Any]", patch)


def _version(form: Mapping[str, str]) -> int | None:
    text = form.get("version", "")
    if not (text.isascii() and text.isdigit() and len(text) <= 15):
        raise ValidationFailed("version is no version of the settings.")
    return int(text)


def _settings(view: SettingsView) -> list[Setting]:
    return [
        Setting(
            path=path,
            allowed=row["value"],
            meaning=row["meaning"],
            text=_text(_at(view.settings, path)),
            source=_source(view.sources, path),
        )
        for path, row in meanings().items()
    ]


def _at(values: Mapping[str, Any], path: str) -> Any:
    value: Any = values
    for name in path.split("."):
        value = cast("Mapping[str, Any]", value).get(name) if isinstance(value, Mapping) else None
    return value


def _text(value: Any) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _source(sources: Mapping[str, str], path: str) -> str:
    """Return where a value is from: for a table, the nearest of where its parts are from."""
    parts = {
        source
        for name, source in sources.items()
        if name == path or name.startswith(f"{path}.") or path.startswith(f"{name}.")
    }
    return next((each for each in ("workspace", "environment") if each in parts), "default")


def _page(
    request: Request,
    visitor: Visitor,
    *,
    done: str = "",
    path: str = "",
    form: Form | None = None,
    status: int = 200,
) -> Response:
    view = visitor.services.keep_settings.show(visitor.principal)
    values: dict[str, Any] = {
        "settings": _settings(view),
        "view": view,
        "path": path,
        "form": form or Form(),
        "done": done,
    }
    return shown(request, visitor, "settings.html", status=status, **values)
