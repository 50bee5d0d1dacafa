"""The settings of a workspace: show and patch them. An admin's routes."""

import re
from typing import Annotated, Any

from fastapi import Header, Response
from pydantic import ConfigDict, Field

from cairn.api.answers import answer
from cairn.api.dependencies import Admin, Services
from cairn.api.documentation import answers, problems
from cairn.api.fields import Body
from cairn.api.routing import router
from cairn.kernel.errors import FieldError, ValidationFailed
from cairn.workspace.change import SettingsView
from cairn.workspace.settings import WorkspaceSettings

routes = router("settings")

_ETAG = re.compile(r'(?:W/)?"?(\d{1,15})"?')


class SettingsIn(Body):
    """A JSON merge patch (RFC 7396) by section; null resets. See docs/use/settings.md.

    With `version` it is refused when the settings have changed since that version.
    """

    model_config = ConfigDict(
        extra="allow",
        json_schema_extra={
            "properties": {
                "version": {"type": "integer"},
                **{
                    name: {"type": ["object", "null"], "description": field.annotation.__doc__}
                    for name, field in WorkspaceSettings.model_fields.items()
                    if field.annotation
                },
            },
            "examples": [{"version": 3, "recall": {"rrf_k": 40, "decay_factor": None}}],
        },
    )

    version: Annotated[int, Field(ge=0)] | None = None

    @property
    def patch(self) -> dict[str, Any]:
        """Return the patch itself."""
        return dict(self.model_extra or {})


@routes.get(
    "/v1/settings",
    summary="Show the settings",
    response_model=None,
    responses={**answers(200, "All settings as they hold", SettingsView), **problems()},
)
def get_settings(caller: Admin, services: Services) -> Response:
    """Show every setting of the workspace, and where its value is from."""
    return _shown(services.keep_settings.show(caller))


@routes.patch(
    "/v1/settings",
    summary="Change the settings",
    response_model=None,
    responses={
        **answers(200, "They hold from now on", SettingsView),
        **problems("conflict", body=True),
    },
)
def change_settings(
    body: SettingsIn,
    caller: Admin,
    services: Services,
    if_match: Annotated[
        str | None, Header(description="The version that is changed; 409 when it is another.")
    ] = None,
) -> Response:
    """Change what is named, reset what is null, and leave the rest. Holds within a second."""
    expected = body.version if if_match is None else _version(if_match)
    return _shown(services.keep_settings.change(caller, body.patch, expected=expected))


def _version(etag: str) -> int | None:
    if etag.strip() == "*":
        return None
    match = _ETAG.fullmatch(etag.strip())
    if match is None:
        detail = "If-Match is the version of the settings."
        errors = [FieldError("header.if-match", detail)]
        raise ValidationFailed(detail, reason="if-match", errors=errors)
    return int(match[1])


def _shown(view: SettingsView) -> Response:
    shown = answer(
        {
            "version": view.version,
            "settings": view.settings,
            "sources": view.sources,
            "workspace": view.workspace,
            "ignored": list(view.ignored),
        }
    )
    shown.headers["etag"] = f'"{view.version}"'
    return shown
