"""Writers at the same time, out of order, or twice: one chain, one active memory, one answer."""

from functools import partial
from typing import Any

from tests.e2e.tenant import Tenant, at_once, good, refused

WRITERS = 8


def fact(text: str, day: int, **more: Any) -> dict[str, Any]:
    moment = f"2026-03-{day:02}T00:00:00Z"
    return {"type": "fact", "key": "door", "text": text, "valid_from": moment, **more}


def chain(tenant: Tenant) -> list[dict[str, Any]]:
    """All facts of the key by the time they began to hold."""
    items = tenant.get("/v1/memories", key="door", state="any", limit=200)["items"]
    return sorted(items, key=lambda each: each["valid_from"])


def intervals_touch(links: list[dict[str, Any]]) -> bool:
    ends = [each["valid_to"] for each in links]
    begins = [each["valid_from"] for each in links]
    return ends == [*begins[1:], None]


def test_many_writers_of_one_key_leave_exactly_one_active(workspace: Tenant) -> None:
    calls = [
        partial(workspace.call, "POST", "/v1/memories", json=fact(f"The door is colour {n}.", n))
        for n in range(1, WRITERS + 1)
    ]
    answers = [good(item) for item in at_once(calls)]
    assert len({each["id"] for each in answers}) == WRITERS
    links = chain(workspace)
    assert len(links) == WRITERS
    assert [each["state"] for each in links] == ["superseded"] * (WRITERS - 1) + ["active"]
    assert links[-1]["text"] == f"The door is colour {WRITERS}."
    assert intervals_touch(links)
    assert workspace.chain_holds()


def test_what_arrives_out_of_order_is_put_where_it_belongs(workspace: Tenant) -> None:
    for day in (9, 2, 5):
        workspace.post("/v1/memories", fact(f"The door was painted on day {day}.", day))
    links = chain(workspace)
    assert [each["text"][-2] for each in links] == ["2", "5", "9"]
    assert [each["state"] for each in links] == ["superseded", "superseded", "active"]
    assert [each["supersedes"] for each in links] == [None, links[0]["id"], links[1]["id"]]
    assert [each["superseded_by"] for each in links] == [links[1]["id"], links[2]["id"], None]
    assert intervals_touch(links)


def test_the_same_text_from_many_agents_at_once_is_one_memory(workspace: Tenant) -> None:
    def said_by(agent: str) -> dict[str, Any]:
        return {"type": "fact", "key": "sea", "text": "The sea is calm.", "source_agent": agent}

    calls = [
        partial(workspace.call, "POST", "/v1/memories", json=said_by(f"agent-{n}"))
        for n in range(WRITERS)
    ]
    answers = [good(item) for item in at_once(calls)]
    assert sorted(each["outcome"] for each in answers) == (
        ["corroborated"] * (WRITERS - 1) + ["created"]
    )
    (memory,) = workspace.get("/v1/memories", key="sea", state="any")["items"]
    assert memory["observation_count"] == WRITERS
    assert len(memory["observed_by"]) == WRITERS


def keyed(tenant: Tenant, text: str, key: str = "once") -> Any:
    body = {"type": "event", "text": text}
    return tenant.call("POST", "/v1/memories", json=body, headers={"idempotency-key": key})


def test_an_idempotency_key_with_another_body_is_refused(workspace: Tenant) -> None:
    good(keyed(workspace, "The first body."))
    problem = refused(keyed(workspace, "Another body."), 422, "validation-failed")
    assert problem["reason"] == "idempotency-mismatch"
    assert workspace.get("/v1/status")["memories"] == 1


def test_a_repeat_gets_the_first_answer_and_says_so(workspace: Tenant) -> None:
    first, second = keyed(workspace, "Said once."), keyed(workspace, "Said once.")
    assert "idempotency-replayed" not in first.headers
    assert second.headers["idempotency-replayed"] == "true"
    assert (first.status_code, first.json()) == (second.status_code, second.json())


def test_requests_with_one_key_at_once_write_once(workspace: Tenant) -> None:
    answers = at_once([partial(keyed, workspace, "Said once.") for _ in range(WRITERS)])
    assert {answer.status_code for answer in answers} <= {201, 409}
    for answer in answers:
        if answer.status_code == 409:
            assert refused(answer, 409, "conflict")["reason"] == "idempotency-in-flight"
    done = [answer for answer in answers if answer.status_code == 201]
    assert len({item.json()["id"] for item in done}) == 1
    assert sum("idempotency-replayed" not in item.headers for item in done) == 1
    assert workspace.get("/v1/status")["memories"] == 1


def test_in_a_batch_with_a_bad_item_the_others_stand(workspace: Tenant) -> None:
    body = {
        "items": [
            {"type": "event", "text": "The first is good."},
            {"type": "rumour", "text": "The second has no such type."},
            {"type": "event", "text": "The third is good."},
        ]
    }
    first, bad, third = workspace.post("/v1/memories", body)["results"]
    assert [first["outcome"], bad["outcome"], third["outcome"]] == [
        "created",
        "rejected",
        "created",
    ]
    assert bad["error"]["type"] == "urn:cairn:error:validation-failed"
    assert workspace.get("/v1/status")["memories"] == 2
    assert workspace.texts("good") != []
