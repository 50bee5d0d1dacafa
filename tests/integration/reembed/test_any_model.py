"""Models that Cairn does not know by name, by settings alone: a folder, and a server."""

from __future__ import annotations

import json
import os
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest
from tests.support.everything import open_everything
from tests.support.front import Cloud, Front, environment, function, stand_in_for_aws
from tests.support.openai_wire import embedding_server
from tests.support.tiny_onnx import sentence_encoder
from tests.support.world import World, open_world
from tests.unit.cli.fakes import FakeStack, Shell

from cairn.adapters.postgres.store_transactions import StoreTransactions
from cairn.bootstrap.owner import reembedding, register, register_chosen
from cairn.bootstrap.parts import embedder
from cairn.embedding.models import model_named
from cairn.kernel.errors import ValidationFailed
from cairn.kernel.ids import new_id
from cairn.settings import ApiSettings

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from tests.plugins.postgres import Database

FOLDER = "acme/tiny?dimensions=24&query_prefix=query:%20"
SERVER = "acme/served:1?dimensions=1000&max_tokens=300&prefix=text:%20&query_prefix=ask:%20"
SERVED = "acme/served:1?prefix=text%3A+"
SYNONYMS = (["car", "vehicle", "auto", "coche"], ["boat", "ship", "bateau"], ["tree", "oak", "木"])
NOTES = ("my car", "the boat", "an oak")
MEANT = (
    ("vehicle", "my car"),
    ("ship", "the boat"),
    ("tree", "an oak"),
    ("wo ist das auto", "my car"),
    ("coche", "my car"),
    ("le bateau", "the boat"),
    ("木", "an oak"),
)


@dataclass
class Laptop(FakeStack):
    """What `--switch` does on a laptop, without starting anything: keep, register."""

    owner_url: str = ""
    patch: Any = None
    known: list[str] = field(default_factory=list[str])

    def use_embedder(self, values: Mapping[str, str]) -> dict[str, str]:
        for name, value in values.items():
            self.patch.setenv(name, value)
        self.known.append(register_chosen(self.owner_url, os.environ).name)
        return {}


class Deployment:
    """A workspace, the API and the embed function, as the environment has them now."""

    def __init__(self, world: World, database: Database, patch: pytest.MonkeyPatch) -> None:
        self.world, self.database = world, database
        self.stack = Laptop(owner_url=database.owner_url, patch=patch)

    @property
    def api(self) -> Front:
        return Front(self.world.key, embedder=embedder(ApiSettings.read()))

    def embed(self) -> list[Any]:
        """Let the embed function take what waits, and return what it hands back."""
        with self.database.connect_as_superuser() as root:
            rows = root.execute(
                "SELECT id FROM outbox WHERE topic = 'embed' AND workspace_id = %s",
                [self.world.workspace_id],
            ).fetchall()
        body = {"workspace_id": str(self.world.workspace_id)}
        body |= {"outbox_ids": [str(one) for (one,) in rows]}  # pyright: ignore[reportAssignmentType]
        record = {"messageId": "one", "body": json.dumps(body)}
        failed: list[Any] = function("embed").handler({"Records": [record]}, None)[
            "batchItemFailures"
        ]
        return failed

    def search(self, query: str) -> dict[str, Any]:
        asked = {"query": query, "stages": {"cache": False}}
        answer: dict[str, Any] = self.api.call("POST", "/v1/search", json=asked)
        return answer

    def reembed(self, *given: str) -> dict[str, Any]:
        shell = Shell(
            operator=SimpleNamespace(reembedding=reembedding),  # pyright: ignore[reportArgumentType]
            stack=self.stack,
            settings={"database_url": self.database.owner_url},
        )
        asked = ("--switch", "--accept-loss", "1", "--sample", "3", "--json")
        shown = shell.run("reembed", *given, *asked)
        assert shown.exit_code == 0, (shown.output, shown.exception)
        told: dict[str, Any] = json.loads(shown.stdout)
        return told


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return sentence_encoder(tmp_path / "tiny", SYNONYMS, 24)


@pytest.fixture
def deployment(
    database: Database, tmp_path: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Deployment]:
    values = {
        **environment(database.app_url, tmp_path),
        "CAIRN_MODEL_DIR": str(folder),
        "CAIRN_EMBEDDER": "onnx",
        "CAIRN_ONNX_EMBEDDING_MODEL": FOLDER,
    }
    for name, value in values.items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(tmp_path)
    stand_in_for_aws(monkeypatch, Cloud())
    world = open_world(database.owner_url, database.app_url, f"any model {new_id()}")
    yield Deployment(world, database, monkeypatch)
    world.pool.close()


def test_any_folder_and_any_server_embed_and_are_switched_between_by_settings(
    deployment: Deployment, folder: Path
) -> None:
    items = [{"text": note, "type": "fact", "key": note} for note in NOTES]
    told = deployment.api.call("POST", "/v1/memories", json={"items": items})
    assert all("id" in result for result in told["results"]), told
    refused = deployment.api.answer("GET", "/v1/reindex")
    assert (refused.status_code, refused.json()["reason"]) == (503, "model-not-registered")
    assert "acme/tiny of 24 dimensions is not registered" in refused.json()["detail"]
    assert deployment.embed() == [{"itemIdentifier": "one"}]

    url = deployment.database.owner_url
    with ThreadPoolExecutor(2) as two:
        asked = [two.submit(register_chosen, url, dict(os.environ)) for _ in range(2)]
        assert {item.result().name for item in asked} == {"acme/tiny"}
    assert deployment.embed() == []
    for question, note in MEANT:
        answer = deployment.search(question)
        assert [result["text"] for result in answer["results"]] == [note]
        assert answer["meta"]["embedder"] == "acme/tiny"
        assert (
            "late" not in answer["meta"]["scoring_weights"]["signals"]
        )  # it gives no token states

    with embedding_server(model_named(SERVER)) as server:
        told = deployment.reembed("--to", SERVER, "--base-url", server.url)
        (one,) = told["workspaces"]
        assert (told["switched"], one["filled"]["nodes"]) == (True, 3)
        assert one["comparison"]["hnsw_recall_at_10"] == 1.0
        assert deployment.stack.known == [SERVED]
        answer = deployment.search("oak")
        assert answer["results"][0]["text"] == "an oak"
        assert answer["meta"]["embedder"] == SERVED
        assert {request["model"] for request in server.requests} == {"acme/served:1"}
        sent = [text for request in server.requests for text in request["input"]]
        assert "ask: oak" in sent
        assert {f"text: {note}" for note in NOTES} <= set(sent)
        back = deployment.reembed("--to", FOLDER, "--model-dir", str(folder))
    assert (back["switched"], back["workspaces"][0]["filled"]["nodes"]) == (True, 0)
    assert [result["text"] for result in deployment.search("ship")["results"]] == ["the boat"]
    assert deployment.api.call("GET", "/v1/reindex")["missing"] == 0


def test_the_application_role_finds_by_the_new_index_of_one_partition(database: Database) -> None:
    model = model_named("acme/indexed?dimensions=8")
    register(database.owner_url, model)
    of = open_everything(database)
    with database.connect_as_superuser() as root:
        root.execute(
            """INSERT INTO embedding (workspace_id, node_id, model_id, v, position, label, kind,
                 scope, client_id, state, occurred_at, valid_from)
               SELECT %s, gen_random_uuid(), %s, ARRAY(SELECT sin(n * k) FROM generate_series(1, 8)
                 AS k)::halfvec, 1, 'Memory', 'fact', 'shared', 'none', 'active', now(), now()
               FROM generate_series(1, 4000) AS n""",
            [of.workspace_id, model.id],
        )
        root.execute("ANALYZE embedding")
        root.commit()
    with StoreTransactions(of.pool).reading(of.admin) as stores:
        connection = stores.nodes.connection
        rows = connection.execute(
            """SELECT FROM find_by_vector('[1,2,3,4,5,6,7,8]', %s::smallint, -1::real, 50, NULL,
                 NULL, NULL, NULL, NULL, NULL, NULL, false)""",
            [model.id],
        ).fetchall()
        used = connection.execute(
            """SELECT count(*) FILTER (WHERE pg_stat_get_xact_numscans(indexrelid) = 1), count(*)
               FROM pg_index WHERE indexrelid::regclass::text ~ %s""",
            [f"_hnsw_{model.id}$"],
        ).fetchone()
    of.pool.close()
    assert (len(rows), used) == (50, (1, 16))


def test_a_run_that_was_killed_is_gone_on_with_and_another_size_starts_anew(
    database: Database,
) -> None:
    model = model_named("acme/killed?dimensions=9")
    with database.connect_as_superuser() as root:
        for part, dimensions in ((0, 9), (1, 8)):
            index = f"""CREATE INDEX embedding_p{part}_hnsw_{model.id} ON embedding_p{part}
                USING hnsw ((v::halfvec({dimensions})) halfvec_cosine_ops)
                WHERE model_id = {model.id}"""
            root.execute(index.encode())
        name = f"embedding_p0_hnsw_{model.id}"
        root.execute(
            "UPDATE pg_index SET indisvalid = false WHERE indexrelid = %s::regclass", [name]
        )
    register(database.owner_url, model)
    with database.connect_as_superuser() as root:
        made = root.execute(
            """SELECT count(*), bool_and(i.indisvalid),
                 bool_and(pg_get_indexdef(i.indexrelid) LIKE '%%halfvec(9)%%')
               FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid WHERE c.relname ~ %s""",
            [f"_hnsw_{model.id}$"],
        ).fetchone()
    assert made == (16, True, True)


def test_a_name_stands_for_one_size_and_an_id_for_one_name(database: Database) -> None:
    register(database.owner_url, model_named("acme/sized?dimensions=10"))
    with pytest.raises(ValidationFailed, match="registered with 10 dimensions, not 11"):
        register(database.owner_url, model_named("acme/sized?dimensions=11"))
    other = model_named("acme/other?dimensions=10")
    with database.connect_as_superuser() as root:
        root.execute("INSERT INTO embedding_model VALUES (%s, 'somebody', 10)", [other.id])
    with pytest.raises(ValidationFailed, match="would have the id of somebody"):
        register(database.owner_url, other)
