"""No column of any table keeps a name: addresses and ids that others gave go with the subject."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING

import pytest
from psycopg import sql
from tests.integration.forgetting.test_recomputing import rebuild_of
from tests.support.forgetting import Stand, open_stand
from tests.support.helpdesk import Helpdesk, incoming
from tests.support.memory_graphs import Opened, ledger_graph

from cairn.adapters.postgres.database import Database as Pool
from cairn.forgetting.forget import Target
from cairn.forgetting.ports import Reason
from cairn.rebuild.restore import RecomputeByReplay
from cairn.tickets.intake import Outcome
from cairn.tickets.messages import MessageOutcome

if TYPE_CHECKING:
    from uuid import UUID

    from tests.plugins.postgres import Database

NAME = "zanzibarquokka"
HARTWELL = f"{NAME} — Kevin Reyes"


@pytest.fixture
def stand(database: "Database") -> Iterator[Stand]:
    pool = Pool(database.app_url, size=4)
    stand = open_stand(database, pool)
    stand.forget = stand.forgetting(recompute=RecomputeByReplay(rebuild=rebuild_of(stand)))
    yield stand
    pool.close()


@pytest.fixture
def helpdesk(stand: Stand) -> Helpdesk:
    return Helpdesk(
        stand.system.transactions, stand.principal, keys=stand.keys, sent=stand.system.sent
    )


def holding(database: "Database", stand: Stand) -> dict[str, int]:
    """Every table, the second set too, that has the name anywhere in a row of the workspace."""
    with database.connect_as_superuser() as root:
        tables = root.execute(
            """SELECT n.nspname, c.relname FROM pg_class c
                 JOIN pg_namespace n ON n.oid = c.relnamespace
                WHERE n.nspname IN ('public', 'replay') AND c.relkind IN ('r', 'p')
                  AND NOT c.relispartition AND c.relname !~ '^_?yoyo'"""
        ).fetchall()
        found: dict[str, int] = {}
        for schema, table in tables:
            query = sql.SQL(
                "SELECT count(*) FROM {} AS t WHERE t::text ILIKE %s AND t::text LIKE %s"
            ).format(sql.Identifier(schema, table))
            row = root.execute(query, [f"%{NAME}%", f"%{stand.workspace_id}%"]).fetchone()
            if row and row[0]:
                found[f"{schema}.{table}"] = row[0]
    return found


def everywhere(stand: Stand, helpdesk: Helpdesk) -> tuple["UUID", "UUID"]:
    """The name of a client wherever others may put it; a ticket and the other client's fact."""
    stand.documents.ingest(
        "# Plan\n\nOf theirs.", client_id=NAME, source_uri=f"https://{NAME}.x/a.md"
    )
    told = incoming(external_id=f"{NAME}/4711", customer=HARTWELL)
    ticket_id, investigation_id = helpdesk.claimed(told)
    helpdesk.say(ticket_id, "Thanks.", id=f"{NAME}-m1")
    helpdesk.desk.write_back(
        helpdesk.workspace_id,
        ticket_id,
        investigation_id=investigation_id,
        verdict="auto_resolved",
        summary="It is mended.",
        minutes=1,
        private=False,
        data_subjects=(),
    )
    helpdesk.taken(replace(told, external_id=f"{NAME}/4712"))
    return ticket_id, stand.tell("Something of others", client="other")


def test_after_a_forgetting_no_table_has_the_name_anywhere(
    stand: Stand, helpdesk: Helpdesk, database: "Database"
) -> None:
    ticket_id, others = everywhere(stand, helpdesk)
    before = holding(database, stand)
    assert {"public.data_subject", "public.ticket", "public.ticket_message"} <= before.keys()
    done = stand.forgets(NAME)
    assert done.forgetting.status == "done"
    assert done.forgetting.counts["source"] == 1
    with database.connect_as_superuser() as connection:
        of_sources = "SELECT keyed FROM forgetting WHERE kind = 'source' AND workspace_id = %s"
        assert connection.execute(of_sources, (stand.workspace_id,)).fetchall() == [(True,)]
    assert holding(database, stand) == {}
    assert rebuild_of(stand)(stand.workspace_id).equal
    assert holding(database, stand) == {}
    with stand.system.transactions.reading(stand.principal) as stores:
        assert stores.memories.find(others) is not None
    assert helpdesk.row(ticket_id).external_id.startswith("forgotten:")


def test_what_a_help_desk_delivers_again_is_still_known_by_its_id(
    stand: Stand, helpdesk: Helpdesk, database: "Database"
) -> None:
    everywhere(stand, helpdesk)
    stand.forgets(NAME)
    later = helpdesk.clock() + timedelta(days=1)
    again = incoming(external_id=f"{NAME}/4711", customer=HARTWELL, modified_at=later)
    assert helpdesk.add(again).outcome is Outcome.KNOWN
    assert helpdesk.add(replace(again, external_id=f"{NAME}/4713")).outcome is Outcome.NEW
    assert "public.ticket_message" not in holding(database, stand)


def test_a_message_of_a_ticket_that_changed_hands_is_known_again_too(
    stand: Stand, helpdesk: Helpdesk, database: "Database"
) -> None:
    """The message was about the old customer, the ticket is about another by now."""
    told = incoming(external_id="ZD-9", customer=HARTWELL)
    ticket_id = helpdesk.taken(told)
    helpdesk.say(ticket_id, "Mine.", id=f"{NAME}-m2")
    later = helpdesk.clock() + timedelta(days=1)
    helpdesk.add(replace(told, customer="Somebody else", body="New.", modified_at=later))
    stand.forgets(NAME)
    assert "public.ticket_message" not in holding(database, stand)
    taken = helpdesk.say(ticket_id, "Mine.", id=f"{NAME}-m2")
    assert taken.outcome is MessageOutcome.KNOWN


def test_a_source_that_others_have_documents_of_stays(stand: Stand) -> None:
    shared = "https://handbook.x/a.md"
    stand.documents.ingest("# A\n\nOf theirs.", client_id=NAME, source_uri=shared)
    stand.documents.ingest("# A\n\nOf others.", client_id="other", source_uri=shared)
    plan = stand.forget.plan(stand.principal, Target(owner=("client", NAME)))
    assert "source" not in plan.counts
    assert stand.forgets(NAME).forgetting.counts["source"] == 0
    by_uri = stand.forget.plan(stand.principal, Target(source=shared))
    assert stand.forget.plan(stand.principal, Target(subject_id=by_uri.subject_id)) == by_uri
    done = stand.forget(stand.principal, Target(source=shared), Reason.REQUEST)
    assert done.forgetting.counts["node"] > 0


def test_documents_without_their_sources_key_are_found_by_the_sources_id_too(
    stand: Stand, database: "Database"
) -> None:
    source = "https://handbook.x/older.md"
    stand.documents.ingest("# A\n\nText.", source_uri=source)
    with database.connect_as_superuser() as connection:
        unkeyed = "UPDATE node SET data_subjects = '{}' WHERE workspace_id = %s"
        connection.execute(unkeyed, (stand.workspace_id,))
    by_uri = stand.forget.plan(stand.principal, Target(source=source))
    assert by_uri.node_ids and not by_uri.keyed
    assert stand.forget.plan(stand.principal, Target(subject_id=by_uri.subject_id)) == by_uri


def test_a_source_whose_documents_were_purged_long_ago_goes_too(
    stand: Stand, database: "Database"
) -> None:
    stand.documents.ingest("# A\n\nText.", client_id=NAME, source_uri=f"https://{NAME}.x/old.md")
    with database.connect_as_superuser() as root:
        for table in ("embedding", "node_version", "node"):
            root.execute(f"DELETE FROM {table} WHERE label IN ('Document', 'Section', 'Chunk')")  # noqa: S608
    stand.forgets(NAME)
    assert holding(database, stand) == {}


def test_forgetting_a_client_hides_what_the_memory_graph_says_of_it(stand: Stand) -> None:
    one = Opened(ledger_graph(stand), stand.workspace_id)
    acme, other = one.put("customer", f"customer:{NAME}"), one.put("customer", "customer:other")
    facts = [one.put("fact", f"fact:{number}", text=f"Number {number}.") for number in range(3)]
    shared = one.put("fact", "shared", text="Of both.")
    for fact in (*facts, shared):
        one.tie(acme, "HAS_FACT", fact)
    one.tie(other, "HAS_FACT", shared)
    plan = stand.forget.plan(stand.principal, Target(owner=("client", NAME)))
    assert plan.counts["archived"] == 3
    done = stand.forgets(NAME)
    assert (done.forgetting.status, done.forgetting.counts["archived"]) == ("done", 3)
    visible = one.graph.query_by_labels(stand.workspace_id, ["fact"], 50)
    assert [each.id for each in visible] == [shared]
    assert rebuild_of(stand)(stand.workspace_id).equal
    again = one.graph.query_by_labels(stand.workspace_id, ["fact"], 50)
    assert [each.id for each in again] == [shared]
