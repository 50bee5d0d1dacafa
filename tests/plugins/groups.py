"""Which tests run in one process when there are several: a file's, and all that share a service.

What takes longest begins first, so that no process is left alone with it at the end.
"""

from collections import defaultdict

import pytest

SERVICES = {
    "laptop": "stack",
    "opensearch_node": "opensearch",
    "local": "templates",
    "prod": "templates",
    "cloud": "emulator",
}
"""Fixtures of a session that take long to make, and the group of the files that ask for them.

A file that asks while its tests run, by `getfixturevalue`, marks itself.
"""
FIRST = {group: rank for rank, group in enumerate(dict.fromkeys(SERVICES.values()))}


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    fixtures: dict[str, set[str]] = defaultdict(set)
    for item in items:
        fixtures[file_of(item)] |= set(getattr(item, "fixturenames", ()))
    for item in items:
        if not item.get_closest_marker("xdist_group"):
            group = group_of(file_of(item), fixtures[file_of(item)])
            item.add_marker(pytest.mark.xdist_group(group))
    items.sort(key=lambda item: FIRST.get(marked(item), len(FIRST)))


def file_of(item: pytest.Item) -> str:
    return item.nodeid.partition("::")[0]


def group_of(file: str, fixtures: set[str]) -> str:
    """The group of the first service that a file asks for; a file without one is its own."""
    return next((group for name, group in SERVICES.items() if name in fixtures), file)


def marked(item: pytest.Item) -> str:
    mark = item.get_closest_marker("xdist_group")
    return str(mark.args[0]) if mark else ""
