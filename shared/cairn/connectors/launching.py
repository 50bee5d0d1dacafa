"""What a child process is started with. Nothing of ours goes along: no credentials, no settings.

Secrets go by environment, never by argument: arguments stand in everybody's process listing.
"""

from __future__ import annotations

import json
import os
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import unquote, urlsplit

from cairn.kernel.errors import ValidationFailed
from cairn.oauth_client.client import SECRET as CLIENT_SECRET
from cairn.oauth_client.client import SETTING as OAUTH

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from cairn.connectors.connector import Launch


BUNDLED = {
    "accounts": "cairn.bundled.accounts",
    "github-issues": "cairn.bundled.github_issues",
    "http": "cairn.bundled.http",
    "postgres": "cairn.bundled.postgres",
    "zoho-desk": "cairn.bundled.zoho_desk",
}

CONFIG_VARIABLE = "CONNECTOR_CONFIG"
SECRETS_VARIABLE = "CONNECTOR_SECRETS"

LEADING_OUT = frozenset({"github-issues", "http", "zoho-desk"})
"""Those that ask addresses they are given; where these may lead is not the workspace's to say."""

ALLOW_PRIVATE = "allow_private"
"""Their setting that lets addresses lead into this network; the host has the last word on it."""


INHERITED = frozenset({"PATH", "LANG", "LC_ALL", "LC_CTYPE", "LD_LIBRARY_PATH", "TZ"})
"""Lambda's Python finds its own libraries by LD_LIBRARY_PATH."""
VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,99}")
OURS = ("AWS_", "CAIRN_", "CONNECTOR_", "LAMBDA_", "_LAMBDA", "_X_AMZN")


def is_ours(variable: str) -> bool:
    """Return whether a variable is one that no child gets from us, nor names for itself."""
    return variable.upper().startswith(OURS)


def command_of(launch: Launch) -> list[str]:
    """Return the command line: a bundled connector's module, or what was registered."""
    if launch.builtin is None:
        return list(launch.command)
    if launch.builtin not in BUNDLED:
        raise ValidationFailed("There is no such bundled connector.", builtin=launch.builtin)
    return [sys.executable, "-P", "-m", BUNDLED[launch.builtin]]


def environment_of(
    launch: Launch, inherited: Mapping[str, str], path: Iterable[str] = ()
) -> dict[str, str]:
    """Return the whole environment of a child.

    `inherited` is this process's, of which `INHERITED` goes along; `path` is where a bundled
    connector finds its modules.
    """
    environment = {name: inherited[name] for name in sorted(INHERITED & inherited.keys())}
    if launch.builtin is not None:
        return environment | {
            "PYTHONPATH": os.pathsep.join(name for name in path if name and Path(name).exists()),
            "PYTHONDONTWRITEBYTECODE": "1",
            CONFIG_VARIABLE: json.dumps(dict(launch.config)),
            SECRETS_VARIABLE: json.dumps(dict(launch.secrets)),
        }
    variables = cast("dict[str, Any]", launch.config.get("env") or {})
    values = {name: str(value) for name, value in variables.items()} | dict(launch.secrets)
    return environment | {name: value for name, value in values.items() if not is_ours(name)}


def headers_of(launch: Launch) -> dict[str, str]:
    """Return the headers that requests to an address carry."""
    fields = cast("dict[str, Any]", launch.config.get("headers") or {})
    secrets = dict(launch.secrets)
    if OAUTH in launch.config:
        secrets.pop(CLIENT_SECRET, None)  # for the authorization server alone
    return {name: str(value) for name, value in fields.items()} | secrets


def said_secrets(launch: Launch) -> list[str]:
    """Return what of the secrets must not be shown: values, and the passwords inside addresses.

    Of headers the last word, too: what follows `Bearer`.
    """
    secrets = list(launch.secrets.values())
    if launch.url is not None:
        secrets += [value.rpartition(" ")[2] for value in launch.secrets.values()]
    for value in launch.secrets.values():
        try:
            password = urlsplit(value).password
        except ValueError:
            password = None
        if password:
            secrets += [password, unquote(password)]
    return secrets
