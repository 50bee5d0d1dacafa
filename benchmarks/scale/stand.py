"""Puts the parts of the benchmark over one database: legs, recall, and the API in a process."""

from __future__ import annotations

import socket
import subprocess
import sys
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING

from benchmarks.floor import Floor
from benchmarks.scale.index import index_beside
from benchmarks.scale.load import Loader, Workspace
from benchmarks.scale.measure import UNCACHED, ExactSearch, Measure
from benchmarks.scale.run import Stand
from cairn.adapters.postgres.database import Database, bound
from cairn.cli.client import Failure
from cairn.kernel.clock import utc_now
from cairn.kernel.ids import new_id

if TYPE_CHECKING:
    from collections.abc import Callable, Generator
    from pathlib import Path

    import httpx

    from cairn.bootstrap.search_index import Endpoint
    from cairn.embedding.port import Embedder

CONNECTIONS = 3
START_SECONDS = 60.0


@contextmanager
def stand_over(
    app_url: str,
    *,
    embedder: Embedder,
    model_dir: Path,
    opensearch: Endpoint | None,
    stopwatch: Callable[[], float],
    sleep: Callable[[float], None],
) -> Generator[Stand]:
    """Yield the stand over the functions' URL of a database; everything ends with it."""
    from cairn.adapters.postgres.memory.recall import PostgresKeywordLeg, PostgresVectorLeg
    from cairn.bootstrap.recall import recall

    database, alone = Database(app_url, size=CONNECTIONS), Database(app_url)
    with (
        closing(database),
        closing(alone),
        index_beside(opensearch, alone) as beside,
        _served(app_url, model_dir, stopwatch=stopwatch, sleep=sleep) as http,
    ):
        yield Stand(
            loader=Loader(database=alone, model_id=embedder.model.id, now=utc_now(), new_id=new_id),
            measure=Measure(
                embedder=embedder,
                vector_leg=PostgresVectorLeg(alone),
                keyword_leg=PostgresKeywordLeg(alone),
                index_leg=beside.leg if beside else None,
                recall=recall(database, embedder),
                floor=Floor(embedder=embedder, database=alone, stopwatch=stopwatch),
                http=http,
                clock=utc_now,
                stopwatch=stopwatch,
            ),
            index=beside.fill if beside else None,
            exact=lambda workspace: _exact(alone, workspace, embedder),
        )


def _exact(database: Database, workspace: Workspace, embedder: Embedder) -> ExactSearch:
    import numpy as np

    from cairn.adapters.postgres.memory.embeddings import PostgresEmbeddings

    with bound(database, workspace.principal) as connection:
        store = PostgresEmbeddings(connection, workspace.principal)
        ids, vectors = store.of_workspace(embedder.model.id)
    return ExactSearch(ids=ids, vectors=np.array(vectors, dtype="float32"))


@contextmanager
def _served(
    app_url: str,
    model_dir: Path,
    *,
    stopwatch: Callable[[], float],
    sleep: Callable[[float], None],
) -> Generator[Callable[[Workspace, str], float]]:
    """Serve the API over the database in a process of its own; yield what times a search."""
    import httpx

    port = _free_port()
    command = [sys.executable, "-m", "uvicorn", "cairn.api.asgi:app", "--port", str(port)]
    process = subprocess.Popen(
        [*command, "--log-level", "error", "--no-access-log"],
        env=environment_of(app_url, model_dir),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    with httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=60.0) as client:
        try:
            _wait(client, process, stopwatch, sleep)
            yield lambda workspace, question: _timed(client, workspace, question, stopwatch)
        finally:
            process.terminate()
            process.wait(timeout=30)


def _wait(
    client: httpx.Client,
    process: subprocess.Popen[bytes],
    stopwatch: Callable[[], float],
    sleep: Callable[[float], None],
) -> None:
    import httpx

    deadline = stopwatch() + START_SECONDS
    while stopwatch() < deadline and process.poll() is None:
        try:
            if client.get("/healthz").status_code == 200:
                return
        except httpx.HTTPError:
            sleep(0.1)
    raise Failure("The API of the benchmark did not start.", advice="is uvicorn installed?")


def _timed(
    client: httpx.Client,
    workspace: Workspace,
    question: str,
    stopwatch: Callable[[], float],
) -> float:
    """Return the milliseconds of one search; a request the rate limit refuses is not timed."""
    headers = {"authorization": f"Bearer {workspace.key}"}
    body = {"query": question, "neighbours": 0, "stages": UNCACHED}
    start = stopwatch()
    answer = client.post("/v1/search", json=body, headers=headers)
    ms = (stopwatch() - start) * 1000
    if answer.is_error:
        raise Failure(f"A search over HTTP answered with status {answer.status_code}.")
    return ms


def environment_of(app_url: str, model_dir: Path) -> dict[str, str]:
    """Return what the api reads; a search touches neither queue, bucket nor keys."""
    return {
        "PATH": "/usr/bin:/bin",
        "CAIRN_STAGE": "local",
        "CAIRN_APP_DATABASE_URL": app_url,
        "CAIRN_MODEL_DIR": str(model_dir),
        "CAIRN_KEY_STORE": "file:/nonexistent/bench-keys",
        "CAIRN_UPLOADS_BUCKET": "bench",
        "CAIRN_ANCHOR_BUCKET": "bench",
        "CAIRN_SIGNING_KEY": "file:/nonexistent/bench-signing",
        "CAIRN_EMBED_QUEUE_URL": "http://127.0.0.1:9/bench",
        "CAIRN_WEBHOOK_QUEUE_URL": "http://127.0.0.1:9/bench",
        "CAIRN_TICKET_QUEUE_URL": "http://127.0.0.1:9/bench",
        "CAIRN_SOURCE_QUEUE_URL": "http://127.0.0.1:9/bench",
        "CAIRN_ESCALATION_QUEUE_URL": "http://127.0.0.1:9/bench",
        "CAIRN_CHANNEL_QUEUE_URL": "http://127.0.0.1:9/bench",
        "CAIRN_INVESTIGATION_MACHINE_ARN": "arn:aws:states:::bench",
        "CAIRN_INGESTION_MACHINE_ARN": "arn:aws:states:::bench",
        "CAIRN_CONSOLIDATION_MACHINE_ARN": "arn:aws:states:::bench",
        "CAIRN_REBUILD_MACHINE_ARN": "arn:aws:states:::bench",
        "CAIRN_WORKFLOW_MACHINE_ARN": "arn:aws:states:::bench",
        "CAIRN_LOG_LEVEL": "ERROR",
    }


def _free_port() -> int:
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        return listening.getsockname()[1]
