"""What investigations about a subject know goes with the subject; that they were stays."""

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from tests.support.agent_rows import action, approval, investigation
from tests.support.forgetting import CANARY, Stand, open_stand
from tests.support.people_rows import call, candidate, opinion

from cairn.adapters.postgres.agents.tool_calls import KeepCall
from cairn.adapters.postgres.database import Database as Pool
from cairn.adapters.postgres.store_transactions import StoreTransactions
from cairn.forgetting.forget import Target
from cairn.kernel.access.system import system_principal
from cairn.kernel.clock import utc_now
from cairn.kernel.ids import new_id
from cairn.safety.grants import GrantRow

if TYPE_CHECKING:
    from tests.plugins.postgres import Database

_COUNTED = (
    *("investigation", "approval", "tool_call", "standing_grant"),
    *("escalation", "investigation_opinion", "kb_candidate"),
)


@pytest.fixture
def stand(database: "Database") -> Iterator[Stand]:
    pool = Pool(database.app_url, size=4)
    yield open_stand(database, pool)
    pool.close()


def test_what_investigations_know_of_a_subject_is_emptied(
    stand: Stand,
) -> None:
    stand.tell("one")
    plan = stand.forget.plan(stand.principal, Target(owner=("client", "acme")))
    about: dict[str, Any] = {"data_subjects": (plan.subject_id,)}
    ours = investigation(stand.workspace_id, **about)
    theirs = investigation(stand.workspace_id)
    asked = approval(ours, content=CANARY.encode(), **about)
    called = action(ours, input=CANARY.encode(), output=CANARY.encode(), **about)
    allowed = GrantRow(
        id=new_id(),
        tool="desk.reset",
        declaration="0" * 64,
        content=CANARY.encode(),
        expires_at=utc_now(),
        max_uses=1,
        made_by=new_id(),
        made_at=utc_now(),
        **about,
    )
    why = call(ours, why=CANARY.encode(), **about)
    said = opinion(ours.id, 5, content=CANARY.encode(), **about)
    staged = candidate(ours.id, content=CANARY.encode(), **about)
    transactions = StoreTransactions(stand.pool)
    with transactions.writing(system_principal(stand.workspace_id)) as stores:
        stores.investigations.add(ours, CANARY.encode())
        stores.investigations.add(theirs, b"of somebody else")
        stores.approvals.add(asked)
        stores.actions.add(called)
        stores.grants.add(allowed)
        stores.escalations.add(why)
        stores.opinions.put(said)
        stores.candidates.add(staged)
    plan = stand.forget.plan(stand.principal, Target(owner=("client", "acme")))
    counted = [plan.counts[item] for item in _COUNTED]
    assert counted == [1] * len(_COUNTED)

    done = stand.forgets()
    assert stand.proof(done, CANARY).clean
    with transactions.reading(system_principal(stand.workspace_id)) as stores:
        assert stores.investigations.find(ours.id) == ours
        assert stores.investigations.snapshot(ours.id) == b""
        assert stores.investigations.snapshot(theirs.id) == b"of somebody else"
        for kept, texts in (
            (stores.approvals.find(asked.id), ("content",)),
            (stores.actions.find(called.id), ("input", "output")),
            (stores.grants.find(allowed.id), ("content",)),
            (stores.escalations.find(why.id), ("why",)),
            (stores.opinions.of(ours.id)[0], ("content",)),
            (stores.candidates.find(staged.id), ("content",)),
        ):
            assert kept is not None
            assert [getattr(kept, name) for name in texts] == [b""] * len(texts)


def test_calls_of_agents_no_longer_name_the_sessions_of_whom_was_forgotten(stand: Stand) -> None:
    stand.tell("one", session_id="chat of acme", sequence=1)
    called, other = (
        replace(
            action(investigation(stand.workspace_id), session_id=session, principal_id=new_id()),
            investigation_id=None,
        )
        for session in ("chat of acme", "another")
    )
    for item in (called, other):
        KeepCall(stand.pool)(stand.principal, item)
    plan = stand.forget.plan(stand.principal, Target(owner=("client", "acme")))
    assert plan.counts["tool_call"] == 1
    stand.forgets()
    with StoreTransactions(stand.pool).reading(stand.principal) as stores:
        kept = [stores.actions.find(item.id) for item in (called, other)]
    assert [item and item.session_id for item in kept] == [None, "another"]
