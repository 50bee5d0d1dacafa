"""A workspace of its own on the running stack, spoken to over HTTP as any client would."""

# pyright: basic

import json
import secrets
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from uuid import UUID

import httpx
import psycopg
from tests.plugins.waiting import eventually
from tests.support.openapi import holds

from cairn.bootstrap.owner import create_workspace

if TYPE_CHECKING:
    from tests.plugins.laptop import Laptop

TIMEOUT = 60.0
PROBLEM = "application/problem+json"


@dataclass(frozen=True, kw_only=True)
class Tenant:
    """One workspace with its admin key. `base` is uvicorn's URL or the gateway's."""

    laptop: "Laptop"
    id: UUID
    key: str = field(repr=False)
    base: str

    def call(self, method: str, path: str, *, key: str | None = None, **given: Any) -> Any:
        """Send a request with the admin's key, or another one, and return the response."""
        headers = {"authorization": f"Bearer {key or self.key}", **given.pop("headers", {})}
        url = f"{self.base}{path}"
        return holds(httpx.request(method, url, headers=headers, timeout=TIMEOUT, **given))

    def get(self, path: str, **params: Any) -> Any:
        """Return the JSON of a GET that must succeed."""
        return good(self.call("GET", path, params=params))

    def post(self, path: str, body: Any, **given: Any) -> Any:
        """Return the JSON of a POST that must succeed."""
        return good(self.call("POST", path, json=body, **given))

    def delete(self, path: str) -> Any:
        """Return the JSON of a DELETE that must succeed."""
        return good(self.call("DELETE", path))

    def remember(self, *items: dict[str, Any]) -> list[dict[str, Any]]:
        """Remember a batch and return its results in order."""
        return self.post("/v1/memories", {"items": list(items)})["results"]

    def tell(self, text: str, **more: Any) -> dict[str, Any]:
        """Remember one memory."""
        return self.post("/v1/memories", {"text": text, "type": "event", **more})

    def search(self, query: str, **more: Any) -> dict[str, Any]:
        """Search and return the whole answer."""
        return self.post("/v1/search", {"query": query, **more})

    def found(self, query: str, **more: Any) -> list[dict[str, Any]]:
        """Return the results of a search."""
        return self.search(query, **more)["results"]

    def texts(self, query: str, **more: Any) -> list[str]:
        """Return the texts of a search's results."""
        return [each["text"] for each in self.found(query, **more)]

    def ingest(self, source_uri: str, **document: Any) -> dict[str, Any]:
        """Hand a document in; the machine runs on."""
        return self.post("/v1/documents", {"source_uri": source_uri, **document})

    def ended(self, ingestion_id: str, *, seconds: float = 120.0) -> dict[str, Any]:
        """Wait until an ingestion is ready or failed and return it."""

        def ask() -> dict[str, Any] | None:
            seen = self.get(f"/v1/ingestions/{ingestion_id}")
            return seen if seen["status"] in ("ready", "failed") else None

        return eventually(ask, seconds=seconds, what="the end of the ingestion")  # pyright: ignore

    def ready(self, source_uri: str, **document: Any) -> str:
        """Ingest a document, wait until it is ready, and return its id."""
        accepted = self.ingest(source_uri, **document)
        ended = self.ended(accepted["ingestion_id"])
        assert ended["status"] == "ready", ended
        return accepted["document_id"]

    def all_embedded(self, *, seconds: float = 120.0) -> None:
        """Wait until nothing in the workspace waits for its vector."""
        eventually(self._nothing_pending, seconds=seconds, what="the embedding")

    def taken_up(self, ticket_id: str, *, seconds: float = 120.0) -> dict[str, Any]:
        """Wait until a ticket has been screened and return it."""

        def ask() -> dict[str, Any] | None:
            seen = self.get(f"/v1/tickets/{ticket_id}")
            return None if seen["status"] == "new" else seen

        return eventually(ask, seconds=seconds, what="the screening of the ticket")  # pyright: ignore

    def _nothing_pending(self) -> bool:
        return self.get("/v1/status")["pending_embeddings"] == 0

    def new_key(self, role: str, **more: Any) -> str:
        """Make a key and return its text; an agent's key that has no agent is a person's."""
        person = role == "agent" and not more.keys() & {"agent", "agent_slug"}
        asked = {"name": f"a {role} key", "role": role, "person": person, **more}
        return self.post("/v1/keys", asked)["secret"]

    def through_gateway(self) -> "Tenant":
        """Return the same workspace through API Gateway and Lambda."""
        return Tenant(laptop=self.laptop, id=self.id, key=self.key, base=self.laptop.gateway_url)

    def chain_holds(self) -> bool:
        """Return whether the workspace's ledger verifies."""
        return self.get("/v1/ledger/verify")["ok"]

    def rows(self, query: str) -> list[tuple[Any, ...]]:
        """Run a query as a superuser; `%(id)s` is the workspace."""
        with superuser(self.laptop) as connection:
            return connection.execute(query.encode(), {"id": self.id}).fetchall()


def open_workspace(laptop: "Laptop", about: str) -> Tenant:
    """Make a new workspace with an admin key."""
    name = f"{about} {secrets.token_hex(4)}"
    workspace_id, key = create_workspace(laptop.env["CAIRN_DATABASE_URL"], name)
    return Tenant(laptop=laptop, id=workspace_id, key=key, base=laptop.url)


@contextmanager
def superuser(laptop: "Laptop") -> Iterator[psycopg.Connection[Any]]:
    """What an intruder with the disk could do; Cairn itself never has this."""
    with laptop.stack.cluster(laptop.stack.saved()).connect("cairn") as connection:
        connection.autocommit = True
        yield connection


def good(response: httpx.Response) -> Any:
    """Return the JSON of a success, and fail with the whole problem otherwise."""
    assert response.is_success, f"{response.status_code} {response.text}"
    return response.json()


def refused(response: httpx.Response, status: int, code: str | None = None) -> dict[str, Any]:
    """Check that a response is a problem of this status and return the problem."""
    assert response.status_code == status, f"{response.status_code} {response.text[:500]}"
    assert response.headers["content-type"].startswith(PROBLEM)
    problem = json.loads(response.text)
    assert problem["status"] == status
    assert problem["type"].startswith("urn:cairn:error:")
    assert problem["instance"] == response.headers["x-request-id"]
    if code is not None:
        assert problem["type"] == f"urn:cairn:error:{code}"
    return problem


def at_once(calls: Sequence[Callable[[], httpx.Response]]) -> list[httpx.Response]:
    """Run the calls from as many threads, started together, and return their responses in order."""
    from concurrent.futures import ThreadPoolExecutor
    from threading import Barrier

    start = Barrier(len(calls))

    def run(call: Callable[[], httpx.Response]) -> httpx.Response:
        start.wait(timeout=30)
        return call()

    with ThreadPoolExecutor(len(calls)) as threads:
        return list(threads.map(run, calls))
