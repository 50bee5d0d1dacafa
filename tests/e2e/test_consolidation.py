"""Consolidation on a running stack: by the schedule's own target, and asked for over HTTP."""

import json
from typing import TYPE_CHECKING, Any

from tests.e2e.tenant import Tenant, open_workspace
from tests.plugins.waiting import eventually

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
