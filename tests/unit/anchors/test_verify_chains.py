"""The daily audit of chains that are long, or many, or more than the time allows."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from tests.support.anchoring import Anchored, Chain
from tests.unit.ledger.chains import WORKSPACE

from cairn.anchors import verify_chains
from cairn.anchors.verify_chains import ChainsBroken
from cairn.ledger.entry import Entry

A_WEEK = 7


class Counting(Chain):
    """A chain that knows which positions were read."""

    def __init__(self) -> None:
        super().__init__()
        self.read: set[int] = set()

    def page(self, *, after: int, limit: int, type_: str | None = None) -> list[Entry]:
        found = super().page(after=after, limit=limit)
        self.read |= {entry.position for entry in found}
        return found


@pytest.fixture
def long(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Anchored:
    """Anchors at 20, 23 and 26, and three entries since, of a chain that counts as long."""
    monkeypatch.setattr(verify_chains, "READ_WHOLE", 10)
    monkeypatch.setattr(verify_chains, "CHUNK", 4)
    made = Anchored(tmp_path, chain=Counting())
    made.day(20)
    made.day()
    made.day()
    made.chain.grow(3, made.now)
    while (WORKSPACE.int + made.now.date().toordinal()) % A_WEEK == 0:
        made.day(0)
    read(made).clear()
    return made


def read(anchored: Anchored) -> set[int]:
    assert isinstance(anchored.chain, Counting)
    return anchored.chain.read


def broken(anchored: Anchored) -> dict[str, Any]:
    with pytest.raises(ChainsBroken):
        anchored.audit()
    [(event, fault)] = anchored.reports
    assert event == "ledger.broken"
    return fault


def alter(anchored: Anchored, position: int) -> None:
    """Change what an entry says and leave its hash, as who hopes that nobody recomputes it."""
    entry = anchored.chain.entries[position - 1]
    anchored.chain.entries[position - 1] = replace(entry, session_id="forged")


def test_a_long_chain_is_read_from_its_newest_anchor(long: Anchored) -> None:
    assert long.audit()["anchored"] == 1
    assert read(long) == {26, 27, 28, 29}


def test_a_long_chain_is_read_whole_once_a_week(long: Anchored) -> None:
    whole = 0
    for _ in range(A_WEEK):
        read(long).clear()
        long.day(1)
        whole += 1 in read(long)
    assert whole == 1


def test_an_old_entry_that_was_altered_is_found_within_a_week(long: Anchored) -> None:
    alter(long, 5)
    with pytest.raises(ChainsBroken):
        for _ in range(A_WEEK):
            long.day(1)
    assert long.reports[0][1]["first_bad_position"] == 5


@pytest.mark.parametrize("position", [5, 26])
def test_a_long_chain_written_anew_is_found_at_its_newest_anchor(
    long: Anchored, position: int
) -> None:
    long.chain.rewrite(position)
    fault = broken(long)
    assert (fault["first_bad_position"], fault["reason"]) == (26, "head-mismatch")


def test_the_anchored_entry_itself_is_looked_at(long: Anchored) -> None:
    alter(long, 26)
    assert broken(long)["first_bad_position"] == 26


@pytest.mark.parametrize("left", [0, 25])
def test_a_long_chain_that_was_cut_is_found_behind_its_end(long: Anchored, left: int) -> None:
    del long.chain.entries[left:]
    fault = broken(long)
    assert (fault["first_bad_position"], fault["reason"]) == (left + 1, "head-mismatch")


@pytest.fixture
def unread(long: Anchored) -> Anchored:
    """As if nothing had ever been anchored: the whole chain is to be read."""
    long.store.objects.clear()
    return long


def steps(anchored: Anchored, *, seconds: float) -> Iterator[dict[str, Any]]:
    """The calls that a machine makes for one chain."""
    [item] = anchored.auditor.page(None)["workspaces"]
    more = True
    while more:
        reached = item["position"], item["hash"]
        item = anchored.auditor.chain(WORKSPACE, *reached, seconds=seconds)
        more = item["more"]
        yield item


def test_a_chain_that_takes_longer_than_a_call_is_gone_on_with(unread: Anchored) -> None:
    done = list(steps(unread, seconds=2.0))
    positions = [item["position"] for item in done]
    assert len(done) > 2
    assert positions == sorted(set(positions))
    assert positions[-1] == 29
    assert [item["anchored"] for item in done] == [0] * (len(done) - 1) + [1]
    assert read(unread) == set(range(1, 30))


def test_what_was_verified_by_the_call_before_may_not_change_before_the_next(
    unread: Anchored,
) -> None:
    calls = steps(unread, seconds=2.0)
    reached = next(calls)["position"]
    unread.chain.rewrite(reached)
    with pytest.raises(ChainsBroken):
        list(calls)
    assert unread.reports[0][1]["first_bad_position"] == reached
    assert not unread.store.objects


def test_chains_for_which_no_time_is_left_are_counted_and_not_called_verified(
    unread: Anchored,
) -> None:
    assert unread.auditor(seconds=2.0) == {"verified": 0, "anchored": 0, "waiting": 1}
    assert unread.auditor(seconds=0.0) == {"verified": 0, "anchored": 0, "waiting": 1}


def test_pages_name_every_workspace_once(long: Anchored, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(verify_chains, "MAX_WORKSPACES", 2)
    ids = [WORKSPACE, *(UUID(int=number) for number in (4, 1, 5, 3, 2))]
    monkeypatch.setattr(long, "workspaces", lambda: ids)
    named: list[str] = []
    page = long.auditor.page(None)
    named += [workspace["workspace_id"] for workspace in page["workspaces"]]
    while page["next"]:
        page = long.auditor.page(UUID(page["next"]))
        named += [workspace["workspace_id"] for workspace in page["workspaces"]]
    assert named == [str(id_) for id_ in sorted(ids)]
