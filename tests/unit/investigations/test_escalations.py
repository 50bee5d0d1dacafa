"""A person is called once, by their persona's channel, else by a note at the ticket."""

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any
from uuid import UUID

import pytest
from tests.support.agent import Agents, Killed, ScriptedPlanner, act
from tests.support.people import People, Seeing

from cairn.investigations.ports import EscalationState, Ruling
from cairn.investigations.state import State, Verdict
from cairn.kernel.errors import Conflict, NotFound, Unavailable, ValidationFailed
from cairn.kernel.ids import new_id
from cairn.safety.tools import Lane
from cairn.webhooks.webhooks import MAX_ATTEMPTS, Webhook, signed_headers
from cairn.writing.ports import Topic
from cairn.writing.webhook_events import WebhookEvent

SECRET = "whsec_c2VjcmV0"
URL = "https://hooks.slack.com/services/T0/B0/long"


@pytest.fixture
def people() -> Callable[..., People]:
    def made(**given: Any) -> People:
        planner = ScriptedPlanner([act("accounts.unlock")])
        planner.ruling = Ruling(verdict=Verdict.NEEDS_TECH, reason="Nobody <may> do this & that.")
        agents = Agents(planner=planner, **given)
        agents.host.add("accounts.unlock", Lane.WRITE)
        world = People(agents, Seeing(agents))
        agents.close = replace(agents.close, escalate=world.queue)
        agents.loop = replace(agents.loop, close=agents.close)
        return world

    return made


def ended(world: People, channel: str = "ticket-note", body: str = "I am ada@acme.test.") -> UUID:
    made = world.agents
    made.desk.personas["default"] = replace(made.persona, escalation=channel)
    one = made.begin(body)
    assert made.work(one).state is State.DONE
    return one


def webhook(world: People) -> str:
    made = world.agents
    webhook_id = UUID(int=7)
    owner = (made.workspace_id,)
    keys = made.keys.get_or_create(made.workspace_id, owner)
    sealed = made.journal.platform.cipher.seal(
        webhook_id, made.workspace_id, keys, {"secret": SECRET}
    )
    with made.transactions.writing(made.admin) as stores:
        one = Webhook(
            id=webhook_id,
            url="https://example.org/hook",
            events=(WebhookEvent.CONSOLIDATION_DONE,),
            created_at=made.clock(),
        )
        stores.webhooks.add(one, sealed)
    return f"webhook:{webhook_id}"


def test_a_note_at_the_ticket_says_why_and_where_to_look(people: Callable[..., People]) -> None:
    world = people()
    one = ended(world)
    assert world.call(one) == "delivered"
    called = world.called(one)
    assert (called.state, called.noted, called.attempts) == (EscalationState.DELIVERED, True, 1)
    note = world.agents.desk.notes[one]
    assert "needs_tech. Nobody <may> do this & that." in note
    assert f"cairn escalations show {called.id}" in note
    assert f"/v1/escalations/{called.id}" in note
    assert world.sender.posts == []
    assert world.agents.types().count("escalation.queued") == 1
    assert world.agents.types().count("escalation.delivered") == 1


def test_one_call_an_investigation_however_often_it_is_closed(
    people: Callable[..., People],
) -> None:
    world = people()
    one = ended(world)
    world.queue(world.agents.workspace_id, one, verdict=Verdict.FAILED, why="again")
    assert len(list(world.agents.woken(Topic.ESCALATION))) == 1
    assert world.called(one).verdict is Verdict.NEEDS_TECH
    world.call(one)
    assert world.call(one) == "nothing"


def test_what_was_resolved_calls_nobody(people: Callable[..., People]) -> None:
    world = people()
    world.agents.planner.ruling = Ruling(verdict=Verdict.AUTO_RESOLVED, reason="Done.")
    ended(world)
    assert not list(world.agents.woken(Topic.ESCALATION))


def test_a_webhook_is_signed_and_carries_ids_only(people: Callable[..., People]) -> None:
    world = people()
    one = ended(world, webhook(world))
    assert world.call(one) == "delivered"
    ((url, body, headers),) = world.sender.posts
    called = world.called(one)
    assert url == "https://example.org/hook"
    assert headers["webhook-id"] == str(called.id)
    sent_at = int(headers["webhook-timestamp"])
    assert headers == signed_headers(SECRET, called.id, sent_at, body)
    told = json.loads(body)
    assert told["type"] == "escalation_requested"
    assert set(told["data"]) == {
        "escalation_id",
        "investigation_id",
        "ticket_id",
        "verdict",
        "path",
    }
    assert b"Nobody" not in body
    assert world.agents.desk.notes == {}


def test_slack_is_told_with_placeholders_and_without_its_markup(
    people: Callable[..., People],
) -> None:
    world = people()
    world.channels.create(world.agents.admin, name="ops", url=URL)
    world.agents.planner.ruling = Ruling(
        verdict=Verdict.NEEDS_L2, reason="<!channel> asks for <EMAIL_1>."
    )
    one = ended(world, "slack:ops")
    assert world.call(one) == "delivered"
    ((url, body, headers),) = world.sender.posts
    text = json.loads(body)["text"]
    assert url == URL
    assert "&lt;!channel&gt; asks for &lt;EMAIL_1&gt;" in text
    assert "ada@acme.test" not in text
    assert str(world.called(one).id) in text
    assert headers == {"content-type": "application/json"}


def test_a_channel_that_fails_leaves_a_note_and_is_tried_again(
    people: Callable[..., People],
) -> None:
    world = people()
    world.sender.answers = [Unavailable("gone", reason="timeout"), 200]
    one = ended(world, webhook(world))
    with pytest.raises(Unavailable):
        world.call(one)
    called = world.called(one)
    assert (called.state, called.noted, called.error) == (EscalationState.QUEUED, True, "timeout")
    assert world.call(one) == "delivered"
    assert len(world.agents.desk.notes) == 1
    assert {headers["webhook-id"] for _, _, headers in world.sender.posts} == {str(called.id)}


@pytest.mark.parametrize("channel", [f"webhook:{UUID(int=9)}", "webhook:" + "-" * 36, "slack:none"])
def test_a_channel_that_is_gone_fails_visibly_with_a_note(
    people: Callable[..., People], channel: str
) -> None:
    world = people()
    one = ended(world, channel)
    assert world.call(one) == "failed"
    called = world.called(one)
    assert called.noted and (called.error or "").startswith("no-such-")
    assert world.agents.types().count("escalation.failed") == 1
    shown = world.escalations.retry(world.agents.admin, called.id)
    assert shown.state is EscalationState.QUEUED
    world.agents.desk.personas["default"] = world.agents.persona
    assert world.call(one) == "delivered"


def test_slack_that_refuses_is_not_asked_again(people: Callable[..., People]) -> None:
    world = people()
    world.channels.create(world.agents.admin, name="ops", url=URL)
    world.sender.answers = [403]
    one = ended(world, "slack:ops")
    assert world.call(one) == "failed"
    assert world.called(one).error == "status-403"


def test_tries_come_to_an_end(people: Callable[..., People]) -> None:
    world = people()
    world.sender.answers = [503]
    one = ended(world, webhook(world))
    for _ in range(MAX_ATTEMPTS - 1):
        with pytest.raises(Unavailable):
            world.call(one)
    assert world.call(one) == "failed"
    assert world.called(one).attempts == MAX_ATTEMPTS


@pytest.mark.parametrize("why", ["not-supported", "refused"])
def test_where_nobody_can_be_told_the_call_failed_and_its_message_is_a_dead_letter(
    people: Callable[..., People], why: str
) -> None:
    world = people()
    one = ended(world)
    world.agents.desk.notable = why
    for _ in range(3):
        with pytest.raises(Unavailable) as nobody:
            world.call(one)
        assert nobody.value.reason == why
    called = world.called(one)
    assert (called.state, called.attempts) == (EscalationState.FAILED, 1)
    assert (called.error, called.noted) == (why, False)
    assert world.agents.types().count("escalation.failed") == 1
    world.channels.create(world.agents.admin, name="ops", url=URL)
    world.escalations.retry(world.agents.admin, called.id)
    assert world.call(one) == "delivered"


@pytest.mark.parametrize("why", ["not-supported", "needs-auth", "refused"])
def test_a_note_the_source_does_not_take_goes_to_the_workspaces_other_channels(
    people: Callable[..., People], why: str
) -> None:
    world = people()
    world.channels.create(world.agents.admin, name="broken", url=f"{URL}1")
    world.channels.create(world.agents.admin, name="ops", url=URL)
    world.sender.answers = [403, 200]
    one = ended(world)
    world.agents.desk.notable = why
    assert world.call(one) == "delivered"
    assert [url for url, _, _ in world.sender.posts] == [f"{URL}1", URL]
    called = world.called(one)
    assert (called.channel, called.noted, called.error) == ("slack:ops", False, None)


def test_a_help_desk_that_refuses_its_keys_is_told_once_they_are_renewed(
    people: Callable[..., People],
) -> None:
    world = people()
    one = ended(world)
    world.agents.desk.notable = "needs-auth"
    with pytest.raises(Unavailable):
        world.call(one)
    assert (world.called(one).state, world.called(one).error) == (
        EscalationState.QUEUED,
        "needs-auth",
    )
    world.agents.desk.notable = "done"
    assert world.call(one) == "delivered"


def test_a_death_between_post_and_commit_posts_the_same_id_again(
    people: Callable[..., People],
) -> None:
    world = people()
    one = ended(world, webhook(world))
    world.agents.commits.arm(before=1)
    with pytest.raises(Killed):
        world.call(one)
    world.agents.commits.arm()
    assert world.call(one) == "delivered"
    assert world.call(one) == "nothing"
    ids = [headers["webhook-id"] for _, _, headers in world.sender.posts]
    assert len(ids) == 2
    assert len(set(ids)) == 1


def test_a_call_about_somebody_who_was_forgotten_ends_as_an_entry_that_speaks_of_nobody(
    people: Callable[..., People],
) -> None:
    world = people()
    subject = new_id()
    made = world.agents
    made.desk.personas["default"] = replace(made.persona, escalation=webhook(world))
    one = made.begin(data_subjects=(subject,))
    made.work(one)
    made.keys.destroy(made.workspace_id, subject)
    assert [world.call(one), world.call(one)] == ["failed", "nothing"]
    called = world.called(one)
    assert (called.state, called.error) == (EscalationState.FAILED, "subject-forgotten")
    assert (world.sender.posts, made.desk.notes) == ([], {})
    (entry,) = [entry for entry in made.entries() if entry.type == "escalation.failed"]
    assert (entry.data_subjects, entry.meta["error"]) == ((), "subject-forgotten")
    assert entry.meta["escalation_id"] == str(called.id)


def test_what_waits_for_a_sign_in_says_which_and_how(people: Callable[..., People]) -> None:
    world = people()
    one = ended(world)
    made = world.agents
    with made.transactions.writing(made.admin) as stores:
        stores.tickets.park(made.found_(one).ticket_id, "connector:crm")
    world.call(one)
    note = made.desk.notes[one]
    assert "The connector crm has to be authorised again" in note
    assert "cairn connectors set crm --secret NAME" in note
    assert "/console/connectors/crm/sign-in" in note


class TestHandOff:
    def test_has_everything_but_the_vault(self, people: Callable[..., People]) -> None:
        world = people()
        world.agents.host.answers["accounts.unlock"] = lambda call: "unlocked bob@acme.test"
        one = ended(world)
        found = world.escalations.show(world.agents.admin, world.called(one).id)
        assert found.escalation.why == "Nobody <may> do this & that."
        assert [line.seq for line in found.transcript] == list(range(1, len(found.transcript) + 1))
        assert all(line.detail for line in found.transcript)
        (call,) = found.tool_calls
        assert (call.tool, call.input is not None) == ("accounts.unlock", True)
        assert found.memory is not None
        assert "vault" not in found.memory
        assert "@acme.test" not in json.dumps(found.memory)
        assert "@acme.test" not in str(call)
        assert f"[tool:{call.id}]" in found.citations
        assert found.investigation.verdict is Verdict.NEEDS_TECH

    def test_of_nobody_is_not_found(self, people: Callable[..., People]) -> None:
        world = people()
        with pytest.raises(NotFound):
            world.escalations.show(world.agents.admin, UUID(int=1))
        with pytest.raises(NotFound):
            world.escalations.retry(world.agents.admin, UUID(int=1))

    def test_only_failed_calls_are_tried_again(self, people: Callable[..., People]) -> None:
        world = people()
        one = ended(world)
        with pytest.raises(Conflict) as refused:
            world.escalations.retry(world.agents.admin, world.called(one).id)
        assert refused.value.reason == "not-failed"

    def test_calls_are_listed_by_state(self, people: Callable[..., People]) -> None:
        world = people()
        first, second = ended(world), ended(world)
        world.call(first)
        queued = world.escalations.page(world.agents.admin, state=EscalationState.QUEUED)
        assert [item.investigation_id for item in queued] == [second]
        every = world.escalations.page(world.agents.admin)
        assert [item.investigation_id for item in every] == [second, first]


class TestChannels:
    def test_are_kept_without_showing_their_address(self, people: Callable[..., People]) -> None:
        world = people()
        admin = world.agents.admin
        world.channels.create(admin, name="ops", url=URL)
        assert URL not in str(world.channels.all(admin))
        with pytest.raises(Conflict):
            world.channels.create(admin, name="ops", url=URL)
        world.channels.remove(admin, "ops")
        assert world.channels.all(admin) == []
        with pytest.raises(NotFound):
            world.channels.remove(admin, "ops")
        assert world.agents.types()[-2:] == [
            "escalation.channel_added",
            "escalation.channel_removed",
        ]

    @pytest.mark.parametrize(
        ("name", "url", "field"),
        [
            ("Ops Room", URL, "name"),
            ("ops", "https://a:b@hooks.slack.com/x", "url"),
            ("", URL, "name"),
        ],
    )
    def test_bad_ones_are_refused(
        self, people: Callable[..., People], name: str, url: str, field: str
    ) -> None:
        world = people()
        with pytest.raises(ValidationFailed) as refused:
            world.channels.create(world.agents.admin, name=name, url=url)
        assert refused.value.errors[0].location == field
