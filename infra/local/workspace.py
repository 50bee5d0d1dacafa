"""The places where the launcher calls the product: migrations, first workspace, search index.

Everything else of the laptop cloud knows Cairn only as an ASGI app and a CDK app.
"""

import json
import urllib.request
from typing import TYPE_CHECKING

from cairn.adapters.postgres.migrate import migrate

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any
    from uuid import UUID

FIRST_WORKSPACE = "laptop"
SECONDS = 30.0


def migrate_database(owner_url: str, app_password: str) -> list[str]:
    """Bring the schema up to date as the owner, and give the functions' role its password."""
    return migrate(owner_url, app_password)


def register_embedding_model(owner_url: str, values: "Mapping[str, str]") -> str:
    """Let the database know the model that the settings name, and return its name."""
    from cairn.bootstrap.owner import register_chosen

    return register_chosen(owner_url, values).name


def create_first_workspace(owner_url: str) -> "tuple[UUID, str]":
    """The id of the laptop's workspace and a new admin key for it; made if it is missing."""
    from cairn.bootstrap.owner import create_workspace

    return create_workspace(owner_url, FIRST_WORKSPACE)


def fill_search_index(app_url: str, opensearch_url: str) -> int:
    """Bring the search index up to the database and return how many nodes that took."""
    from cairn.bootstrap.owner import search_index

    keep = search_index(app_url, opensearch_url)
    return sum(keep.repair(workspace).caught_up for workspace in keep.workspaces())


def first_link(values: "Mapping[str, str]") -> str | None:
    """A link that makes the owner's sign-in where nobody signs in yet; None where somebody does."""
    url = values["CAIRN_URL"]
    first = {"login": "owner", "name": "Owner", "role": "owner"}
    if _people(values, None)["items"]:
        return None
    return url + _people(values, first)["path"]


def _people(values: "Mapping[str, str]", body: "Mapping[str, str] | None") -> "dict[str, Any]":
    headers = {
        "Authorization": f"Bearer {values['CAIRN_API_KEY']}",
        "Content-Type": "application/json",
    }
    content = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(f"{values['CAIRN_URL']}/v1/people", content, headers)
    with urllib.request.urlopen(request, timeout=SECONDS) as response:
        return json.load(response)
