"""The connectors that come with Cairn: how they are named and started. Not what they do.

A bundled connector is a module `cairn.bundled.<module>` with

    def server(config: Mapping[str, JsonValue], secrets: Mapping[str, str]) -> Server

which raises ValidationFailed for settings it cannot work with, and which runs over stdio as
`python -m cairn.bundled.<module>`, reading both as JSON objects from the two variables below.
It knows nothing of Cairn's settings, keys or databases.
"""

from __future__ import annotations

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
