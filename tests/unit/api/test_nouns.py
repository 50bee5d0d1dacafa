"""Every route is found by the noun its path begins with, and is read with its first request."""

import subprocess
import sys
from importlib import import_module
from pkgutil import iter_modules, walk_packages

from tests.unit.api.fakes import Client, World

import cairn.api.console
import cairn.api.routes
from cairn.api.nouns import CONSOLE, NOUNS, ROUTES


def test_the_table_names_the_modules_of_every_path() -> None:
    found: dict[str, set[str]] = {}
    names = [f"{ROUTES}.{each.name}" for each in iter_modules(cairn.api.routes.__path__)]
    names += [each.name for each in walk_packages(cairn.api.console.__path__, f"{CONSOLE}.")]
    with_routes = [name for name in names if hasattr(import_module(name), "routes")]
    for name in [*with_routes, "cairn.api.mcp.endpoint", "cairn.api.scim.routes"]:
        for route in import_module(name).routes.routes:
            parts = [part for part in route.path.split("/") if part]
            noun = parts[1] if parts[:1] == ["v1"] else "".join(parts[:1])
            found.setdefault(noun, set()).add(name)
    assert {noun: set(modules) for noun, modules in NOUNS.items()} == found


def test_a_noun_is_there_with_its_first_request_and_once() -> None:
    client = Client(World())
    for _ in range(2):
        assert client.get("/v1/whoami").status_code == 200
    assert client.request("DELETE", "/v1/whoami").status_code == 405
    paths = [getattr(route, "path", "") for route in client.app.routes]
    assert paths.count("/v1/whoami") <= 1
    assert "/v1/memories" not in paths


def test_a_path_without_a_noun_is_not_found() -> None:
    for path in ("/v1", "/v1/", "/v2/memories", "/v1/nosuch", "//v1//memories//"):
        assert Client(World()).get(path).status_code in (404, 401, 405), path


def test_building_the_app_reads_no_routes() -> None:
    code = (
        "import sys, cairn.api.app; "
        "print([name for name in sys.modules if name.startswith('cairn.api.routes.')])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
