"""Forgetting over PostgreSQL: a canary in everything, forgotten, is found in no table."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest
from tests.support.forgetting import CANARY, Stand, open_stand
from tests.support.observing import Observing, event

from cairn.adapters.postgres.database import Database as Pool
from cairn.forgetting.forget import Target
from cairn.forgetting.ports import Reason
from cairn.kernel.errors import Denied, NotFound
from cairn.kernel.ids import new_id
from cairn.ledger.keys import SubjectForgotten

if TYPE_CHECKING:
    from tests.plugins.postgres import Database

SOURCE = f"https://example.org/{CANARY}.md"


@pytest.fixture
def pool(database: "Database") -> Iterator[Pool]:
    pool = Pool(database.app_url, size=4)
    yield pool
    pool.close()


@pytest.fixture
def stand(database: "Database", pool: Pool) -> Stand:
    return open_stand(database, pool)


def full(stand: Stand) -> None:
    """A client about whom there is something of every kind, and somebody else."""
    stand.tell(f"{CANARY} runs Redis beside PostgreSQL", session_id="s", sequence=1)
    stand.tell(f"{CANARY} moved to Kafka", key="move", session_id="s", sequence=2)
    stand.tell(f"{CANARY} moved to Redis", key="move")
    stand.tell("Redis is fast, says everybody", client="other")
    stand.documents.ingest(f"# Plan\n\n{CANARY} plans to use Kafka.", client_id="acme")
    seen = event(client_id="acme", payload={"service": "billing", "error": f"{CANARY} is down"})
    Observing(stand.system).see(seen)
    for text in (f"this is {CANARY}", "and again"):
        stand.talking.say(text, client_id="acme")
    stand.talking.say(f"{CANARY} waits", client_id="acme", session_id="s2")
    stand.talking.report(f"{CANARY} report", client_id="acme")
    stand.embed()


def test_what_is_forgotten_is_in_no_table_and_was_in_many_before(stand: Stand) -> None:
    full(stand)
    plan = stand.forget.plan(stand.principal, Target(owner=("client", "acme")))
    before, taken = stand.prove.before(
        stand.principal, Target(owner=("client", "acme")), plan.node_ids, [CANARY]
    )
    assert not before.clean
    where = {place.place for place in before.places if place.found}
    assert where >= {"public.node", "public.node_version", "public.data_subject", "public.edge"}
    assert CANARY in taken

    done = stand.forgets()
    assert done.forgetting.status == "done"
    proof = stand.proof(done, *taken)
    assert {place.place: place.note for place in proof.places if place.found} == {}
    assert proof.clean
    assert {place.place for place in proof.places} >= where


def test_what_is_about_others_stays(stand: Stand) -> None:
    full(stand)
    stand.forgets()
    with stand.system.transactions.reading(stand.principal) as stores:
        assert stores.subjects.find([("client", "acme"), ("client", "other")]).keys() == {
            ("client", "other")
        }
    plan = stand.forget.plan(stand.principal, Target(owner=("client", "other")))
    assert plan.counts["node.Memory"] == 1


def test_a_dry_run_lists_and_changes_nothing(stand: Stand) -> None:
    stand.tell("one")
    stand.tell("two", data_subjects=("ada",))
    plan = stand.forget.plan(stand.principal, Target(owner=("client", "acme")))
    assert (plan.kind, plan.keyed, plan.counts["node.Memory"]) == ("client", True, 2)
    again = stand.forget.plan(stand.principal, Target(subject_id=plan.subject_id))
    assert again == plan
    ada = stand.forget.plan(stand.principal, Target(owner=("person", "ada")))
    assert ada.counts["node.Memory"] == 1


def test_forgetting_again_answers_what_was_done(stand: Stand) -> None:
    stand.tell("one")
    first = stand.forgets()
    for target in (
        Target(owner=("client", "acme")),
        Target(subject_id=first.forgetting.subject_id),
    ):
        again = stand.forget(stand.principal, target, Reason.OTHER)
        assert (again.already, again.forgetting) == (True, first.forgetting)
    assert not first.already
    assert len(stand.tombstones.held) == 1


def test_nobody_unknown_and_nobody_of_another_workspace_is_forgotten(
    stand: Stand, database: "Database", pool: Pool
) -> None:
    stand.tell("one")
    theirs = stand.forget.plan(stand.principal, Target(owner=("client", "acme"))).subject_id
    stranger = open_stand(database, pool)
    for target in (
        Target(owner=("client", "acme")),
        Target(subject_id=theirs),
        Target(subject_id=new_id()),
        Target(source="https://example.org"),
    ):
        named = {"subject_id": str(target.subject_id)} if target.subject_id else {}
        for refused in (
            lambda target=target: stranger.forget(stranger.principal, target, Reason.REQUEST),
            lambda target=target: stranger.forget.plan(stranger.principal, target),
        ):
            with pytest.raises(NotFound) as unknown:
                refused()
            assert unknown.value.fields == named
    done = stand.forgets()
    with pytest.raises(NotFound):
        stranger.proof(done)


def test_only_admins_forget(stand: Stand) -> None:
    from dataclasses import replace

    from cairn.kernel.access import Role

    agent = replace(stand.principal, role=Role.AGENT)
    with pytest.raises(Denied):
        stand.forget(agent, Target(owner=("client", "acme")), Reason.REQUEST)
    with pytest.raises(Denied):
        stand.forget.plan(agent, Target(owner=("client", "acme")))
    with pytest.raises(Denied):
        stand.prove(agent, new_id())


def test_a_person_goes_with_every_text_that_is_also_about_others(stand: Stand) -> None:
    both = stand.tell(f"{CANARY} called", data_subjects=("ada",))
    alone = stand.tell("acme called")
    done = stand.forgets("ada", "person")
    assert stand.proof(done).clean
    with stand.forget_stores.writing(stand.principal) as stores:
        assert set(stores.graph_nodes.find([both, alone])) == {alone}


def test_a_source_is_forgotten_by_its_uri(stand: Stand) -> None:
    stand.documents.ingest(f"# {CANARY}\n\nWhat {CANARY} said.", source_uri=SOURCE)
    stand.documents.ingest("# Other\n\nWhat others said.")
    plan = stand.forget.plan(stand.principal, Target(source=SOURCE))
    assert stand.forget.plan(stand.principal, Target(subject_id=plan.subject_id)) == plan
    done = stand.forget(stand.principal, Target(source=SOURCE), Reason.RETENTION)
    assert (done.forgetting.kind, done.forgetting.keyed) == ("source", True)
    assert stand.proof(done, CANARY, SOURCE).clean
    assert stand.objects.held.keys() == {
        key for key in stand.objects.held if str(done.forgetting.id) not in key
    }
    assert stand.forget.plan(stand.principal, Target(source="https://example.org/handbook.md"))


def test_a_forgotten_source_may_be_sent_again_as_a_new_one(stand: Stand) -> None:
    first = stand.documents.ingest("# One\n\nText.", source_uri=SOURCE)
    stand.forget(stand.principal, Target(source=SOURCE), Reason.MISTAKE)
    again = stand.documents.ingest("# One\n\nText.", source_uri=SOURCE)
    assert again["document_id"] != first["document_id"]


def test_the_bodies_of_the_forgotten_do_not_open_and_the_chain_verifies(stand: Stand) -> None:
    from cairn.ledger.verify import verify

    stand.tell("one")
    done = stand.forgets().forgetting
    with stand.forget_stores.reading(stand.principal) as stores:
        entries = stores.ledger.page(after=0, limit=100)
        head = stores.ledger.head()
    assert stand.keys.get(stand.workspace_id, [done.subject_id]) == {}
    with pytest.raises(SubjectForgotten):
        stand.keys.get_or_create(stand.workspace_id, [done.subject_id])
    assert verify(entries, workspace_id=stand.workspace_id, expected=head).ok
    assert entries[-1].type in ("subject.forgotten", "node.purged")
