"""`/v1/settings` as wired, over PostgreSQL: every documented setting is set and has its effect."""

# pyright: basic

from __future__ import annotations

import json
import re
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from secrets import token_hex
from string import digits
from typing import TYPE_CHECKING, Any

import pytest
from tests.fakes.keys import InMemoryKeyStore
from tests.integration.storage.test_search_front import Door, chain, said
from tests.plugins.waiting import eventually
from tests.support.agent import Agents, ScriptedPlanner, act
from tests.support.chat_wire import ChatServer, Say, chat_server
from tests.support.embedding import HASHING
from tests.support.front import Cloud, Front, environment, function, stand_in_for_aws
from tests.support.planning import brief, question, spec
from tests.support.platform import platform_of
from tests.support.world import open_world

from cairn.adapters.postgres.ledger.replay import PostgresReplays
from cairn.adapters.postgres.store_transactions import StoreTransactions
from cairn.adapters.postgres.workspaces import LIFETIME_S, PostgresWorkspaceSettings
from cairn.bootstrap.plan import bounds
from cairn.investigations.planning.envelope import enclosed
from cairn.investigations.state import Evidence, Observation, WorkingMemory
from cairn.kernel.access.system import system_principal
from cairn.kernel.ids import new_id
from cairn.rebuild.rebuild import Rebuild
from cairn.safety.tools import Lane
from cairn.workspace.documents import leaves
from cairn.workspace.settings import WorkspaceSettings
from cairn.writing.ports import Subject

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.plugins.postgres import Database

GUIDE = Path(__file__).parents[3] / "docs" / "use" / "settings.md"
ROW = re.compile(r"^\| `([a-z_.]+)` \|[^|]*\| `([^`]*)` \| ?(?:`(CAIRN_[A-Z_]+)`)? ?\|", re.M)
ROWS = ROW.findall(GUIDE.read_text(encoding="utf-8"))
DOCUMENTED = {path: (default, variable) for path, default, variable in ROWS}


@pytest.fixture(scope="module")
def models() -> Iterator[ChatServer]:
    """A chat model. It closes each connection, as no client of these tests lives on."""
    with chat_server() as served:
        served.next = lambda asked: Say(text="[]", headers={"connection": "close"})  # type: ignore[method-assign]
        yield served


@pytest.fixture
def door(
    database: Database, models: ChatServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Door]:
    for name, value in environment(database.app_url, tmp_path).items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("CAIRN_ANTHROPIC_BASE_URL", models.url)
    stand_in_for_aws(monkeypatch, Cloud())
    world = open_world(database.owner_url, database.app_url, f"settings {new_id()}")
    yield Door(world, tmp_path)
    world.pool.close()


@dataclass(frozen=True)
class Asked:
    """Where a setting's effect is looked for."""

    door: Door
    models: ChatServer
    database: Database


def meta(name: str, **body: Any) -> Callable[[Asked], Any]:
    return lambda asked: asked.door.search("STRIPE", **body)["meta"][name]


def scores(name: str, **body: Any) -> Callable[[Asked], Any]:
    def seen(asked: Asked) -> Any:
        found = asked.door.search("STRIPE ferry", **body)["results"]
        return {item["text"]: item["scores"][name] for item in found if name in item["scores"]}

    return seen


def subscribed(asked: Asked) -> bool:
    made = {"name": "page", "role": "public", "agent_slug": "bot"}
    key = asked.door.api.call("POST", "/v1/keys", json=made)["secret"]
    found = asked.door.search("Which solar?", key=key, stages={"subscriptions": True})
    return "subscriptions" in found["meta"]["scoring_weights"]["legs"]


def decayed(asked: Asked) -> Any:
    """The confidence of a fact nobody looked at for ten days."""
    with asked.database.connect_as_superuser() as root:
        root.execute("UPDATE node SET recorded_at = recorded_at - interval '10 days'")
    found = asked.door.search("ferry", stages={"decay": True})["results"]
    with asked.database.connect_as_superuser() as root:
        root.execute("UPDATE node SET recorded_at = recorded_at + interval '10 days'")
    return round(found[0]["scores"]["decay_score"], 3)


def drawn(asked: Asked) -> bool:
    """Whether a memory is drawn from what somebody says now."""
    with asked.database.connect_as_superuser() as root:
        root.execute(
            "INSERT INTO embedding_model (id, name, dimensions) VALUES (%s, %s, %s)"
            " ON CONFLICT DO NOTHING",
            (HASHING.id, HASHING.name, HASHING.dimensions),
        )
    text = f"I love the {token_hex(8).translate(str.maketrans(digits, 'ghijklmnop'))} tea."
    message = {"channel": "api", "session_id": "tea", "role": "user", "text": text}
    asked.door.api.call("POST", "/v1/conversations/messages", json=message)
    asked.door.enrich()
    memories = asked.door.api.call("GET", "/v1/memories")["items"]
    return any(text in memory["text"] for memory in memories)


def briefed(asked: Asked) -> Any:
    """When the daily briefing is due, once those who start workflows have looked."""
    function("audit").handler({"step": "start_workflows"}, None)
    items = asked.door.api.call("GET", "/v1/workflows")["items"]
    return [each["schedule"] for each in items if each["name"] == "daily-briefing"]


def state_put(thread: str, size: int) -> Callable[[Asked], Any]:
    """Whether a state of that size has room."""

    def seen(asked: Asked) -> Any:
        state = {"thread_id": thread, "checkpoint_id": "1", "data": "x" * size}
        return asked.door.api.answer("PUT", "/v1/checkpoints", json=state).status_code

    return seen


def left_behind(asked: Asked) -> Any:
    """How many states a thread has that was put now and left for ten days."""
    assert state_put("left", 10)(asked) == 200
    with asked.database.connect_as_superuser() as root:
        root.execute("UPDATE checkpoint_usage SET expires_at = expires_at - interval '10 days'")
    return len(asked.door.api.call("GET", "/v1/checkpoints")["items"])


def sent(*names: str) -> Callable[[Asked], Any]:
    """What a model is sent by a search that asks one."""

    def seen(asked: Asked) -> Any:
        before = len(asked.models.requests)
        asked.door.search("ferry", stages={"expansion": True})
        requests = asked.models.requests[before:]
        return {name: requests[-1].get(name) for name in names} if requests else None

    return seen


def cost(asked: Asked) -> Any:
    return asked.door.search("ferry", stages={"expansion": True})["meta"]["cost_usd"]


def shown(tag: str) -> Callable[[Asked], int]:
    """How many of a kind a planner of the workspace is shown."""
    many = tuple(Evidence(citation=f"[doc:{place}]", text="text") for place in range(60))
    memory = WorkingMemory(
        brief=brief("Title", "Body"),
        evidence=many,
        facts=many,
        similar=many,
        observations=tuple(
            Observation(
                action_id=new_id(),
                connector="c",
                tool="t",
                arguments={},
                outcome="applied",
                text="r" * 3000,
            )
            for _ in range(60)
        ),
    )
    asking = question(memory, [spec(f"c.t{place}") for place in range(60)])

    def seen(asked: Asked) -> int:
        workspace = asked.door.world.workspace_id
        found = enclosed(asking, bounds(asked.door.world.pool)(workspace))
        if tag == "tool":
            return len(found.tools)
        if tag == "result":
            return sum(len(message.text) > 2000 for message in found.messages)
        return found.context.count(f"<{tag}")

    return seen


def told_before(asked: Asked) -> int:
    """How many results of another investigation of its customer a new one has."""
    world = asked.door.world
    made = Agents(
        transactions=StoreTransactions(world.pool),
        workspace_id=world.workspace_id,
        planner=ScriptedPlanner([act("accounts.find")]),
        envelope=bounds(world.pool),
    )
    made.host.add("accounts.find", Lane.READ)
    owner, name = new_id(), str(new_id())
    with made.transactions.writing(made.admin) as stores:
        stores.subjects.add(Subject(id=owner, kind="client", natural_key=name), 1)
    made.work(made.begin(customer=name, data_subjects=(owner,)))
    one = made.begin(customer=name, data_subjects=(owner,))
    made.work(one)
    return len(made.memory(one).recent)


ACTIVATED = {"recipe": "seed-001"}
WALKED = {"stages": {"graph": True}, "method": "intent_weighted", "intent": "what"}
CALIBRATION = {
    "model": HASHING.name,
    "intercept": -9.0,
    "cosine": 9.0,
    "words": 6.0,
    "size": -0.3,
    "answerable": 0.01,
    "least": 0.004,
}
PROBES: dict[str, tuple[Any, Callable[[Asked], Any]]] = {
    "recall.recipe": ("seed-000", meta("mode")),
    "recall.stages": ({"vector": False}, meta("scoring_weights")),
    "recall.weights": ({"keyword": 3}, meta("scoring_weights")),
    "recall.intent_weights": ({"what": {"REFERENCES": 0, "USES": 1}}, scores("graph", **WALKED)),
    "recall.public_subscriptions": (True, subscribed),
    "recall.client_required": (
        True,
        lambda asked: asked.door.api.get("/v1/memories").status_code,
    ),
    "recall.proactive_signals": (
        {"entity_context": False},
        lambda asked: asked.door.api.call("GET", "/v1/stats")["muted_signals"],
    ),
    "recall.decay_factor": (0.5, decayed),
    "recall.rrf_k": (10, scores("fused", **ACTIVATED)),
    "recall.graph_search_decay": (0.5, scores("graph", **ACTIVATED)),
    "recall.causal_boost": (1.5, scores("graph", **ACTIVATED)),
    "recall.max_depth": (1, scores("graph", **ACTIVATED)),
    "recall.min_relevance": (0.5, meta("degraded")),
    "recall.calibration": (CALIBRATION, meta("relevance")),
    "models.chat": ("anthropic:another", sent("model")),
    "models.budgets.day_usd": (0, sent("model")),
    "models.budgets.day_tokens": (1, sent("model")),
    "models.budgets.run_usd": ("0.0", sent("model")),
    "models.budgets.run_tokens": (1, sent("model")),
    "models.rates": ({"claude-haiku-4-5": {"input": 90, "output": "90.5"}}, cost),
    "models.options": ({"expansion": {"temperature": 0.5}}, sent("temperature")),
    "envelope.chunks": (2, shown("knowledge")),
    "envelope.facts": (2, shown("fact")),
    "envelope.similar": (2, shown("similar")),
    "envelope.connector_recent_results": (0, told_before),
    "envelope.connector_recent_seconds": (0, told_before),
    "envelope.results": (2, shown("result")),
    "envelope.tools": (2, shown("tool")),
    "checkpoints.max_thread_bytes": (1000, state_put("long", 2000)),
    "checkpoints.max_bytes": (1000, state_put("long", 2000)),
    "checkpoints.expire_after_days": (3, left_behind),
    "conversations.infer": (False, drawn),
    "workflows.briefing": ({"at": "06:30", "timezone": "Europe/Berlin"}, briefed),
    "safety.redaction": (
        "hipaa",
        lambda asked: asked.door.api.call("GET", "/v1/redaction")["profile"],
    ),
}


def patch(front: Front, body: dict[str, Any], **headers: str) -> Any:
    return front.answer("PATCH", "/v1/settings", json=body, headers=headers)


def nested(path: str, value: Any) -> dict[str, Any]:
    for name in reversed(path.split(".")):
        value = {name: value}
    return value


def test_the_guide_has_every_setting_with_its_default(door: Door) -> None:
    found = door.api.call("GET", "/v1/settings")
    assert set(found["sources"]) == set(DOCUMENTED) == set(PROBES)
    values = {".".join(path): value for path, value in leaves(found["settings"])}
    for path, (default, _) in DOCUMENTED.items():
        text = default if default == "pii" else json.loads(default)
        assert values[path] == text
        assert found["sources"][path] == "default"


@pytest.mark.parametrize("path", PROBES)
def test_a_setting_set_over_http_has_its_effect_and_a_reset_takes_it_back(
    door: Door, models: ChatServer, database: Database, path: str
) -> None:
    chain(door)
    door.remember(said("the ferry sank", "fact"))
    asked, (value, observed) = Asked(door, models, database), PROBES[path]
    if path.startswith("models."):  # a client's package is read beside the first searches
        eventually(lambda: sent("model")(asked), seconds=30)
    before = observed(asked)
    changed = patch(door.api, nested(path, value))
    assert changed.status_code == 200, changed.text
    assert (changed.json()["version"], changed.headers["etag"]) == (1, '"1"')
    eventually(lambda: observed(asked) != before, seconds=10)
    [entry] = door.api.call("GET", "/v1/ledger", params={"type": "settings.changed"})["items"]
    assert all(change["path"].startswith(path) for change in entry["meta"]["changes"])
    back = patch(door.api, nested(path, None)).json()
    assert (back["version"], back["workspace"]) == (2, {})
    eventually(lambda: observed(asked) == before, seconds=10)


@pytest.mark.parametrize(
    ("variable", "value"),
    [
        ("CAIRN_DECAY_FACTOR", "0.9"),
        ("CAIRN_RRF_K", "30"),
        ("CAIRN_GRAPH_SEARCH_DECAY", "0.5"),
        ("CAIRN_CAUSAL_BOOST", "1.5"),
        ("CAIRN_MAX_DEPTH", "1"),
    ],
)
def test_the_environment_holds_where_a_workspace_sets_nothing(
    door: Door,
    models: ChatServer,
    database: Database,
    monkeypatch: pytest.MonkeyPatch,
    variable: str,
    value: str,
) -> None:
    chain(door)
    door.remember(said("the ferry sank", "fact"))
    [path] = [path for path, (_, named) in DOCUMENTED.items() if named == variable]
    observed = PROBES[path][1]
    before = observed(Asked(door, models, database))
    monkeypatch.setenv(variable, value)
    reopened = Door(door.world, door.folder)
    found = reopened.api.call("GET", "/v1/settings")
    section, name = path.split(".")
    assert (found["settings"][section][name], found["sources"][path]) == (
        float(value),
        "environment",
    )
    assert observed(Asked(reopened, models, database)) != before


@pytest.mark.parametrize(("variable", "value"), [("RRF_K", "0"), ("DECAY_FACTOR", "nan")])
def test_a_constant_out_of_bounds_stops_the_process_at_its_start(
    door: Door, monkeypatch: pytest.MonkeyPatch, variable: str, value: str
) -> None:
    monkeypatch.setenv(f"CAIRN_{variable}", value)
    with pytest.raises(ValueError, match=variable.lower()):
        Front(door.world.key)


MALFORMED = (
    b"[]",
    b'{"recall": NaN}',
    b'{"recall": {"rrf_k": 1e999}}',
    b"",
    b'{"recall": {"recipe": "\\u0000"}}',
    b'{"models": {"chat": "\\ud800"}}',
)


def test_what_is_wrong_is_named_by_path_and_nothing_changes(door: Door) -> None:
    wrong = {
        "recall": {"rrf_k": 0, "speed": 1, "stages": {"nope": True}},
        "recal": None,
        "envelope": {"facts": 2**52},
    }
    refused = patch(door.api, wrong)
    assert refused.status_code == 422
    assert {error["location"] for error in refused.json()["errors"]} == {
        "recal",
        "recall.rrf_k",
        "recall.speed",
        "recall.stages.nope",
        "envelope.facts",
    }
    kind = {"content-type": "application/json"}
    for body in (
        b"[]",
        b'{"recall": NaN}',
        b'{"recall": {"rrf_k": 1e999}}',
        b"",
        b'{"recall": {"recipe": "\\u0000"}}',
        b'{"models": {"chat": "\\ud800"}}',
    ):
        malformed = door.api.answer("PATCH", "/v1/settings", content=body, headers=kind)
        assert malformed.status_code in {400, 422}
    assert patch(door.api, {"version": -1}).status_code == 422
    assert patch(door.api, {}, **{"if-match": "soon"}).status_code == 422
    assert door.api.call("GET", "/v1/settings")["version"] == 0


def test_a_version_that_has_passed_is_a_conflict_and_setting_the_same_again_no_change(
    door: Door,
) -> None:
    assert patch(door.api, {"version": 0, "recall": {"rrf_k": 9}}).status_code == 200
    assert patch(door.api, {"recall": {"rrf_k": 9}}).json()["version"] == 1
    for refused in (
        patch(door.api, {"version": 0, "recall": {"rrf_k": 8}}),
        patch(door.api, {"recall": {"rrf_k": 8}}, **{"if-match": '"0"'}),
    ):
        assert (refused.status_code, refused.json()["reason"]) == (409, "settings-version")
    assert patch(door.api, {"recall": {"rrf_k": 7}}, **{"if-match": '"1"'}).json()["version"] == 2


def test_people_who_change_different_settings_at_once_lose_none(door: Door) -> None:
    paths = [path for path in PROBES if path.startswith("envelope.")]
    with ThreadPoolExecutor(6) as pool:
        answers = list(pool.map(lambda path: patch(door.api, nested(path, 1)), paths))
    assert [answer.status_code for answer in answers] == [200] * len(paths)
    found = door.api.call("GET", "/v1/settings")
    assert found["version"] == len(paths)
    assert found["workspace"] == {"envelope": {path.split(".")[1]: 1 for path in paths}}


def test_only_admins_see_and_change_settings_and_only_their_own(
    door: Door, database: Database
) -> None:
    key = door.api.call("POST", "/v1/keys", json={"name": "agent"})["secret"]
    agent = {"headers": {"authorization": f"Bearer {key}"}}
    assert door.api.answer("GET", "/v1/settings", **agent).status_code == 403
    assert door.api.answer("PATCH", "/v1/settings", json={}, **agent).status_code == 403
    patch(door.api, {"recall": {"rrf_k": 9}})
    other = open_world(database.owner_url, database.app_url, f"other {new_id()}")
    other.pool.close()
    assert Front(other.key).call("GET", "/v1/settings")["workspace"] == {}


def test_a_rebuild_makes_the_settings_of_the_ledger(door: Door, database: Database) -> None:
    patch(door.api, {"recall": {"decay_factor": 0.9, "rrf_k": 9}})
    patch(door.api, {"recall": {"rrf_k": None}})
    with database.connect_as_superuser() as root:
        root.execute(
            "UPDATE workspace_settings SET document = '{}' WHERE workspace_id = %s",
            [door.world.workspace_id],
        )
    rebuild = Rebuild(
        platform=platform_of(
            None,
            keys=InMemoryKeyStore(),
            dispatcher=door.world.remember.platform.dispatcher,
            clock=door.world.remember.platform.clock,
        ),
        replays=PostgresReplays(door.world.pool),
    )
    assert not rebuild(door.world.workspace_id, only_check=True).equal
    rebuild(door.world.workspace_id)
    found = door.api.call("GET", "/v1/settings")
    assert (found["version"], found["workspace"]) == (2, {"recall": {"decay_factor": 0.9}})
    assert rebuild(door.world.workspace_id, only_check=True).equal


def test_what_stood_in_the_workspaces_column_before_holds_until_and_through_the_first_change(
    door: Door, database: Database
) -> None:
    door.settings(database, '{"recall": {"rrf_k": 9, "recipe": "gone"}, "envelope": {"facts": 1}}')
    found = door.api.call("GET", "/v1/settings")
    assert (found["version"], found["ignored"]) == (0, ["recall.recipe"])
    assert found["settings"]["recall"]["rrf_k"] == 9
    changed = patch(door.api, {"envelope": {"facts": 2}}).json()
    assert changed["workspace"] == {"recall": {"rrf_k": 9}, "envelope": {"facts": 2}}


def test_a_process_asks_for_settings_twice_a_second_and_never_serves_older_ones(
    door: Door,
) -> None:
    now = [100.0]
    read = PostgresWorkspaceSettings(door.world.pool, lambda: now[0])
    principal = system_principal(door.world.workspace_id)
    assert LIFETIME_S <= 0.5
    assert read(principal).settings == WorkspaceSettings()
    patch(door.api, {"recall": {"rrf_k": 9}})
    assert read(principal).settings.recall.rrf_k == 60
    now[0] += LIFETIME_S
    assert read(principal).settings.recall.rrf_k == 9
    assert read(principal) is read(principal)
