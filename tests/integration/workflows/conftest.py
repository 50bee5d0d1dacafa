"""A workspace, its API and the machine of workflows, in this process."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests.support.embedding import HashingEmbedder
from tests.support.front import Cloud, Front, environment, stand_in_for_aws
from tests.support.workflows import Machine, embed_by_hashing
from tests.support.world import World, open_world

from cairn.kernel.ids import new_id

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.plugins.postgres import Database


@pytest.fixture
def cloud(database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Cloud:
    for name, value in environment(database.app_url, tmp_path).items():
        monkeypatch.setenv(name, value)
    cloud = Cloud()
    stand_in_for_aws(monkeypatch, cloud)
    embed_by_hashing(monkeypatch)
    return cloud


@pytest.fixture
def world(database: Database) -> Iterator[World]:
    world = open_world(database.owner_url, database.app_url, f"flows {new_id()}")
    yield world
    world.pool.close()


@pytest.fixture
def front(cloud: Cloud, world: World) -> Front:
    return Front(world.key, embedder=HashingEmbedder())


@pytest.fixture
def machine(cloud: Cloud) -> Machine:
    return Machine(cloud)
