"""The graph's page over the real database: around a node, by relation, label and time."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from tests.integration.console import test_memories
from tests.integration.console.test_memories import HOSTILE, position
from tests.support.console import signed_in
from tests.support.world import open_world

from cairn.kernel.access import PersonRole
from cairn.kernel.ids import new_id

if TYPE_CHECKING:
    from tests.integration.storage.test_console import Deployed
    from tests.plugins.postgres import Database

deployed = test_memories.deployed
PAGE = "/console/graph"


def write(deployed: Deployed, name: str, *edges: tuple[str, str]) -> str:
    """Write a node with edges to others, each a relation and an id; return its id."""
    body = {
        "label": "Service",
        "properties": {"name": name},
        "edges": [{"relation": relation, "to": to} for relation, to in edges],
    }
    return str(deployed.front.call("POST", "/v1/nodes", json=body)["id"])


def listed(page: str) -> list[str]:
    return re.findall(r'data-node="([0-9a-f-]+)"', page)


def test_what_lies_around_a_node_is_listed_and_given_to_the_drawing(deployed: Deployed) -> None:
    reader = deployed.person(f"walks-{new_id()}", PersonRole.READER)
    store = write(deployed, f"Store {HOSTILE}")
    mail = write(deployed, "Mail")
    shop = write(deployed, "Shop", ("DEPENDS_ON", store), ("USES", mail))
    page = reader.get(f"{PAGE}?node={shop}").text
    assert set(listed(page)) == {store, mail}
    assert "depends on to <a" in page
    assert "<b onclick" not in page
    assert "&lt;script&gt;" in page
    path = re.search(r'data-from="([^"]+)"', page)
    assert path is not None
    data = reader.get(path[1].replace("&amp;", "&")).json()
    assert data["focus"] == shop
    assert {each["id"] for each in data["nodes"]} == {shop, store, mail}
    relations = {(each["from"], each["relation"], each["to"]) for each in data["edges"]}
    assert relations == {(shop, "DEPENDS_ON", store), (shop, "USES", mail)}
    assert HOSTILE in next(each["text"] for each in data["nodes"] if each["id"] == store)
    assert f"cairn graph query --node {shop}" in page
    assert "uses from <a" in reader.get(f"{PAGE}?node={mail}").text


def test_a_walk_is_narrowed_by_relation_label_steps_and_time(deployed: Deployed) -> None:
    reader = deployed.person(f"narrow-{new_id()}", PersonRole.READER)
    disk = write(deployed, "Disk")
    store = write(deployed, "Store", ("USES", disk))
    before = position(deployed)
    shop = write(deployed, "Shop", ("DEPENDS_ON", store))
    assert set(listed(reader.get(f"{PAGE}?node={store}").text)) == {disk, shop}
    assert listed(reader.get(f"{PAGE}?node={store}&relation=USES").text)[:1] == [disk]
    assert shop not in listed(reader.get(f"{PAGE}?node={store}&relation=USES").text)
    assert disk not in listed(reader.get(f"{PAGE}?node={shop}").text)
    assert disk in listed(reader.get(f"{PAGE}?node={shop}&depth=2").text)
    assert listed(reader.get(f"{PAGE}?node={store}&label=Memory").text) == []
    past = reader.get(f"{PAGE}?node={store}&as_of={before}").text
    assert f"This is what stood at entry {before}" in past
    assert set(listed(past)) == {disk}
    assert f"as_of={before}" in past.split('data-from="')[1].split('"')[0]
    assert "was not there then" in reader.get(f"{PAGE}?node={shop}&as_of={before}").text
    for wrong in ("relation=LIKES", "depth=9", "most=2000", "label=memory%21", "as_of=then"):
        assert reader.get(f"{PAGE}?node={store}&{wrong}").status_code == 422, wrong
    assert reader.get(f"{PAGE}?node=no-id").status_code == 404
    assert reader.get(f"{PAGE}/data?node=no-id").status_code == 404
    assert "There is no such node" in reader.get(f"{PAGE}?node={new_id()}").text


def test_who_has_no_node_yet_starts_from_a_name_or_learns_where_names_come_from(
    deployed: Deployed,
) -> None:
    reader = deployed.person(f"starts-{new_id()}", PersonRole.READER)
    assert "There is nobody and nothing yet" in reader.get(PAGE).text
    answer = reader.get(f"{PAGE}?q=zirconium")
    assert answer.status_code == 200
    assert "Nothing is known by this" in answer.text


def test_another_workspace_sees_none_of_it(deployed: Deployed, database: Database) -> None:
    store = write(deployed, "Store")
    other = open_world(database.owner_url, database.app_url, f"other {new_id()}")
    try:
        stranger = signed_in(deployed.app, other.workspace_id, f"stranger-{new_id()}")
        assert "There is no such node" in stranger.get(f"{PAGE}?node={store}").text
        assert stranger.get(f"{PAGE}/data?node={store}").json()["nodes"] == []
    finally:
        other.pool.close()
