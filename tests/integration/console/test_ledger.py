"""The ledger's pages over the real database: found by what it is, one entry, and what guards it."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

from tests.fakes.anchors import InMemoryAnchors
from tests.integration.console import test_memories
from tests.integration.console.test_memories import HOSTILE, tell

from cairn.adapters.files.signing import FileSigningKey, make_signing_key
from cairn.anchors.anchors import VerifyAnchored, WriteAnchors
from cairn.kernel.access import PersonRole
from cairn.kernel.clock import utc_now
from cairn.kernel.ids import new_id

if TYPE_CHECKING:
    from pathlib import Path

    import pytest
    from tests.integration.storage.test_console import Deployed

deployed = test_memories.deployed
PAGE = "/console/ledger"


def positions(page: str) -> list[int]:
    return [int(each) for each in re.findall(rf'<td><a href="{PAGE}/(\d+)">', page)]


def test_entries_are_found_by_type_actor_subject_day_and_position(deployed: Deployed) -> None:
    admin = deployed.person(f"finds-{new_id()}", PersonRole.ADMIN)
    for number in range(45):
        tell(deployed, f"Fact {number}.", client_id="acme" if number == 7 else "bolt")
    page = admin.get(PAGE).text
    listed = positions(page)
    assert len(listed) == 50
    assert listed == sorted(listed, reverse=True)
    older = re.search(rf'href="({PAGE}\?after=\d+)">Older', page)
    assert older is not None
    assert positions(admin.get(older[1]).text)[0] == listed[-1] - 1
    remembered = deployed.entries("memory.remembered")
    seventh = remembered[7]
    subject, actor = seventh["data_subjects"][0], seventh["actor_id"]
    assert seventh["position"] in positions(admin.get(f"{PAGE}?subject={subject}").text)
    assert remembered[8]["position"] not in positions(admin.get(f"{PAGE}?subject={subject}").text)
    of_type = positions(admin.get(f"{PAGE}?type=memory.remembered&actor={actor}").text)
    assert of_type == [each["position"] for each in reversed(remembered)]
    assert positions(admin.get(f"{PAGE}?upto=3").text) == [3, 2, 1]
    day = seventh["recorded_at"][:10]
    assert seventh["position"] in positions(admin.get(f"{PAGE}?type=memory&since={day}").text)
    assert positions(admin.get(f"{PAGE}?until=2020-01-01").text) == []
    page = admin.get(f"{PAGE}?type=memory&since=2026-02-03").text
    assert "cairn ledger list --newest --type memory --since 2026-02-03T00:00:00Z" in page
    assert "recorded_from=2026-02-03T00%3A00%3A00Z" in page
    for query in ("subject=acme", "since=soon", "upto=first"):
        assert admin.get(f"{PAGE}?{query}").status_code == 422, query
    assert "No entry is like this" in admin.get(f"{PAGE}?actor=%3Cscript%3E").text


def test_an_entry_shows_its_header_and_neighbours_and_never_its_body(deployed: Deployed) -> None:
    owner = deployed.person(f"one-{new_id()}", PersonRole.OWNER)
    tell(deployed, f"Bolt drinks tea. {HOSTILE}", client_id="bolt")
    (entry,) = deployed.entries("memory.remembered")
    page = owner.get(f"{PAGE}/{entry['position']}").text
    assert f'data-copy="{entry["hash"]}"' in page
    assert f'href="{PAGE}/{entry["position"] - 1}"' in page
    assert f"{PAGE}?subject={entry['data_subjects'][0]}" in page
    assert "drinks tea" not in page
    for missing in ("999999", "0", "first", "-1", "9" * 30):
        assert owner.get(f"{PAGE}/{missing}").status_code == 404, missing


def test_the_ledger_is_for_owners_and_admins(deployed: Deployed) -> None:
    paths = (PAGE, *(f"{PAGE}/{name}" for name in
                     ("1", "verify", "chain", "anchors", "forgettings", "taints")))  # fmt: skip
    for role in (PersonRole.OPERATOR, PersonRole.REVIEWER, PersonRole.READER):
        browser = deployed.person(f"no-{new_id()}", role)
        assert [browser.get(path).status_code for path in paths] == [403] * len(paths)
        assert f'href="{PAGE}"' not in browser.get("/console/memories").text


def test_the_chain_for_the_browser_comes_in_parts_without_bodies(
    deployed: Deployed, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("cairn.api.console.ledger.CHAIN_BATCH", 3)
    admin = deployed.person(f"chain-{new_id()}", PersonRole.ADMIN)
    tell(deployed, "Bolt drinks tea.")
    answer = admin.get(f"{PAGE}/chain")
    top, *entries = [json.loads(line) for line in answer.text.splitlines()]
    assert (answer.headers["cache-control"], top["format"]) == ("no-store", "cairn-ledger-1")
    assert [each["position"] for each in entries] == [1, 2, 3]
    assert all("body" not in each and len(each["body_hash"]) == 64 for each in entries)
    following = admin.get(f"{PAGE}/chain?after=3").text.splitlines()[1]
    assert json.loads(following)["prev_hash"] == entries[-1]["hash"]
    assert len(admin.get(f"{PAGE}/chain?after={top['head']['position']}").text.splitlines()) == 1


def test_anchors_forgettings_and_taints_are_shown_with_their_state(
    deployed: Deployed, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    owner = deployed.person(f"state-{new_id()}", PersonRole.OWNER)
    make_signing_key(tmp_path / "key")
    key, store = FileSigningKey(tmp_path / "key"), InMemoryAnchors()
    services = deployed.app.state.services
    anchored = VerifyAnchored(transactions=services.platform.transactions, store=store,
                              verifier=key, clock=utc_now)  # fmt: skip
    monkeypatch.setattr(services, "verify_anchors", anchored, raising=False)
    assert "Reading the whole chain" in owner.get(f"{PAGE}/anchors").text
    page = owner.get(f"{PAGE}/anchors?run=yes").text
    assert "unanchored" in page
    assert "None is trusted yet" in page
    head, _ = services.browse.export_ledger(deployed.world.admin, after=0, limit=1)
    write = WriteAnchors(store=store, signer=key, verifier=key, clock=utc_now)
    assert write.write(head, None)
    page = owner.get(f"{PAGE}/anchors?run=yes").text
    assert "The chain holds" in page
    assert f"of entry {head.position}," in page
    assert "No fault was found" in page

    assert "Nothing is tainted" in owner.get(f"{PAGE}/taints").text
    tell(deployed, "The bridge is closed.", session_id="odd & 1")
    deployed.front.call("POST", "/v1/taint",
                        json={"session": "odd & 1", "reason": HOSTILE})  # fmt: skip
    page = owner.get(f"{PAGE}/taints").text
    assert "session odd &amp; 1" in page
    assert "&lt;script&gt;" in page
    assert "<b onclick" not in page
    assert re.search(r"<td>stands</td><td>1 of 1</td>", page)
    taint = deployed.front.call("GET", "/v1/taints")["items"][0]["id"]
    deployed.front.call("POST", f"/v1/taints/{taint}/lift")
    assert "lifted" in owner.get(f"{PAGE}/taints").text

    assert "Nobody was forgotten" in owner.get(f"{PAGE}/forgettings").text
    tell(deployed, "Ivo plays the tuba.", client_id="ivo")
    done = deployed.front.call(
        "POST", "/v1/forget", json={"subject": {"kind": "client", "natural_key": "ivo"}}
    )
    page = owner.get(f"{PAGE}/forgettings").text
    assert f'href="/console/forget/{done["id"]}"' in page
    assert "<td>done</td>" in page
    assert not re.search(r"\bivo\b", page)
