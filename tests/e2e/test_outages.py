"""Parts that stop, fail and die: nothing that was answered is lost, and work goes on after."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import httpx
import pytest
from tests.e2e.broken import EmbedQueue, sweep, without_aws, without_model
from tests.e2e.cli import cairn
from tests.e2e.tenant import Tenant, good, open_workspace, refused, superuser
from tests.plugins.waiting import eventually

if TYPE_CHECKING:
    from tests.plugins.laptop import Laptop

SOON = 2  # seconds a failed message hides
LONGER = 8  # the same, when the try itself takes a while
STAGES = ("accepted", "parsed", "chunked", "stored", "ready")


@pytest.fixture
def queue(laptop: "Laptop") -> Iterator[EmbedQueue]:
    """The embed queue; its dead letters are empty before and after."""
    embed = EmbedQueue(laptop)
    embed.empty_dead_letters()
    yield embed
    embed.empty_dead_letters()


def vector_scores(tenant: Tenant, query: str) -> list[float]:
    return [each["scores"].get("vector", 0.0) for each in tenant.found(query)]


def events(count: int, words: int) -> list[dict[str, Any]]:
    """Different memories of some length, so that embedding them takes a moment."""
    line = "the convoy crossed the pass in the snow and reached the valley before dark "
    text = (line * (1 + words // 14))[: words * 5]
    return [{"type": "event", "text": f"Report {n}: {text}"} for n in range(count)]


def test_while_the_database_is_down_the_api_says_so_and_goes_on_after(
    laptop: "Laptop", workspace: Tenant
) -> None:
    before = workspace.tell("Written before the outage.")
    gateway = workspace.through_gateway()
    good(gateway.call("GET", "/v1/whoami"))
    laptop.stop_postgres()
    try:
        for tenant in (workspace, gateway):
            response = tenant.call(
                "POST", "/v1/memories", json={"type": "event", "text": "Written during it."}
            )
            refused(response, 503, "unavailable")
            assert int(response.headers["retry-after"]) >= 1
        refused(workspace.call("GET", "/readyz"), 503, "unavailable")
        assert httpx.get(f"{laptop.url}/healthz", timeout=10).status_code == 200
    finally:
        laptop.start_postgres()
    eventually(lambda: workspace.call("GET", "/readyz").is_success, what="readiness")
    after = workspace.tell("Written after the outage.")
    assert after["position"] > before["position"]
    assert set(workspace.texts("outage")) == {
        "Written before the outage.",
        "Written after the outage.",
    }
    assert gateway.texts("outage") == workspace.texts("outage")
    workspace.all_embedded()
    assert workspace.chain_holds()


def test_a_database_killed_while_writers_write_loses_nothing_it_answered(
    laptop: "Laptop", workspace: Tenant, queue: EmbedQueue
) -> None:
    answered: list[str] = []
    with queue.hiding(SOON):
        for number in range(12):
            if number == 6:
                laptop.kill_postgres()
            body = {"type": "event", "text": f"Sentinel number {number}."}
            response = workspace.call("POST", "/v1/memories", json=body)
            if response.is_success:
                answered.append(response.json()["id"])
            else:
                refused(response, 503, "unavailable")
                laptop.start_postgres()
        assert 6 <= len(answered) < 12
        stored = workspace.get("/v1/memories", limit=200)["items"]
        assert {each["id"] for each in stored} >= set(answered)
        assert workspace.chain_holds()
        sweep(laptop)
        workspace.all_embedded()


def test_without_its_model_a_memory_is_found_by_keyword_and_embedded_after_redrive(
    laptop: "Laptop", workspace: Tenant, queue: EmbedQueue
) -> None:
    with queue.hiding(SOON), without_model(laptop):
        written = workspace.tell("The observatory dome is closed in winter.")
        eventually(lambda: queue.dead() >= 1, seconds=60, what="the dead letter")
        assert [each["node_id"] for each in workspace.found("dome")] == [written["id"]]
        assert vector_scores(workspace, "dome") == [0.0]
        assert workspace.get(f"/v1/memories/{written['id']}")["embedded"] is False
        status = workspace.get("/v1/status")
        assert (status["pending_embeddings"], status["failed_embeddings"]) == (1, 1)
    done = cairn(workspace, "redrive", "--json")
    assert (done.status, done.json()["redriven"]) == (0, 1)
    workspace.all_embedded()
    assert queue.dead() == 0
    assert workspace.found("When is the astronomical observatory shut?")[0]["scores"]["vector"] > 0
    assert workspace.chain_holds()


def test_a_poison_message_ends_as_a_dead_letter_and_holds_up_nobody(
    workspace: Tenant, queue: EmbedQueue
) -> None:
    with queue.hiding(SOON):
        queue.send("this is no message of ours")
        workspace.tell("A good message behind a bad one.")
        workspace.all_embedded()
        eventually(lambda: queue.dead() == 1, seconds=60, what="the dead letter")
        done = cairn(workspace, "redrive", "--json")
        assert done.json()["redriven"] == 1
        workspace.tell("Another good message.")
        workspace.all_embedded()
        eventually(lambda: queue.dead() == 1, seconds=60, what="the dead letter again")


def test_a_worker_killed_while_it_embeds_is_followed_by_one_that_finishes(
    laptop: "Laptop", workspace: Tenant, queue: EmbedQueue
) -> None:
    with queue.hiding(LONGER):
        with superuser(laptop) as root, root.transaction():
            root.execute("LOCK TABLE embedding IN EXCLUSIVE MODE")  # it writes none
            workspace.remember(*events(60, 120))
            eventually(queue.in_flight, seconds=30, what="the delivery")
            eventually(lambda: laptop.worker_pids("embed"), seconds=30, what="the worker")
            laptop.kill_workers("embed")
        assert workspace.get("/v1/status")["pending_embeddings"] > 0
        workspace.all_embedded(seconds=90)
    unembedded = workspace.rows(
        "SELECT n.id FROM node n WHERE n.workspace_id = %(id)s AND n.label <> 'Entity' AND "
        "NOT EXISTS (SELECT FROM embedding e "
        "WHERE e.workspace_id = n.workspace_id AND e.node_id = n.id)"
    )
    assert unembedded == []
    assert queue.dead() == 0
    assert workspace.chain_holds()


def chapters(count: int) -> str:
    lines = [f"# Chapter {n}\n\n{events(1, 200)[0]['text']} Number {n}." for n in range(count)]
    return "\n\n".join(lines)


def parts(tenant: Tenant) -> list[tuple[Any, ...]]:
    return tenant.rows(
        "SELECT label, ordinal, headings, text, summary, EXISTS (SELECT FROM embedding e WHERE "
        "e.workspace_id = n.workspace_id AND e.node_id = n.id) AS embedded FROM node n "
        "WHERE n.workspace_id = %(id)s AND n.label IN ('Section', 'Chunk') ORDER BY 1, 2, 4"
    )


@pytest.fixture(scope="module")
def undisturbed(laptop: "Laptop") -> list[tuple[Any, ...]]:
    """The parts of a document whose ingestion nobody disturbed."""
    tenant = open_workspace(laptop, "undisturbed")
    tenant.ready("book.md", text=chapters(40))
    return parts(tenant)


@pytest.mark.parametrize(
    ("stage", "function"),
    [("accepted", "ingest"), ("chunked", "ingest"), ("stored", "embed")],
)
def test_a_worker_killed_during_an_ingestion_leaves_a_complete_document(
    laptop: "Laptop",
    workspace: Tenant,
    undisturbed: list[tuple[Any, ...]],
    stage: str,
    function: str,
) -> None:
    reached = STAGES[STAGES.index(stage) :]

    def at_stage(ingestion_id: str) -> Callable[[], bool]:
        def ask() -> bool:
            status = workspace.get(f"/v1/ingestions/{ingestion_id}")["status"]
            return status in reached and bool(laptop.worker_pids(function))

        return ask

    accepted = workspace.ingest("book.md", text=chapters(40))
    eventually(at_stage(accepted["ingestion_id"]), seconds=60, what=f"the stage {stage}")
    assert laptop.kill_workers(function)
    ended = workspace.ended(accepted["ingestion_id"])
    assert ended["status"] == "ready", ended
    assert parts(workspace) == undisturbed
    assert workspace.chain_holds()


def test_what_is_written_while_the_queue_is_gone_is_sent_by_the_sweep(
    laptop: "Laptop", workspace: Tenant, queue: EmbedQueue
) -> None:
    with without_aws(laptop):
        written = workspace.tell("The telegraph line was cut at dawn.")
        assert written["outcome"] == "created"
        assert workspace.texts("telegraph") == ["The telegraph line was cut at dawn."]
        unsent = workspace.rows("SELECT sent_at FROM outbox WHERE workspace_id = %(id)s")
        assert unsent == [(None,)]
        document = {"source_uri": "a.txt", "text": "A document."}
        response = workspace.call("POST", "/v1/documents", json=document)
        refused(response, 503, "unavailable")
        assert int(response.headers["retry-after"]) >= 1
    assert sweep(laptop) >= 1
    workspace.all_embedded()
    by_meaning = eventually(  # a leg may be late while the stages are starting again
        lambda: workspace.found("When was the cable destroyed?"), seconds=30, what="a vector leg"
    )
    assert by_meaning[0]["scores"]["vector"] > 0


def test_an_unsent_row_goes_out_with_the_next_write(laptop: "Laptop", workspace: Tenant) -> None:
    with without_aws(laptop):
        first = workspace.tell("Kept while nothing could be sent.")
    workspace.tell("The write after.")
    workspace.all_embedded()
    assert workspace.get(f"/v1/memories/{first['id']}")["embedded"] is True


def test_a_write_repeated_after_its_worker_was_killed_is_written_once(
    laptop: "Laptop", workspace: Tenant
) -> None:
    gateway = workspace.through_gateway()
    good(gateway.call("GET", "/v1/whoami"))
    given: dict[str, Any] = {
        "json": {"items": events(200, 40)},
        "headers": {"idempotency-key": "one-batch"},
    }
    with ThreadPoolExecutor(1) as aside:
        first = aside.submit(gateway.call, "POST", "/v1/memories", **given)
        assert laptop.kill_workers("local-api")
        assert first.result().status_code in (200, 500, 502, 503)
    again = eventually(lambda: succeeded(gateway, given), seconds=30, what="the repeated write")
    assert len({each["id"] for each in again["results"]}) == 200
    assert workspace.get("/v1/status")["memories"] == 200
    assert workspace.chain_holds()


def succeeded(tenant: Tenant, given: dict[str, Any]) -> dict[str, Any] | None:
    response = tenant.call("POST", "/v1/memories", **given)
    return response.json() if response.is_success else None
