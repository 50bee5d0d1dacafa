"""What a connector is told when it starts. It knows nothing of Cairn's settings, keys or databases.

In a process of its own it reads environment variables only: two JSON objects, `CONNECTOR_CONFIG`
and `CONNECTOR_SECRETS`, which the host sets, or one variable a field with the connector's prefix,
such as `ACCOUNTS_DSN`, which people set. The objects win.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar, cast

from pydantic import BaseModel, ConfigDict, SecretStr, ValidationError
from pydantic_settings import BaseSettings, EnvSettingsSource

from cairn.connectors.launching import CONFIG_VARIABLE, SECRETS_VARIABLE
from cairn.kernel.errors import CairnError, FieldError, ValidationFailed

if TYPE_CHECKING:
    from mcp.server.lowlevel import Server

    from cairn.kernel.text.json_value import JsonValue


class ConnectorConfig(BaseModel):
    """The fields of a connector, its secrets among them, masked when printed."""

    model_config = ConfigDict(extra="forbid", frozen=True, hide_input_in_errors=True)

    def secrets(self) -> list[str]:
        """Return the secret values, which no answer may hold."""
        values = (getattr(self, name) for name in type(self).model_fields)
        return [value.get_secret_value() for value in values if isinstance(value, SecretStr)]


Config = TypeVar("Config", bound=ConnectorConfig)
Build = Callable[[Mapping[str, "JsonValue"], Mapping[str, str]], "Server[Any]"]


def configured(
    model: type[Config], config: Mapping[str, JsonValue], secrets: Mapping[str, str]
) -> Config:
    """Return the fields; ValidationFailed names those that are wrong and repeats no value."""
    try:
        return model.model_validate({**config, **secrets})
    except ValidationError as error:
        raise ValidationFailed(
            "The connector cannot work with its settings.",
            reason="connector-settings",
            errors=[_place(item) for item in error.errors(include_url=False, include_input=False)],
        ) from None


def _place(error: Mapping[str, Any]) -> FieldError:
    where = ".".join(str(part) for part in error["loc"])
    return FieldError(where or "config", str(error["msg"]).removeprefix("Value error, "))


def environment() -> Mapping[str, str]:
    """Return the variables of this process."""
    variables = EnvSettingsSource(BaseSettings, case_sensitive=True).env_vars
    return {name: value for name, value in variables.items() if value is not None}


def from_environment(
    model: type[ConnectorConfig], prefix: str
) -> tuple[dict[str, JsonValue], dict[str, str]]:
    """Return the settings and the secrets the environment gives; both go to `configured`."""
    variables = {name.lower(): value for name, value in environment().items()}
    config: dict[str, JsonValue] = {}
    for name in model.model_fields:
        value = variables.get(f"{prefix}{name}".lower())
        if value is not None:
            config[name] = _read(value)
    config |= _object(CONFIG_VARIABLE, variables)
    secrets = _object(SECRETS_VARIABLE, variables)
    return config, {name: str(value) for name, value in secrets.items()}


def _read(text: str) -> JsonValue:
    """Return a variable's value: decoded where it is a list or an object, else the text itself."""
    try:
        return json.loads(text) if text[:1] in {"[", "{"} else text
    except ValueError:
        return text


def _object(variable: str, variables: Mapping[str, str]) -> dict[str, JsonValue]:
    try:
        value = json.loads(variables.get(variable.lower()) or "{}")
    except ValueError:
        value = None
    if not isinstance(value, dict):
        message = "is a JSON object"
        raise ValidationFailed(f"{variable} {message}.", errors=[FieldError(variable, message)])
    return cast("dict[str, JsonValue]", value)


def run(build: Build, model: type[ConnectorConfig], prefix: str) -> None:
    """Serve over standard input and output until the input ends; exit status 2 if it cannot."""
    import anyio

    try:
        server = build(*from_environment(model, prefix))
    except CairnError as error:
        _stop(error)
    anyio.run(_serve, server)


async def _serve(server: Server[Any]) -> None:
    from mcp.server.stdio import stdio_server

    async with stdio_server() as (read, write):
        await server.run(read, write, server.create_initialization_options())


def _stop(error: CairnError) -> NoReturn:
    places = error.errors if isinstance(error, ValidationFailed) else ()
    text = error.detail + "".join(f"\n- {place.location}: {place.message}" for place in places)
    sys.stderr.write(text + "\n")
    raise SystemExit(2)
