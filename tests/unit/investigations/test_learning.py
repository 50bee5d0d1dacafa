"""What people say of investigations, and what may be learned of them: staged, decided, archived."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest
from tests.support.agent import Agents, Killed, ScriptedPlanner, act
from tests.support.people import People, Seeing

from cairn.graph.memory_records import Dump, NodeDump
from cairn.investigations.people.learning import Learn
from cairn.investigations.people.proposing import ProposeObservations, deed, repeated
from cairn.investigations.ports import CandidateState, Ruling
from cairn.investigations.state import State, Verdict
from cairn.kernel.access import Principal, Role, Scope
from cairn.kernel.errors import Conflict, Denied, NotFound, Unavailable, ValidationFailed
from cairn.kernel.ids import new_id
from cairn.safety.tools import Lane
from cairn.writing.ports import Subject

WEEK = timedelta(days=7, minutes=1)
MONTH = timedelta(days=30, minutes=1)


@pytest.fixture
def people() -> People:
    agents = Agents(planner=ScriptedPlanner([act("accounts.unlock", user="bob@acme.test")]))
    agents.planner.at = lambda question: len(question.memory.observations)
    agents.host.add("accounts.unlock", Lane.WRITE)
    return People(agents, Seeing(agents))


def other(people: People, role: Role = Role.ADMIN) -> Principal:
    admin = people.agents.admin
    return Principal(
        workspace_id=admin.workspace_id,
        principal_id=new_id(),
        role=role,
        allowed_scopes=admin.allowed_scopes,
        name="other",
    )


def rate(people: People, one: UUID, rating: int = 5, **said: Any) -> None:
    people.opinions.rate(said.pop("by", people.agents.admin), one, rating=rating, **said)


def sweep(people: People, later: timedelta = timedelta()) -> int:
    return people.stage.due(people.agents.workspace_id, people.agents.clock.now + later)


class TestOpinions:
    def test_the_last_word_of_each_counts_and_every_word_is_an_entry(self, people: People) -> None:
        one = people.resolved()
        rate(people, one, 2, comment="Slow.")
        rate(people, one, 3)
        rate(people, one, 1, by=other(people))
        people.opinions.dispute(people.agents.admin, one, reason="It broke again.")
        stands = people.opinions.of(people.agents.admin, one)
        assert sorted((said.kind, said.rating, said.text) for said in stands) == [
            ("dispute", None, "It broke again."),
            ("rating", 1, ""),
        ]
        types = people.agents.types()
        assert types.count("investigation.rated") == 3
        assert types.count("investigation.disputed") == 1

    def test_texts_stand_in_no_meta(self, people: People) -> None:
        one = people.resolved()
        rate(people, one, 5, comment="Thanks, secretly.")
        assert all("secretly" not in str(entry.meta) for entry in people.agents.entries())

    @pytest.mark.parametrize("rating", [0, 6, -1, True])
    def test_a_rating_is_one_to_five(self, people: People, rating: int) -> None:
        one = people.resolved()
        with pytest.raises(ValidationFailed) as refused:
            rate(people, one, rating)
        assert refused.value.errors[0].location == "rating"

    def test_what_runs_still_is_not_judged(self, people: People) -> None:
        one = people.agents.begin()
        with pytest.raises(Conflict) as refused:
            rate(people, one)
        assert refused.value.reason == "not-ended"

    def test_agents_do_not_judge_their_own_work(self, people: People) -> None:
        one = people.resolved()
        with pytest.raises(Denied):
            rate(people, one, by=other(people, Role.AGENT))
        with pytest.raises(NotFound):
            rate(people, new_id())


class TestStaging:
    def test_a_good_rating_stages_the_redacted_ticket_its_resolution_and_what_was_done(
        self, people: People
    ) -> None:
        one = people.resolved()
        assert people.staged() == []
        rate(people, one, 4)
        (staged,) = people.staged()
        assert (staged.investigation_id, staged.cause, staged.title) == (one, "rated", "Locked out")
        text = people.candidates.show(people.agents.admin, staged.id).text or ""
        assert "## Problem" in text and "<EMAIL_1>" in text
        assert "The account is unlocked again" in text
        assert "`accounts.unlock`" in text and "applied" in text
        assert "acme" not in text.casefold()
        assert people.agents.types().count("resolution.staged") == 1

    def test_neither_the_company_nor_the_person_of_a_customer_is_named(
        self, people: People
    ) -> None:
        customer = "Hartwell Law \u2014 Kevin Reyes"
        one = people.resolved(
            f"{customer}: Kevin Reyes of HARTWELL LAW cannot sign in. Bob can.",
            title="Hartwell Law is locked out",
            customer=customer,
        )
        rate(people, one)
        (staged,) = people.staged()
        text = people.candidates.show(people.agents.admin, staged.id).text or ""
        assert staged.title == "the customer is locked out"
        assert "the customer: the customer of the customer cannot sign in. Bob can." in text
        assert "hartwell" not in text.casefold() and "reyes" not in text.casefold()

    def test_a_resolution_is_staged_once(self, people: People) -> None:
        one = people.resolved()
        rate(people, one)
        rate(people, one)
        assert sweep(people, WEEK) == 0
        assert len(people.staged()) == 1

    def test_a_poor_rating_stages_nothing_at_once(self, people: People) -> None:
        rate(people, people.resolved(), 3)
        assert (people.staged(), sweep(people)) == ([], 0)

    def test_what_nobody_disputed_for_seven_days_is_staged(self, people: People) -> None:
        one = people.resolved()
        assert sweep(people, timedelta(days=6, hours=23)) == 0
        assert sweep(people, WEEK) == 1
        assert [(each.investigation_id, each.cause) for each in people.staged()] == [
            (one, "undisputed")
        ]

    def test_a_dispute_keeps_it_out_and_a_change_of_mind_lets_it_in(self, people: People) -> None:
        one, admin = people.resolved(), people.agents.admin
        people.opinions.dispute(admin, one, reason="Wrong account.")
        rate(people, one, 5, by=other(people))
        assert (people.staged(), sweep(people, WEEK)) == ([], 0)
        rate(people, one, 5)
        assert len(people.staged()) == 1

    def test_a_dispute_takes_back_what_waits(self, people: People) -> None:
        one, admin = people.resolved(), people.agents.admin
        rate(people, one)
        (staged,) = people.staged()
        people.opinions.dispute(admin, one, reason="It came back.")
        found = people.candidates.show(admin, staged.id)
        assert (found.state, found.reason) == (CandidateState.REJECTED, "disputed")

    def test_what_a_person_had_to_finish_is_not_learned(self, people: People) -> None:
        people.agents.planner.ruling = Ruling(verdict=Verdict.NEEDS_TECH, reason="No.")
        one = people.agents.begin()
        assert people.agents.work(one).state is State.DONE
        rate(people, one)
        assert (people.staged(), sweep(people, WEEK)) == ([], 0)

    def test_nothing_is_learned_of_the_forgotten_and_nobody_asks_again(
        self, people: People
    ) -> None:
        subject = new_id()
        one = people.resolved(data_subjects=(subject,))
        people.agents.keys.destroy(people.agents.workspace_id, subject)
        assert sweep(people, WEEK) == 0
        (kept,) = people.candidates.page(people.agents.admin)
        assert (kept.investigation_id, kept.state, kept.reason) == (
            one,
            CandidateState.ARCHIVED,
            "forgotten",
        )
        assert sweep(people, WEEK) == 0


class TestReview:
    def staged(self, people: People) -> UUID:
        rate(people, people.resolved())
        return people.staged()[-1].id

    def test_an_accepted_one_is_a_verified_document(self, people: People) -> None:
        one, admin = self.staged(people), people.agents.admin
        found = people.candidates.accept(admin, one)
        assert (found.state, found.decided_by) == (CandidateState.ACCEPTED, admin.principal_id)
        assert found.document_id is not None
        (entry,) = [e for e in people.agents.entries() if e.type == "document.received"]
        body = people.agents.body(entry)
        assert body["source_uri"] == f"kb://resolutions/{one}"
        assert body["metadata"]["verified"] is True
        again = people.candidates.accept(admin, one)
        assert again == found
        assert people.agents.types().count("document.received") == 1

    def test_an_acceptance_that_was_interrupted_goes_on(self, people: People) -> None:
        one, admin = self.staged(people), people.agents.admin
        people.agents.commits.arm(after=1)
        with pytest.raises(Killed):
            people.candidates.accept(admin, one)
        people.agents.commits.arm()
        assert people.candidates.show(admin, one).document_id is None
        found = people.candidates.accept(admin, one)
        assert found.document_id is not None
        assert people.agents.types().count("resolution.accepted") == 1

    def test_an_edit_is_what_is_accepted(self, people: People) -> None:
        one, admin = self.staged(people), people.agents.admin
        found = people.candidates.edit(admin, one, text="# Unlock\n\nIn two steps.")
        assert (found.state, found.title) == (CandidateState.STAGED, "Locked out")
        people.candidates.accept(admin, one)
        assert b"In two steps." in next(iter(people.documents.objects.held.values()))

    def test_what_was_read_is_what_is_accepted_though_somebody_edits_meanwhile(
        self, people: People
    ) -> None:
        one, journal = self.staged(people), people.agents.journal

        class Slow:
            def __getattr__(self, name: str) -> Any:
                return getattr(journal, name)

            def write(self, *given: Any, **more: Any) -> Any:
                waits = people.candidates.show(people.agents.admin, one)
                if waits.state is CandidateState.STAGED:
                    people.candidates.edit(other(people), one, text="# Something else")
                return journal.write(*given, **more)

        candidates = replace(people.candidates, journal=Slow())  # type: ignore[arg-type]
        accepted = candidates.accept(people.agents.admin, one)
        assert "## Problem" in (accepted.text or "")
        (stored,) = people.documents.objects.held.values()
        assert stored.decode() == accepted.text

    def test_a_rejected_one_stays_as_a_record(self, people: People) -> None:
        one, admin = self.staged(people), people.agents.admin
        found = people.candidates.reject(admin, one, reason="Only this customer has that.")
        assert found.rejected_because == "Only this customer has that."
        assert people.agents.types().count("document.received") == 0
        for decide in (
            lambda: people.candidates.accept(admin, one),
            lambda: people.candidates.edit(admin, one, text="x"),
            lambda: people.candidates.reject(admin, one, reason="x"),
        ):
            with pytest.raises(Conflict) as refused:
                decide()
            assert refused.value.reason == "already-decided"

    def test_only_admins_review_and_only_their_own_scopes(self, people: People) -> None:
        one = self.staged(people)
        with pytest.raises(Denied):
            people.candidates.page(other(people, Role.AGENT))
        with pytest.raises(Denied):
            people.candidates.accept(other(people, Role.AGENT), one)
        with pytest.raises(NotFound):
            people.candidates.show(people.agents.admin, new_id())
        assert people.candidates.accept(people.agents.admin, one, scope=Scope.SHARED).document_id

    def test_what_nobody_looked_at_for_thirty_days_is_archived(self, people: People) -> None:
        one, made = self.staged(people), people.agents
        assert people.stage.archive(made.workspace_id, made.clock.now + timedelta(days=29)) == 0
        assert people.stage.archive(made.workspace_id, made.clock.now + MONTH) == 1
        assert people.stage.archive(made.workspace_id, made.clock.now + MONTH) == 0
        found = people.candidates.show(made.admin, one)
        assert (found.state, found.reason) == (CandidateState.ARCHIVED, "unreviewed")
        assert made.types().count("resolution.archived") == 1

    def test_nobody_accepts_what_is_about_the_forgotten(self, people: People) -> None:
        subject = new_id()
        rate(people, people.resolved(data_subjects=(subject,)))
        (staged,) = people.staged()
        people.agents.keys.destroy(people.agents.workspace_id, subject)
        assert people.candidates.show(people.agents.admin, staged.id).text is None
        with pytest.raises(NotFound) as refused:
            people.candidates.accept(people.agents.admin, staged.id)
        assert refused.value.reason == "forgotten"


class Noted:
    """A memory graph that keeps what is written, but for nodes that are held back."""

    def __init__(self, held: str) -> None:
        self.held, self.keys = held, list[str]()

    def get_node(self, workspace_id: UUID, label: str, natural_key: str) -> None:
        return None

    def write(self, workspace_id: UUID, records: Sequence[Dump], *, importing: bool) -> Any:
        keys = [record.natural_key for record in records if isinstance(record, NodeDump)]
        if any(key.endswith(self.held) for key in keys):
            raise Conflict("This node is quarantined.", reason="node-state")
        self.keys += keys


def test_what_cannot_be_a_node_or_is_held_back_does_not_keep_others_from_being_proposed(
    people: People,
) -> None:
    made, noted = people.agents, Noted(held=":held")
    for key in ("x" * 250, "held", "acme"):
        customer = new_id()
        with made.transactions.writing(made.admin) as stores:
            stores.subjects.add(Subject(id=customer, kind="client", natural_key=key), 1)
        for _ in range(3):
            people.resolved(data_subjects=(customer,))
    propose = ProposeObservations(journal=made.journal, graph=noted)
    assert propose(made.workspace_id, made.clock.now) == 1
    assert noted.keys == ["customer:acme", "observation:unlock:applied:lock:customer:acme"]


def test_what_was_done_is_compared_by_what_it_is_for_and_not_by_the_tools_name() -> None:
    assert deed("accounts.unlock_user") == deed("directory.unblockAccount") == "unlock"
    assert deed("crm.send_offer") != deed("crm.delete_offer")


def test_only_tickets_that_say_the_same_confirm_one_another() -> None:
    locked = ["account locked password wrong", "password wrong account locked again",
              "locked account typed password wrong"]  # fmt: skip
    others = ["printer stripes toner", "invoice charged twice"]
    said = [(UUID(int=at), frozenset(one.split())) for at, one in enumerate([*locked, *others])]
    (found,) = repeated(("acme", "unlock", "applied"), said)
    assert found.times == 3
    assert found.about == ("account", "locked", "password")
    assert repeated(("acme", "unlock", "applied"), said[1:]) == []
    assert repeated(("acme", "unlock", "applied"), said[::-1]) == [found]


@pytest.mark.parametrize("rating", [1, 2])
def test_what_was_rated_poorly_is_not_learned_from(people: People, rating: int) -> None:
    one, staged = people.resolved(), people.resolved()
    rate(people, one, rating)
    rate(people, one, 5, by=other(people))
    assert sweep(people, WEEK) == 1
    assert [each.investigation_id for each in people.staged()] == [staged]
    rate(people, staged, rating)
    assert people.staged() == []


def test_a_workspace_that_fails_does_not_keep_others_waiting(people: People) -> None:
    people.resolved()
    reports: list[Any] = []
    away = new_id()

    class Gone:
        def __call__(self, workspace_id: UUID, now: Any) -> int:
            if workspace_id == away:
                raise Unavailable("The database does not answer.")
            return 0

    def later() -> Any:
        return people.agents.clock.now + WEEK

    people.agents.transactions.create_workspace(away)
    counts = Learn(
        workspaces=lambda: [away, people.agents.workspace_id],
        stage=people.stage,
        propose=Gone(),  # type: ignore[arg-type]
        clock=later,
        report=lambda event, told: reports.append((event, told["workspace_id"])),
    )()
    assert counts == {"staged": 1, "archived": 0, "proposed": 0}
    assert reports == [("learning.failed", str(away))]
