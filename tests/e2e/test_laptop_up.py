"""The whole stack comes up, is found running again, and mends what broke."""

import socket
import urllib.request
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

import psycopg
import pytest
from infra.local import state
from infra.local.environment import read_env_file
from tests.e2e.tenant import open_workspace

if TYPE_CHECKING:
    from tests.plugins.laptop import Laptop


def status_of(url: str, headers: dict[str, str] | None = None) -> int:
    request = urllib.request.Request(url, headers=headers or {})
    with urllib.request.urlopen(request, timeout=30) as response:
        return response.status


def pids(laptop: "Laptop") -> dict[str, int]:
    services = laptop.stack.status()["services"]
    return {name: service["pid"] for name, service in services.items()}


def test_everything_runs_and_every_stack_is_complete(laptop: "Laptop") -> None:
    status = laptop.stack.status()
    assert status["state"] == "running"
    assert {name for name in status["stacks"] if name.startswith("cairn-local-")}
    assert {state.split("_")[1] for state in status["stacks"].values()} == {"COMPLETE"}


def test_the_env_file_holds_what_a_user_needs_and_is_private(laptop: "Laptop") -> None:
    path = laptop.stack.layout.env_file
    values = read_env_file(path)
    assert path.stat().st_mode & 0o777 == 0o600
    assert values["CAIRN_API_KEY"].startswith("cairn_")
    assert values == laptop.env


def test_the_api_answers_on_uvicorn_and_through_the_gateway(laptop: "Laptop") -> None:
    assert status_of(f"{laptop.url}/healthz") == 200
    assert status_of(f"{laptop.gateway_url}/healthz") == 200
    assert status_of(f"{laptop.url}/v1/whoami", laptop.headers) == 200
    assert status_of(f"{laptop.gateway_url}/v1/whoami", laptop.headers) == 200


def test_the_functions_role_owns_nothing(laptop: "Laptop") -> None:
    query = "SELECT count(*) FROM pg_class WHERE relowner = current_user::regrole"
    with psycopg.connect(laptop.env["CAIRN_APP_DATABASE_URL"]) as connection:
        assert connection.execute(query).fetchone() == (0,)


def test_a_second_up_starts_nothing_and_keeps_the_key(laptop: "Laptop") -> None:
    before = pids(laptop)
    assert laptop.stack.up() == laptop.env
    assert pids(laptop) == before


def test_up_after_kills_brings_back_the_database_and_what_was_deployed(laptop: "Laptop") -> None:
    emulator = laptop.stack.emulator(laptop.stack.saved()).daemon.process()
    assert emulator is not None
    emulator.kill()
    laptop.kill_postgres()
    assert laptop.stack.status()["services"]["postgres"]["state"] == "died"
    assert laptop.stack.up() == laptop.env
    assert status_of(f"{laptop.gateway_url}/v1/whoami", laptop.headers) == 200


@contextmanager
def taken(*ports: int) -> Iterator[None]:
    """Another program listens on these ports."""
    with ExitStack() as strangers:
        for port in ports:
            stranger = strangers.enter_context(socket.socket())
            stranger.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            stranger.bind(("127.0.0.1", port))
            stranger.listen()
        yield


def test_a_stack_whose_ports_were_taken_moves_and_still_embeds(laptop: "Laptop") -> None:
    before = laptop.stack.saved()
    laptop.stack.down()
    with taken(before.api_port, before.emulator_port):
        moved = laptop.stack.up()
        workspace = replace(open_workspace(laptop, "moved"), base=moved["CAIRN_URL"])
        for name in ("CAIRN_URL", "AWS_ENDPOINT_URL", "CAIRN_EMBED_QUEUE_URL"):
            assert moved[name] != laptop.env[name]
        workspace.tell("The staging database listens on port 6432.")
        workspace.all_embedded()
        replace(workspace, base=moved["CAIRN_GATEWAY_URL"]).tell("The vineyard has a new press.")
        workspace.all_embedded()
    laptop.stack.down()
    ports = {"api_port": before.api_port, "emulator_port": before.emulator_port}
    state.save(laptop.stack.layout, replace(laptop.stack.saved(), **ports))
    assert laptop.stack.up() == laptop.env


@pytest.mark.parametrize("name", ["postgres", "aws", "api"])
def test_every_service_writes_its_log(laptop: "Laptop", name: str) -> None:
    assert list(laptop.stack.logs(name, lines=5))
