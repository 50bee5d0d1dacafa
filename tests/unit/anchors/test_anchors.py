"""Anchors find what a chain cannot show by itself: that it was written anew, or cut."""

import json
from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path

import pytest
from tests.fakes.anchors import InMemoryAnchors
from tests.support.anchoring import Anchored
from tests.unit.ledger.chains import NOW, OTHER_WORKSPACE, WORKSPACE

from cairn.adapters.files.signing import FileSigningKey, make_signing_key
from cairn.anchors.verify_chains import ChainsBroken
from cairn.kernel.errors import Unavailable
from cairn.ledger.anchors import AnchorFault
from cairn.ledger.verify import verify

AUDITED = {"verified": 1, "anchored": 0, "waiting": 0}


@pytest.fixture
def anchored(tmp_path: Path) -> Anchored:
    """Three days: anchors at positions 3, 6 and 9, and two entries since."""
    made = Anchored(tmp_path)
    for _ in range(3):
        made.day()
    made.chain.grow(2, made.now)
    return made


def reasons(anchored: Anchored) -> list[tuple[AnchorFault, int | None]]:
    return [(fault.reason, fault.number) for fault in anchored.verify().anchors.faults]


def plain(anchored: Anchored) -> bool:
    """What a verification without anchors says."""
    chain = anchored.chain
    return verify(chain.entries, workspace_id=WORKSPACE, expected=chain.head()).ok


def test_a_chain_that_was_left_alone_agrees_with_its_anchors(anchored: Anchored) -> None:
    found = anchored.verify()
    assert (found.ok, found.checked, found.anchors.faults) == (True, 11, ())
    assert (found.anchors.trusted, found.anchors.last_position) == (3, 9)
    assert found.anchors.last_verified_at == NOW + timedelta(days=2)


@pytest.mark.parametrize(("position", "first"), [(1, 3), (3, 3), (4, 6), (8, 9)])
def test_a_chain_written_anew_verifies_alone_and_fails_at_its_first_anchor(
    anchored: Anchored, position: int, first: int
) -> None:
    anchored.chain.rewrite(position)
    assert plain(anchored)
    found = anchored.verify()
    assert (found.ok, found.first_bad_position, found.reason) == (False, first, "head-mismatch")


def test_entries_past_the_newest_anchor_are_only_as_safe_as_the_database(
    anchored: Anchored,
) -> None:
    anchored.chain.rewrite(10)
    assert anchored.verify().ok


@pytest.mark.parametrize("left", [0, 5, 8])
def test_a_chain_cut_shorter_than_an_anchor_is_found(anchored: Anchored, left: int) -> None:
    del anchored.chain.entries[left:]
    assert plain(anchored)
    found = anchored.verify()
    assert (found.ok, found.first_bad_position, found.reason) == (False, left + 1, "head-mismatch")


def test_one_changed_byte_of_an_anchor_is_found_and_names_the_object(anchored: Anchored) -> None:
    key = anchored.store.keys("")[1]
    stored = anchored.store.objects[key]
    for at in range(len(stored)):
        anchored.store.objects[key] = stored[:at] + bytes([stored[at] ^ 1]) + stored[at + 1 :]
        found = anchored.verify()
        assert not found.ok, at
        assert found.anchors.faults, at
        assert found.first_bad_position is None, at
    anchored.store.objects[key] = stored
    assert anchored.verify().ok


def test_an_anchor_forged_with_another_key_is_not_trusted(
    anchored: Anchored, tmp_path: Path
) -> None:
    anchored.chain.rewrite(2)
    make_signing_key(tmp_path / "thief.pem")
    good, anchored.key = anchored.key, FileSigningKey(tmp_path / "thief.pem")
    anchored.store.objects.clear()
    anchored.audit()
    assert anchored.verify().ok  # by the thief's key
    anchored.key = good
    found = anchored.verify()
    assert (found.ok, found.anchors.trusted) == (False, 0)
    assert found.anchors.faults[0].reason is AnchorFault.NOT_AUTHENTIC


@pytest.mark.parametrize("number", [1, 2])
def test_a_missing_anchor_is_named(anchored: Anchored, number: int) -> None:
    del anchored.store.objects[anchored.store.keys("")[number - 1]]
    assert reasons(anchored) == [(AnchorFault.MISSING, number)]
    assert not anchored.verify().ok


def test_a_newest_anchor_that_is_missing_shows_when_the_next_was_due(anchored: Anchored) -> None:
    del anchored.store.objects[anchored.store.keys("")[2]]
    assert anchored.verify().ok
    anchored.now += timedelta(days=1, seconds=1)
    [fault] = anchored.verify().anchors.faults
    assert (fault.reason, fault.position) == (AnchorFault.OVERDUE, 7)


def test_entries_without_any_anchor_are_held_to_nothing_and_overdue_after_two_days(
    tmp_path: Path,
) -> None:
    made = Anchored(tmp_path)
    assert made.verify().ok
    made.chain.grow(1, made.now)
    made.now += timedelta(hours=48)
    assert reasons(made) == [(AnchorFault.UNANCHORED, None)]
    assert not made.verify().ok
    made.now += timedelta(seconds=1)
    assert reasons(made) == [(AnchorFault.OVERDUE, None)]


def test_a_workspace_deleted_whole_is_missed_by_its_anchors(
    anchored: Anchored, tmp_path: Path
) -> None:
    """No chain is left to be verified, so only what is kept outside can tell."""
    present = anchored.workspaces()
    anchored.workspaces = list  # type: ignore[method-assign]
    with pytest.raises(ChainsBroken) as broken:
        anchored.audit()
    fault = {
        "workspace_id": str(WORKSPACE),
        "first_bad_position": 1,
        "reason": "workspace-missing",
    }
    assert broken.value.fields["broken"] == [fault]
    assert anchored.reports == [("ledger.broken", fault)]
    anchored.workspaces = lambda: present  # type: ignore[method-assign]
    assert anchored.audit()["verified"] == 1


def test_what_nobody_signed_makes_no_workspace_be_missed(anchored: Anchored) -> None:
    stored = next(iter(anchored.store.objects.values()))
    for name in (str(OTHER_WORKSPACE), str(OTHER_WORKSPACE).upper(), "rubbish"):
        anchored.store.objects[f"heads/{name}/0000000001-x.json"] = stored
        anchored.store.objects[f"heads/{name}/old.json"] = b'{"hash": "00"}'
    assert anchored.audit()["verified"] == 1


def test_an_anchor_of_another_workspace_moved_here_is_not_trusted(
    anchored: Anchored, tmp_path: Path
) -> None:
    key = anchored.store.keys("")[0]
    stored = anchored.store.objects[key]
    elsewhere = stored.replace(str(WORKSPACE).encode(), str(OTHER_WORKSPACE).encode())
    anchored.store.objects[key + ".json"] = elsewhere
    assert reasons(anchored) == [(AnchorFault.NOT_AUTHENTIC, None)]


def test_an_old_unsigned_anchor_is_told_and_neither_trusted_nor_a_failure(
    anchored: Anchored,
) -> None:
    lying = {"workspace_id": str(WORKSPACE), "position": 2, "hash": "00" * 32}
    key = f"heads/{WORKSPACE}/2026-01-01T03:17:00.000000Z.json"
    anchored.store.objects[key] = json.dumps(lying).encode()
    found = anchored.verify()
    assert found.ok
    assert [(fault.reason, fault.key) for fault in found.anchors.faults] == [
        (AnchorFault.UNSIGNED, key)
    ]
    anchored.day()
    assert anchored.verify().anchors.trusted == 4


@pytest.mark.parametrize("content", [b"", b"{}", b"[]", b"\xff", b'{"format":"cairn-anchor-1"}'])
def test_rubbish_among_the_anchors_is_named_and_stops_nothing(
    anchored: Anchored, content: bytes
) -> None:
    anchored.store.objects[f"heads/{WORKSPACE}/9999999999-x.json"] = content
    assert reasons(anchored) == [(AnchorFault.MALFORMED, None)]
    anchored.day()
    assert anchored.verify().anchors.trusted == 4


def test_a_clock_that_went_back_does_no_harm(anchored: Anchored) -> None:
    anchored.now = NOW - timedelta(days=30)
    anchored.day()
    anchored.day()
    found = anchored.verify()
    assert (found.ok, found.anchors.trusted, found.anchors.last_position) == (True, 5, 17)


def test_an_unchanged_chain_gets_no_second_anchor(anchored: Anchored) -> None:
    assert anchored.audit() == AUDITED | {"anchored": 1}
    assert anchored.audit() == AUDITED
    assert len(anchored.store.objects) == 4


def test_an_empty_chain_gets_no_anchor(tmp_path: Path) -> None:
    assert Anchored(tmp_path).audit() == AUDITED


def test_an_audit_killed_between_verifying_and_putting_is_made_good_by_the_next(
    anchored: Anchored,
) -> None:
    class Killed(InMemoryAnchors):
        def put(self, key: str, content: bytes) -> None:
            raise KeyboardInterrupt

    good = anchored.store
    anchored.store = Killed(good.objects)
    with pytest.raises(KeyboardInterrupt):
        anchored.audit()
    anchored.store = good
    assert anchored.audit() == AUDITED | {"anchored": 1}
    assert (anchored.verify().ok, anchored.verify().anchors.trusted) == (True, 4)


def test_two_audits_at_once_leave_two_anchors_of_one_number_which_is_fine(
    anchored: Anchored,
) -> None:
    last = anchored.writer.latest(WORKSPACE)
    head = anchored.chain.head()
    assert anchored.writer.write(head, last)
    anchored.now += timedelta(seconds=1)
    assert anchored.writer.write(head, last)
    anchored.now += timedelta(days=1)
    anchored.day()
    found = anchored.verify()
    assert (found.ok, found.anchors.trusted) == (True, 6)


def test_the_daily_audit_finds_a_chain_written_anew_and_anchors_nothing(
    anchored: Anchored,
) -> None:
    anchored.chain.rewrite(5)
    with pytest.raises(ChainsBroken) as caught:
        anchored.audit()
    fault = {
        "workspace_id": str(WORKSPACE),
        "first_bad_position": 9,
        "reason": "head-mismatch",
    }
    assert anchored.reports == [("ledger.broken", fault)]
    assert caught.value.fields["broken"] == [fault]
    assert len(anchored.store.objects) == 3


def test_a_store_that_fails_for_one_workspace_does_not_keep_the_others_from_their_anchors(
    anchored: Anchored,
) -> None:
    class Failing(InMemoryAnchors):
        def keys(self, prefix: str) -> Sequence[str]:
            if str(OTHER_WORKSPACE) in prefix:
                raise Unavailable("no", reason="object-store")
            return super().keys(prefix)

    anchored.store = Failing(anchored.store.objects)
    anchored.workspaces = lambda: [OTHER_WORKSPACE, WORKSPACE]  # type: ignore[method-assign]
    with pytest.raises(Unavailable):
        anchored.audit()
    assert len(anchored.store.objects) == 4
    assert anchored.reports[0][0] == "ledger.not_anchored"
