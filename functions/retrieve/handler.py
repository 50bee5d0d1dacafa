"""The retrieve stage: one search for a state machine, by the use case the API serves too."""

from typing import Any
from uuid import UUID

from pydantic import TypeAdapter

from cairn.access.system import system_principal
from cairn.bootstrap.retrieve import retrieve_services
from cairn.retrieval.query import SearchRequest

services = retrieve_services()
request_type = TypeAdapter(SearchRequest)


def handler(event: dict[str, Any], context: object) -> dict[str, Any]:
    """Return results and meta as `POST /v1/search` does; `format: text` gives `text` instead."""
    asked = dict(event)
    principal = system_principal(UUID(asked.pop("workspace_id")))
    request = request_type.validate_python(asked)
    given = services.search(principal, request)
    text = {} if given.text is None else {"text": given.text}
    return {"results": list(given.results), "meta": dict(given.meta)} | text
