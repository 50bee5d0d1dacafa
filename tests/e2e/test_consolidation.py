"""Consolidation on a running stack: by the schedule's own target, and asked for over HTTP."""

import json
from collections.abc import Generator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from tests.e2e.tenant import Tenant, open_workspace
from tests.plugins.waiting import eventually
from tests.support.chat_wire import ChatServer, chat_server

if TYPE_CHECKING:
    from tests.plugins.laptop import Laptop

RULE = "cairn-local-consolidation"
SECONDS = 180.0


def told(tenant: Tenant, place: str) -> None:
    """Two facts that say the same, and one that says otherwise."""
    for text in (
        f"The lift in the {place} office is serviced every May.",
        f"The lift in the {place} office is serviced every May",
        f"The harbour of {place} has 12 cranes.",
        f"The harbour of {place} has 14 cranes.",
    ):
        tenant.tell(text, type="fact")
    tenant.all_embedded()


def ended(laptop: "Laptop", arn: str) -> dict[str, Any]:
    machines = laptop.client("stepfunctions")

    def look() -> dict[str, Any] | None:
        found: dict[str, Any] = machines.describe_execution(executionArn=arn)
        return None if found["status"] == "RUNNING" else found

    found = eventually(look, seconds=SECONDS, what=f"the end of {arn}")
    assert found is not None
    return found


def test_the_schedule_is_there_and_what_it_starts_consolidates(laptop: "Laptop") -> None:
    tenant = open_workspace(laptop, "scheduled")
    told(tenant, "Leeds")
    events = laptop.client("events")
    rule = events.describe_rule(Name=RULE)
    assert (rule["State"], rule["ScheduleExpression"]) == ("ENABLED", "cron(17 0/6 * * ? *)")
    [target] = events.list_targets_by_rule(Rule=RULE)["Targets"]
    started = laptop.client("stepfunctions").start_execution(
        stateMachineArn=target["Arn"], input=target["Input"]
    )
    found = ended(laptop, started["executionArn"])
    assert found["status"] == "SUCCEEDED", found
    assert json.loads(found["output"])["status"] == "completed"
    [run] = tenant.get("/v1/consolidations")["items"]
    assert (run["trigger"], run["state"]) == ("schedule", "finished")
    assert run["execution"] == started["executionArn"]
    assert (run["counts"]["memories"], run["counts"]["merged"]) == (4, 1)
    assert run["counts"]["flagged"] == 1
    texts = tenant.texts("When is the lift in Leeds serviced?", kinds=["fact"], limit=5)
    assert len([text for text in texts if "lift" in text]) == 1
    assert tenant.get("/v1/ledger/verify")["ok"]


def test_a_run_asked_for_is_followed_by_its_id_and_a_dry_run_changes_nothing(
    laptop: "Laptop",
) -> None:
    tenant = open_workspace(laptop, "requested")
    told(tenant, "York")
    before = tenant.get("/v1/status")["ledger_position"]
    plan = tenant.post("/v1/consolidations", {"dry_run": True})
    assert (plan["run"]["counts"]["merged"], plan["run"]["cost_usd"]) == (1, 0.0)
    assert tenant.get("/v1/status")["ledger_position"] == before
    accepted = tenant.post("/v1/consolidations", {})

    def look() -> dict[str, Any] | None:
        run: dict[str, Any] = tenant.get(f"/v1/consolidations/{accepted['id']}")
        return run if run["state"] in ("finished", "failed") else None

    run = eventually(look, seconds=SECONDS, what="the end of the run")
    assert run is not None
    assert (run["state"], run["counts"]["merged"]) == ("finished", 1), run


FUNCTION = "cairn-local-consolidate"
KNEE = "Third week of physio for my knee, ugh."


@contextmanager
def asking(laptop: "Laptop", url: str) -> Generator[None]:
    """Let the deployed function ask a model at `url`, as a deployment with one does."""
    functions = laptop.client("lambda")
    before = functions.get_function_configuration(FunctionName=FUNCTION)["Environment"]
    model = {"CAIRN_OPENAI_BASE_URL": f"{url}/v1", "CAIRN_CHAT_MODEL": "extraction=openai:small"}
    variables = {**before["Variables"], **model}
    functions.update_function_configuration(
        FunctionName=FUNCTION, Environment={"Variables": variables}
    )
    try:
        yield
    finally:
        functions.update_function_configuration(FunctionName=FUNCTION, Environment=before)


def say(tenant: Tenant, text: str) -> str:
    body = {"channel": "api", "session_id": "s", "role": "user", "text": text, "sender": "Helga"}
    said: str = tenant.post("/v1/conversations/messages", body)["message_id"]
    return said


def consolidated(tenant: Tenant) -> dict[str, Any]:
    accepted = tenant.post("/v1/consolidations", {})

    def look() -> dict[str, Any] | None:
        run: dict[str, Any] = tenant.get(f"/v1/consolidations/{accepted['id']}")
        return run if run["state"] in ("finished", "failed") else None

    run = eventually(look, seconds=SECONDS, what="the end of the run")
    assert run is not None
    assert run["state"] == "finished", run
    tenant.all_embedded()
    return run


def asked_for_memories(server: ChatServer) -> list[Any]:
    """The messages of each question of the extraction, beside what other steps ask."""
    asked = [request["messages"] for request in server.requests]
    return [messages for messages in asked if "worth remembering" in json.dumps(messages)]


def test_a_model_draws_what_was_said_and_nothing_else_unless_it_is_switched_off(
    laptop: "Laptop",
) -> None:
    tenant, other = open_workspace(laptop, "drawn"), open_workspace(laptop, "not drawn")
    other.call("PATCH", "/v1/settings", json={"conversations": {"infer": False}})
    said = [say(each, KNEE) for each in (tenant, other)]
    for each in (tenant, other):
        say(each, "See you soon.")
        each.all_embedded()

    def answer(asked: dict[str, Any]) -> str:
        invented = {"message": 1, "kind": "fact", "quote": "I own half of Ghent"}
        stated = {"message": 1, "kind": "fact", "quote": "third week of physio for my knee"}
        return json.dumps({"statements": [invented, stated]})

    with chat_server() as server, asking(laptop, server.url):
        server.answers = answer
        for each in (tenant, other):
            consolidated(each)
        assert KNEE in json.dumps(asked_for_memories(server))
        consolidated(tenant)
        assert len(asked_for_memories(server)) == 1

    [drawn] = tenant.get("/v1/memories")["items"]
    assert drawn["text"] == f"Helga: {KNEE}"
    memory = tenant.get(f"/v1/memories/{drawn['id']}")
    assert memory["parent_id"] == said[0]
    assert memory["metadata"]["cairn"]["drawn_by"] == "openai:small"
    assert other.get("/v1/memories")["items"] == []
    assert tenant.chain_holds()
