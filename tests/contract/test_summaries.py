"""Summaries of episodes, sessions and agents."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest
from tests.support.observing import event
from tests.support.remembering import NOON, fact
from tests.support.summarising import (
    Summarising,
    summarising_in_postgres,
    ticking,
)

from cairn.graph.node import Label, NodeChange, State
from cairn.graph.projection import Projection, Purge
from cairn.kernel.access.system import system_principal
from cairn.kernel.ids import new_id
from cairn.ledger.keys import SubjectForgotten
from cairn.summaries.ports import Condensed, TextRequest, fingerprint
from cairn.summaries.texts import ByRules
from cairn.summaries.write import MOST_CHILDREN

if TYPE_CHECKING:
    from tests.plugins.postgres import Database

PUMP = (
    "The pump in hall 2 failed on 3 March.",
    "Its seal had worn out after 900 hours.",
    "Ines Roth replaced the seal the same day.",
    "The spare came from the depot in Kiel.",
)
PARTY = (
    "The summer party is planned for Friday.",
    "Music starts at eight in the garden.",
    "Everybody brings something to eat.",
)


@dataclass
class Meanwhile:
    """Rules, with something that happens while the first text is written."""

    happens: Callable[[], object] | None

    def __call__(self, wanted: TextRequest, /) -> Condensed:
        happens, self.happens = self.happens, None
        if happens is not None:
            happens()
        return ByRules()(wanted)


@pytest.fixture
def summing(database: "Database") -> Iterator[Summarising]:
    yield from summarising_in_postgres(database)


def change(summing: Summarising, **changes: object) -> None:
    """Change a node past the use cases, as another stage's entry would."""
    workspace_id = summing.system.principal.workspace_id
    with summing.system.transactions.writing(summing.system.principal) as stores:
        position = stores.ledger.head().position
        row = NodeChange(workspace_id=workspace_id, position=position, **changes)  # type: ignore[arg-type]
        stores.nodes.apply([Projection(nodes=(row,))])


def test_a_session_is_cut_where_it_was_silent_and_summed_up(summing: Summarising) -> None:
    early, late = summing.say(*PUMP), summing.say(*PARTY, at=200)
    assert summing.run() == {"episodes": 2, "sessions": 1}
    first, second, session = summing.summaries()
    assert (first.kind, second.kind, session.kind) == ("episode", "episode", "session")
    assert summing.targets(first.id) == set(early)
    assert summing.targets(second.id) == set(late)
    assert summing.targets(session.id) == {first.id, second.id}
    for item in (first, second, session):
        assert summing.targets(item.id, "DERIVED_FROM") == summing.targets(item.id)
    assert "The pump in hall 2 failed on 3 March." in first.text
    assert session.metadata["event_count"] == 7
    assert session.metadata["time_range"] == [
        "2026-05-01T12:00:00.000000Z",
        "2026-05-01T15:22:00.000000Z",
    ]
    assert (session.metadata["provider"], session.metadata["is_extract"]) == ("heuristic", True)
    assert (session.session_id, session.metadata["scope_id"]) == ("s", "s")


def test_nothing_is_said_that_no_source_says(summing: Summarising) -> None:
    summing.say(*PUMP)
    summing.run()
    for summary in summing.summaries():
        assert all(f"{said}." in {*PUMP} for said in summary.text.removesuffix(".").split(". "))


def test_what_has_not_changed_is_left_alone(summing: Summarising) -> None:
    summing.say(*PUMP)
    summing.run()
    before = summing.entries("summary.written")
    assert summing.run() == {"unchanged": 1}
    assert summing.entries("summary.written") == before


def test_being_read_changes_no_summary(summing: Summarising) -> None:
    (one, *_) = summing.say(*PUMP)
    summing.run()
    summing.say("Something else happened elsewhere.", session="other")
    change(summing, id=one, accesses=3, last_accessed_at=NOON)
    assert summing.run() == {"unchanged": 1}


def test_a_late_message_changes_its_own_episode_and_its_session(summing: Summarising) -> None:
    summing.say(*PUMP)
    summing.say(*PARTY, at=200)
    summing.run()
    pump, party, session = summing.summaries()
    (late,) = summing.say("A second pump stood still as well.", at=1.5)
    assert summing.run() == {"episodes": 1, "sessions": 1}
    now = {summary.id: summary for summary in summing.summaries()}
    assert set(now) == {pump.id, party.id, session.id}
    assert now[party.id] == party
    assert late in summing.targets(pump.id)
    assert now[pump.id].metadata["event_count"] == 5
    assert now[session.id].metadata["event_count"] == 8


def test_a_late_message_before_the_first_moves_the_beginning(summing: Summarising) -> None:
    summing.say(*PUMP)
    summing.run()
    (before, _) = summing.summaries()
    summing.say("The pump was loud on the evening before.", at=-5)
    summing.run()
    (now, _) = summing.summaries()
    assert now.id == before.id
    assert now.occurred_at == now.valid_from == NOON - timedelta(minutes=5)


def test_the_old_text_is_kept_as_a_version(summing: Summarising) -> None:
    summing.say(*PUMP)
    summing.run()
    workspace = summing.system.principal.workspace_id
    (episode, _) = summing.summaries()
    summing.say("Since then every pump is looked at twice a year.", at=5)
    summing.run()
    versions = summing.replayed().workspaces[workspace].versions[episode.id]
    texts = [version.node.metadata["event_count"] for version in versions]
    assert texts == [4, 5]


def test_two_sources_say_by_themselves_what_a_summary_would(summing: Summarising) -> None:
    summing.say(*PUMP[:2])
    assert summing.run() == {}
    assert summing.summaries() == []


@pytest.mark.parametrize("state", [State.QUARANTINED, State.SUPERSEDED])
def test_a_source_that_holds_no_more_leaves_with_the_next_run(
    summing: Summarising, state: State
) -> None:
    gone, *rest = summing.say(*PUMP)
    summing.run()
    change(summing, id=gone, state=state)
    assert summing.run() == {"episodes": 1, "sessions": 1, "dropped": 1}
    (episode, session) = summing.summaries()
    assert PUMP[0] not in episode.text + session.text
    assert summing.targets(episode.id) == set(rest)


def test_a_deleted_source_leaves_with_the_next_run(summing: Summarising) -> None:
    *rest, gone = summing.say(*PUMP)
    summing.run()
    summing.delete(summing.system.principal, gone)
    assert summing.run() == {"episodes": 1, "sessions": 1}
    (episode, _) = summing.summaries()
    assert PUMP[3] not in episode.text
    assert summing.targets(episode.id) == summing.targets(episode.id, "DERIVED_FROM") == set(rest)


def test_a_purged_source_leaves_with_the_next_run(summing: Summarising) -> None:
    *rest, gone = summing.say(*PUMP)
    summing.run()
    workspace_id = summing.system.principal.workspace_id
    with summing.system.transactions.writing(summing.system.principal) as stores:
        position = stores.ledger.head().position
        purge = Purge(workspace_id=workspace_id, node_ids=(gone,), position=position)
        stores.nodes.apply([Projection(purges=(purge,))])
    assert summing.run() == {"episodes": 1, "sessions": 1}
    (episode, _) = summing.summaries()
    assert PUMP[3] not in episode.text
    assert summing.targets(episode.id) == set(rest)


def test_an_expired_event_has_happened_all_the_same(summing: Summarising) -> None:
    expired, *_ = summing.say(*PUMP)
    summing.run()
    change(summing, id=expired, state=State.EXPIRED)
    assert summing.run() == {"unchanged": 1}


def test_summaries_go_when_nothing_is_left_and_come_back(summing: Summarising) -> None:
    ids = summing.say(*PUMP)
    summing.run()
    before = {summary.id for summary in summing.summaries()}
    for id_ in ids:
        summing.delete(summing.system.principal, id_)
    assert summing.run() == {"dropped": 2}
    assert summing.summaries() == []
    assert all(summing.targets(item) == set() for item in before)
    for id_ in ids:
        change(summing, id=id_, revive=True)
    assert summing.run() == {"episodes": 1, "sessions": 1}
    with summing.system.transactions.reading(summing.system.principal) as stores:
        assert {item.state for item in stores.summaries.stored(before).values()} == {State.ACTIVE}
    assert set().union(*(summing.targets(item) for item in before)) >= set(ids)


def test_each_audience_has_summaries_of_its_own(summing: Summarising) -> None:
    for_all = summing.say(*PUMP)
    for_bot = summing.say(*PARTY, at=10, agents=("bot",))
    for_ines = summing.say(*PARTY, at=20, data_subjects=("Ines Roth",))
    for_acme = summing.say(*PARTY, at=30, client_id="acme")
    assert summing.run() == {"episodes": 4, "sessions": 4}
    made_of = [summing.targets(summary.id) for summary in summing.summaries("episode")]
    assert sorted(map(sorted, made_of)) == sorted(
        map(sorted, (for_all, for_bot, for_ines, for_acme))
    )
    nodes = summing.nodes()
    for summary in summing.summaries():
        for target in map(nodes.__getitem__, summing.targets(summary.id)):
            assert (summary.scope, summary.agents, summary.data_subjects, summary.client_id) == (
                target.scope,
                target.agents,
                target.data_subjects,
                target.client_id,
            )


def test_the_events_of_a_trace_are_one_episode_however_long_it_took(summing: Summarising) -> None:
    traced = [
        summing.events.see_one(event("tool.execute", at=hours * 3600, trace_id="t", text=text))
        for hours, text in enumerate(PUMP)
    ]
    loose = summing.say(*PARTY)
    summing.run()
    by_trace = {summary.trace_id: summary for summary in summing.summaries("episode")}
    assert summing.targets(by_trace["t"].id) == set(traced)
    assert summing.targets(by_trace[None].id) == set(loose)
    assert by_trace["t"].metadata["scope_id"] == "t"
    assert by_trace[None].metadata["scope_id"] == "s"


def test_a_trace_outside_any_session_is_an_episode_of_its_agent(summing: Summarising) -> None:
    for trace in ("t1", "t2"):
        for at, text in enumerate(PUMP):
            summing.events.see_one(
                event(
                    "tool.execute",
                    at=at,
                    trace_id=trace,
                    text=text,
                    session_id=None,
                    agent_id="bot",
                )
            )
    assert summing.run() == {"episodes": 2, "agents": 1}
    assert summing.run() == {"unchanged": 3}
    (agent,) = summing.summaries("agent")
    episodes = summing.summaries("episode")
    assert summing.targets(agent.id) == {episode.id for episode in episodes}
    assert {episode.trace_id for episode in episodes} == {"t1", "t2"}
    summing.events.see_one(
        event("tool.execute", at=9, trace_id="t1", text="More.", session_id=None, agent_id="bot")
    )
    assert summing.run() == {"episodes": 1, "unchanged": 1, "agents": 1}


def test_an_agent_is_summed_up_over_its_sessions(summing: Summarising) -> None:
    summing.say(*PUMP, session="one", source_agent="ada")
    summing.say(*PARTY, session="two", source_agent="ada")
    summing.say(*PARTY, session="three", source_agent="bob")
    assert summing.run() == {"episodes": 3, "sessions": 3, "agents": 1}
    (agent,) = summing.summaries("agent")
    assert (agent.source_agent, agent.observed_by) == ("ada", ("ada",))
    assert agent.metadata["event_count"] == 7
    sessions = [
        summary.id for summary in summing.summaries("session") if "ada" in summary.observed_by
    ]
    assert summing.targets(agent.id) == set(sessions)
    summing.say("Bob was there too.", session="one", at=5, source_agent="bob")
    assert summing.run() == {"episodes": 1, "sessions": 1, "agents": 2, "unchanged": 2}


def test_a_replay_of_the_ledger_gives_the_same_rows(summing: Summarising) -> None:
    ids = summing.say(*PUMP)
    summing.say(*PARTY, session="t")
    summing.run()
    summing.delete(summing.system.principal, ids[2])
    summing.run()
    workspace_id = summing.system.principal.workspace_id
    replayed = summing.replayed().workspaces[workspace_id]
    asked = [node.id for node in replayed.nodes.values() if node.label == Label.SUMMARY]
    principal = system_principal(workspace_id)
    with summing.system.transactions.writing(principal) as stores:
        stored = stores.summaries.stored(asked)
        held = stores.summaries.edges(asked)
    assert len(asked) == len(stored) == 5
    for item in stored.values():
        node = replayed.nodes[item.id]
        assert (node.state, node.metadata["covers"]) == (item.state, item.covers)
    derived = {
        (edge.id, edge.source_id, edge.target_id)
        for edge in replayed.edges.values()
        if edge.source_id in asked
    }
    assert {(item.id, item.source_id, item.target_id) for item in held} == derived


def test_a_run_that_was_cut_short_is_gone_on_with(summing: Summarising) -> None:
    for session in range(4):
        summing.say(*PUMP, session=f"s{session}")
    summing.seconds = ticking()
    runs = [summing.run(seconds=0) for _ in range(12)]
    assert [run.get("more", False) for run in runs[:4]] == [True] * 4
    assert "more" not in runs[-1]
    assert sum(run.get("sessions", 0) for run in runs) == 4
    summing.seconds = lambda: 0.0
    assert set(summing.run()) == {"unchanged"}


def test_a_source_that_changes_while_the_text_is_written_is_taken_with_the_next_run(
    summing: Summarising,
) -> None:
    ids = summing.say(*PUMP)
    summing.condense = Meanwhile(lambda: summing.delete(summing.system.principal, ids[1]))
    assert summing.run() == {"changed": 2}
    assert summing.summaries() == []
    summing.condense = ByRules()
    assert summing.run() == {"episodes": 1, "sessions": 1}
    assert PUMP[1] not in summing.summaries()[0].text


def test_two_runs_at_once_write_each_summary_once(summing: Summarising) -> None:
    summing.say(*PUMP)

    def other() -> None:
        summing.condense = ByRules()
        assert summing.run() == {"episodes": 1, "sessions": 1}

    summing.condense = Meanwhile(other)
    assert summing.run() == {}
    assert len(summing.entries("summary.written")) == 1
    assert len(summing.summaries()) == 2


@dataclass
class Counting:
    """Transactions that count those that write."""

    inner: Any
    writes: int = 0

    def reading(self, principal: Any) -> Any:
        return self.inner.reading(principal)

    def writing(self, principal: Any, *, once: str | None = None) -> Any:
        self.writes += 1
        return self.inner.writing(principal, once=once)


def test_sessions_share_a_transaction_and_each_is_whole_in_one(summing: Summarising) -> None:
    for n in range(12):
        summing.say(*PUMP, session=f"s{n:02}", source_agent=f"bot{n}")
    counting = Counting(summing.system.transactions)
    summing.system.transactions = counting
    summing.a_write = 10
    assert summing.run() == {"episodes": 12, "sessions": 12}
    assert counting.writes == 3  # ten summaries, ten, and the last four
    assert len(summing.entries("summary.written")) == 12


def test_one_forgotten_among_many_does_not_hold_up_the_others(summing: Summarising) -> None:
    for n in range(4):
        summing.say(*PUMP, session=f"s{n}", data_subjects=("Ines Roth",) if n == 2 else ())
    node = next(node for node in summing.nodes().values() if node.data_subjects)
    summing.system.keys.destroy(node.workspace_id, node.data_subjects[0])
    counts = summing.run()
    assert (counts["episodes"], counts["sessions"], counts["forgotten"]) == (3, 3, 1)


def test_a_long_session_is_written_on_the_way_and_summed_up_of_all_its_episodes(
    summing: Summarising,
) -> None:
    for n in range(25):
        summing.say(*PUMP, at=100 * n)
    summing.a_write = 4
    assert summing.run() == {"episodes": 25, "sessions": 1}
    [session] = summing.summaries("session")
    assert summing.targets(session.id) == {summary.id for summary in summing.summaries("episode")}
    assert set(summing.run()) == {"unchanged"}


def test_a_long_trace_that_ran_out_of_time_is_gone_on_with(summing: Summarising) -> None:
    for start in range(0, 600, 100):
        at = range(start, start + 100)
        told = (event("tool.execute", at=n, trace_id="t", text=f"{PUMP[0]} {n}") for n in at)
        summing.events.see(*told)
    summing.a_write = 1
    summing.seconds = ticking()
    while summing.run(seconds=0).get("more"):
        pass
    counts = [summary.metadata["event_count"] for summary in summing.summaries("episode")]
    assert (sum(counts), len(counts) > 10) == (600, True)
    assert summing.run().keys() <= {"unchanged", "agents"}


def test_a_quarantined_summary_stays_so_until_its_sources_change(summing: Summarising) -> None:
    summing.say(*PUMP)
    summing.run()
    (episode, session) = summing.summaries()
    for item in (episode, session):
        change(summing, id=item.id, state=State.QUARANTINED)
    assert summing.run().keys() <= {"unchanged"}
    with summing.system.transactions.writing(summing.system.principal) as stores:
        stored = stores.summaries.stored([episode.id, session.id]).values()
    assert {item.state for item in stored} == {State.QUARANTINED}
    summing.say("And more of it.", at=5)
    summing.run()
    with summing.system.transactions.writing(summing.system.principal) as stores:
        stored = stores.summaries.stored([episode.id, session.id]).values()
    assert {item.state for item in stored} == {State.ACTIVE}


def test_a_forgotten_subject_is_summed_up_no_more(summing: Summarising) -> None:
    summing.say(*PUMP, data_subjects=("Ines Roth",))
    summing.say(*PARTY, session="t")
    node = next(node for node in summing.nodes().values() if node.data_subjects)
    summing.system.keys.destroy(node.workspace_id, node.data_subjects[0])
    with pytest.raises(SubjectForgotten):
        summing.system.keys.get_or_create(node.workspace_id, node.data_subjects)
    assert summing.run() == {"episodes": 1, "sessions": 1, "forgotten": 1}


def test_what_is_written_waits_for_its_vector(summing: Summarising) -> None:
    summing.say(*PUMP)
    summing.system.sent.rows.clear()
    summing.run()
    woken = {id_ for row in summing.system.sent.rows for id_ in row.node_ids}
    assert woken == {summary.id for summary in summing.summaries()}


def test_meta_and_entry_name_nobody(summing: Summarising) -> None:
    summing.say(*PUMP, session="s-1", source_agent="nora", agents=("nora",), client_id="acme")
    summing.run()
    for entry in summing.entries("summary.written"):
        assert set(entry.meta) == {"scope", "node_ids", "dropped"}
        assert (entry.session_id, entry.trace_id, entry.actor.id) == (None, None, "cairn")
        assert "nora" not in entry.meta_text
        assert "acme" not in entry.meta_text


def test_pages_go_through_every_session_once(summing: Summarising) -> None:
    for session in ("b", "a", "c"):
        summing.say(*PARTY, session=session)
    with summing.system.transactions.reading(summing.system.principal) as stores:
        first = stores.summaries.sessions("", limit=2)
        rest = stores.summaries.sessions("b", limit=2)
        assert stores.summaries.sessions("c", limit=2) == []
    assert [item.group.session_id for item in (*first, *rest)] == ["a", "b", "c"]
    assert {item.sources for item in first} == {3}


def test_the_fingerprint_of_the_store_is_that_of_the_sources(summing: Summarising) -> None:
    summing.say(*PUMP)
    with summing.system.transactions.reading(summing.system.principal) as stores:
        (state,) = stores.summaries.sessions("", limit=5)
        sources = stores.summaries.sources(state.group, None, limit=100)
        first = stores.summaries.sources(state.group, None, limit=2)
        rest = stores.summaries.sources(state.group, first[-1].place, limit=100)
    assert [*first, *rest] == list(sources)
    assert [source.text for source in sources] == list(PUMP)
    assert state.fingerprint == fingerprint((source.id, source.content_hash) for source in sources)
    assert state.fingerprint != fingerprint([(new_id(), source.content_hash) for source in sources])


def test_only_the_newest_summaries_go_into_one(
    summing: Summarising, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert MOST_CHILDREN == 300
    monkeypatch.setattr("cairn.summaries.write.MOST_CHILDREN", 2)
    for part in range(3):
        summing.say(*PARTY, at=part * 100)
    summing.run()
    episodes = summing.summaries("episode")
    (session,) = summing.summaries("session")
    assert summing.targets(session.id) == {episode.id for episode in episodes[1:]}


def test_a_late_fact_of_another_session_is_nobodys_business(summing: Summarising) -> None:
    summing.say(*PUMP)
    summing.run()
    summing.system.tell(fact("The depot in Kiel closes at noon."))
    assert summing.run() == {"unchanged": 1}
