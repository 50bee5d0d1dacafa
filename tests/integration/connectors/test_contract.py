"""Every connector that ships keeps the contract, in this process and as a process of its own."""

from __future__ import annotations

import json
import sys
from contextlib import ExitStack
from dataclasses import dataclass, field
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib import import_module
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING, Any

import pytest
from mcp import StdioServerParameters
from tests.support.connecting import customer_database
from tests.support.github_replay import TOKEN, github_replay
from tests.support.zoho_replay import (
    CLIENT_ID,
    CLIENT_SECRET,
    ORGANISATION,
    REFRESH_TOKEN,
    zoho_replay,
)

import cairn
from cairn.bundled.contract import Call, Samples, WriteSample
from cairn.bundled.examination import NAMES, Status, examine
from cairn.connectors.launching import BUNDLED

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from tests.plugins.postgres import Server

SHIPPED = Path(cairn.__file__).parent / "bundled"


@dataclass(frozen=True, kw_only=True)
class Ready:
    """A connector with settings that work, and the samples it is asked with."""

    config: Mapping[str, Any]
    secrets: Mapping[str, str]
    samples: Samples = field(default_factory=Samples)


class Large(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        body = b"x" * 200_000 if self.path == "/large" else b'{"fine": true}'
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *arguments: object) -> None:
        pass


@pytest.fixture(scope="module")
def ready(postgres_cluster: Server) -> Iterator[Mapping[str, Ready]]:
    with ExitStack() as stack:
        customer = stack.enter_context(customer_database(postgres_cluster))
        zoho = stack.enter_context(zoho_replay())
        github = stack.enter_context(github_replay())
        with customer.connect() as connection:
            connection.execute(MANY_USERS.encode())
        zoho.add_ticket("Another", contact=zoho.add_contact("b@pier.example", "Bo"))
        zoho.now = github.now = datetime.now(UTC)
        http = stack.enter_context(ThreadingHTTPServer(("127.0.0.1", 0), Large))
        Thread(target=http.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
        stack.callback(http.shutdown)
        ticket = zoho.add_ticket("Broken", contact=zoho.add_contact("a@pier.example", "Ana"))["id"]
        for number in range(30):
            github.add_issue(f"issue {number}", "y" * 9_000)
        github.add_issue("long", "z" * 200_000)
        where = f"http://127.0.0.1:{http.server_address[1]}"
        yield {
            "accounts": accounts(customer.dsn),
            "postgres": Ready(
                config={"schemas": ["accounts"]},
                secrets={"dsn": customer.dsn},
                samples=Samples(large=call("query", sql=LARGE, max_rows=5_000)),
            ),
            "http": Ready(
                config={
                    "allow_private": True,
                    "rules": [{"url": f"{where}/*", "methods": ["GET", "POST"]}],
                },
                secrets={},
                samples=Samples(large=call("get", url=f"{where}/large")),
            ),
            "github-issues": Ready(
                config={
                    "owner": "harbourlane",
                    "repository": "booking",
                    "api_url": github.url,
                    "allow_private": True,
                },
                secrets={"token": TOKEN},
                samples=Samples(
                    large=call("get_issue", number=31),
                    writes=[
                        wrote("comment", "get_issue", {"number": 1}, body="hello"),
                        wrote("close", "get_issue", {"number": 2}),
                        wrote("add_label", "get_issue", {"number": 3}, label="bug"),
                    ],
                ),
            ),
            "zoho-desk": zoho_desk(zoho.desk_url, zoho.url, ticket),
        }


MANY_USERS = """
INSERT INTO accounts.users (id, email, name, status)
SELECT 'n-' || n, 'n' || n || '@harbourlane.example', 'Nat Numbered ' || n, 'active'
FROM generate_series(1, 30) AS n
"""
LARGE = "SELECT repeat('word ', 100) AS words FROM generate_series(1, 5000)"


def call(tool: str, **arguments: Any) -> Call:
    return Call(tool=tool, arguments=arguments)


def wrote(tool: str, shown_by: str, on: Mapping[str, Any], **more: Any) -> WriteSample:
    return WriteSample(
        write=Call(tool=tool, arguments={**on, **more}),
        shown_by=Call(tool=shown_by, arguments=on),
    )


def accounts(dsn: str) -> Ready:
    user = {"user_id": "u-1001"}
    return Ready(
        config={},
        secrets={"dsn": dsn},
        samples=Samples(
            large=call("find_user", name="a"),
            writes=[
                wrote("unlock_user", "find_user", user),
                wrote("lock_user", "find_user", user, reason="again"),
                wrote("reset_password", "find_user", user),
                wrote("delete_user", "find_user", {"user_id": "u-1008"}),
            ],
        ),
    )


def zoho_desk(desk_url: str, accounts_url: str, ticket: str) -> Ready:
    on = {"ticket_id": ticket}
    return Ready(
        config={
            "organisation_id": ORGANISATION,
            "client_id": CLIENT_ID,
            "from_address": "support@harbourlane.example",
            "desk_url": desk_url,
            "accounts_url": accounts_url,
            "allow_private": True,
        },
        secrets={"client_secret": CLIENT_SECRET, "refresh_token": REFRESH_TOKEN},
        samples=Samples(
            large=call("list_tickets", limit=1),
            writes=[
                wrote("reply", "get_ticket", on, content="Hello"),
                wrote("private_comment", "get_ticket", on, content="Looked at it"),
                wrote("update_status", "get_ticket", on, status="Closed"),
            ],
        ),
    )


def test_every_connector_that_ships_is_examined(ready: Mapping[str, Ready]) -> None:
    assert set(ready) == set(BUNDLED)
    for module in BUNDLED.values():
        assert (SHIPPED / f"{module.rpartition('.')[2]}.py").exists()


def kept(checks: Any) -> dict[str, str]:
    return {
        check.name: f"{check.status.value}: {check.detail}"
        for check in checks
        if check.status is Status.FAILED
    }


@pytest.mark.parametrize("name", sorted(BUNDLED))
def test_a_connector_in_this_process_keeps_the_contract(
    ready: Mapping[str, Ready], name: str
) -> None:
    given = ready[name]
    server = import_module(BUNDLED[name]).server(given.config, given.secrets)
    checks = examine(server, given.samples)
    assert [check.name for check in checks] == list(NAMES)
    assert not kept(checks)
    skipped = {check.name for check in checks if check.status is Status.SKIPPED}
    assert skipped <= {"idempotency"}
    assert ("idempotency" in skipped) == (name in {"http", "postgres"})


@pytest.mark.parametrize("name", sorted(BUNDLED))
def test_a_connector_as_a_process_keeps_the_contract(ready: Mapping[str, Ready], name: str) -> None:
    given = ready[name]
    command = StdioServerParameters(
        command=sys.executable,
        args=["-m", BUNDLED[name]],
        env={
            "PYTHONPATH": str(SHIPPED.parents[1]),
            "CONNECTOR_CONFIG": json.dumps(given.config),
            "CONNECTOR_SECRETS": json.dumps(given.secrets),
        },
    )
    samples = Samples(large=given.samples.large)
    assert not kept(examine(command, samples, initialize_seconds=30))
