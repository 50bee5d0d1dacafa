"""The Python client: built, installed beside nothing but its own needs, and used on the stack."""

import asyncio
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING
from uuid import uuid4

import pytest
from tests.e2e.tenant import Tenant, open_workspace
from tests.unit.documents.pdf_files import pdf

from cairn_memory import AsyncMemory, Memory, errors, models, operations

if TYPE_CHECKING:
    from tests.plugins.laptop import Laptop

ROOT = Path(__file__).parents[2]
PROJECT = ROOT / "clients" / "python"
LINES = 10
"""How many lines of code a first recalled memory may take."""


def run(*command: str | Path) -> None:
    subprocess.run([str(part) for part in command], check=True, timeout=240)


@pytest.fixture(scope="module")
def tenant(laptop: "Laptop") -> Tenant:
    return open_workspace(laptop, "python-client")


@pytest.fixture
def memory(tenant: Tenant) -> Iterator[Memory]:
    with Memory(tenant.base, tenant.key) as opened:
        yield opened


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A Python with the built client and what it needs."""
    folder = tmp_path_factory.mktemp("client")
    uv = ROOT / ".local" / "uv" / "bin" / "uv"
    command = str(uv) if uv.exists() else shutil.which("uv")
    assert command, "uv, which `make setup` installs"
    python = folder / "venv" / "bin" / "python"
    run(command, "build", "--wheel", "--out-dir", folder, PROJECT)
    run(command, "venv", "--python", sys.executable, folder / "venv")
    run(command, "pip", "install", "--python", python, *folder.glob("*.whl"))
    return python


def snippet() -> str:
    readme = (PROJECT / "README.md").read_text(encoding="utf-8")
    found = re.search(r"```python\n(.*?)```", readme, re.DOTALL)
    assert found
    return found.group(1)


def test_the_readme_remembers_and_recalls_in_ten_lines(python: Path, tenant: Tenant) -> None:
    code = snippet()
    assert len([line for line in code.splitlines() if line.strip()]) <= LINES
    known = {"PATH": os.environ["PATH"], "CAIRN_URL": tenant.base, "CAIRN_API_KEY": tenant.key}
    ran = subprocess.run(
        [str(python), "-W", "error", "-c", code],
        env=known,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    assert "allergic to peanuts" in ran.stdout.splitlines()[0]


def test_it_needs_httpx_and_pydantic_and_nothing_else(python: Path) -> None:
    code = "from importlib.metadata import requires; print(*requires('cairn-memory'), sep='\\n')"
    ran = subprocess.run([str(python), "-c", code], capture_output=True, text=True, check=True)
    always = [line for line in ran.stdout.splitlines() if "extra ==" not in line]
    assert {re.split(r"[<>=]", line)[0] for line in always} == {"httpx", "pydantic"}


def test_a_memory_is_corrected_kept_from_recall_and_deleted(memory: Memory) -> None:
    ours = {"client_id": "gardener"}
    written = memory.remember("The hedge is cut in May.", **ours, wait="embedded")
    corrected = memory.correct(written.id, "The hedge is cut in June.", reason="birds nest in May")
    assert [hit.text for hit in memory.recall("When is the hedge cut?", **ours).results] == [
        "The hedge is cut in June."
    ]
    assert "June" in memory.context("When is the hedge cut?", **ours).context
    assert memory.history(corrected.id).versions[0].memory.id == written.id

    hidden = memory.never_recall(corrected.id, reason="asked for it")
    assert not memory.recall("When is the hedge cut?", **ours).results
    shown = memory.let_be_recalled(hidden.id)
    assert memory.recall("When is the hedge cut?", **ours).results
    memory.delete(shown.id)
    assert not list(memory.memories(**ours))


def test_nodes_are_asked_for_by_label_and_property(memory: Memory) -> None:
    for name, cost in (("pump", 5), ("hose", 2)):
        node = {"label": "Part", "labels": ["Spare"], "properties": {"name": name, "cost": cost}}
        memory.call(operations.write_nodes(models.NodeIn.model_validate(node)))
    found = memory.query_nodes("Spare", where=[{"path": ["cost"], "op": "gt", "value": 3}])
    assert [(node.name, node.labels) for node in found.items] == [("pump", ["Part", "Spare"])]
    assert memory.query_nodes("Part", where=[{"path": ["cots"], "value": 3}]).warnings == [
        "No Part node has the property cots; did you mean cost?"
    ]


def test_what_is_said_and_ingested_is_recalled(memory: Memory) -> None:
    memory.say("visit-1", "Our dog Bruno is afraid of thunder.", client_id="vet")
    document = memory.ingest(
        "# Opening hours\n\nThe practice opens at seven on Mondays.",
        source_uri="notes://hours",
        client_id="vet",
        wait=True,
    )
    assert document.status == "ready"
    hits = memory.recall("When does the practice open on Mondays?", client_id="vet")
    assert any("seven" in (hit.text or "") for hit in hits.results)
    told = memory.feedback(hits.meta.search_id, hits.results[0].node_id, useful=True)
    assert told.useful


def test_a_file_too_large_for_a_request_is_uploaded_and_recalled(
    memory: Memory, tmp_path: Path
) -> None:
    scanned = tmp_path / "ferry.pdf"
    scanned.write_bytes(pdf([[(11, "The ferry leaves at dusk.")]], pictures=4_000_000))
    assert memory.ingest(scanned, wait=True).status == "ready"


def test_a_batch_says_which_of_it_was_refused(memory: Memory) -> None:
    good, bad = memory.remember_all(["Batches are fine.", ""])
    assert isinstance(good, models.MemoryItemResult)
    assert isinstance(bad, models.RejectedItem)


def test_any_operation_can_be_called_and_any_list_read(memory: Memory) -> None:
    assert memory.call(operations.whoami()).role == "admin"
    assert list(memory.pages(operations.list_ledger, limit=3))
    with pytest.raises(errors.NotFound):
        memory.get("019a8f0e-3b5c-7c11-9d2e-6f4a1b2c3d4e")
    with Memory(memory.url, "cairn_no.key") as stranger, pytest.raises(errors.Unauthenticated):
        stranger.recall("anything")


def test_somebody_is_forgotten_with_a_proof(memory: Memory) -> None:
    memory.remember("Otto prefers tea.", client_id="otto")
    memory.forget("client:otto", prove=True)
    assert not list(memory.memories(client_id="otto"))


def test_the_client_with_await_remembers_and_recalls(tenant: Tenant) -> None:
    async def walk() -> list[str | None]:
        async with AsyncMemory(tenant.base, tenant.key, client_id="async") as memory:
            await memory.remember("The ferry leaves at noon.", wait="embedded")
            listed = [held.text async for held in memory.memories()]
            answer = await memory.recall("When does the ferry leave?")
            assert listed == [answer.results[0].text]
            return listed

    assert asyncio.run(walk()) == ["The ferry leaves at noon."]


def test_a_chat_streams_its_answer_and_deletes_what_the_person_confirms(tenant: Tenant) -> None:
    with Memory(tenant.base, tenant.key, client_id="chat") as memory:
        kept = memory.remember("The ferry to Aldersund leaves at noon.", wait="embedded")
        turn, question = uuid4(), "When does the ferry to Aldersund leave?"
        events = list(memory.chat(question, session_id="desk", turn_id=turn))
        assert (events[0].name, events[-1].name) == ("graph_start", "graph_end")
        answer = events[-1].data
        assert f"[memory:{kept.id}]" in answer["citations"]
        said = "".join(event.data["text"] for event in events if event.name == "text_chunk")
        assert (answer["state"], said) == ("done", answer["answer"])
        again = list(memory.chat(question, session_id="desk", turn_id=turn))
        assert [event.id for event in again] == [event.id for event in events]

        asked = memory.chat("Forget the ferry to Aldersund", session_id="desk")
        (waiting,) = [event.data for event in asked if event.data.get("phase") == "pending"]
        other = {"confirm": True, "arguments_hash": "0" * 64}
        with pytest.raises(errors.Conflict):
            memory.decide(waiting["action_id"], **other)
        seen = {"confirm": True, "arguments_hash": waiting["arguments_hash"]}
        assert memory.decide(waiting["action_id"], **seen).state == "done"
        with pytest.raises(errors.NotFound):
            memory.get(kept.id)


def test_the_client_with_await_chats(tenant: Tenant) -> None:
    async def walk() -> str:
        async with AsyncMemory(tenant.base, tenant.key, client_id="chat") as memory:
            await memory.remember("The lighthouse is painted in May.", wait="embedded")
            events = [event async for event in memory.chat("When is the lighthouse painted?")]
            return events[-1].data["answer"]

    assert "painted in May" in asyncio.run(walk())
