"""The TypeScript client: built, packed, installed in an empty project, and used on the stack."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from infra.local.layout import node_folder
from tests.e2e.tenant import Tenant, open_workspace

if TYPE_CHECKING:
    from tests.plugins.laptop import Laptop

ROOT = Path(__file__).parents[2]
CLIENT = ROOT / "clients" / "typescript"
WALK = r"""
import { Memory, NotFound, Unauthenticated, ValidationFailed, operations } from "cairn-memory";

const memory = new Memory({ clientId: "gardener" });
const written = await memory.remember("The hedge is cut in May.", { wait: "embedded" });
const corrected = await memory.correct(written.id, "birds nest in May", {
  text: "The hedge is cut in June.",
});
const found = await memory.recall("When is the hedge cut?");
const { context } = await memory.context("When is the hedge cut?");
await memory.feedback(found.meta.search_id, found.results[0].node_id, true);
const hidden = await memory.neverRecall(corrected.id, "asked for it");
const nothing = await memory.recall("When is the hedge cut?");
await memory.letBeRecalled(hidden.id);
const document = await memory.ingest("notes://hours", "# Hours\n\nWe open at seven.");
const bytes = new TextEncoder().encode("Low water. ".repeat(400_000));
const scan = await memory.ingestFile("notes://long.txt", bytes);
await memory.say("visit-1", "Our dog Bruno is afraid of thunder.");
const batch = await memory.rememberAll(["Batches are fine.", ""]);
const refused = async (act) => act().then(() => "nothing", (error) => error.constructor);
const listed = [];
for await (const held of memory.memories({ type: "fact" })) listed.push(held.text);
await memory.forget("client", "gardener", { prove: true });
const left = [];
for await (const held of memory.memories()) left.push(held.text);
console.log(JSON.stringify({
  found: found.results.map((hit) => hit.text),
  context: context.includes("June"),
  nothing: nothing.results.length,
  batch: batch.map((each) => each.index),
  refused: [
    (await refused(() => memory.get("../keys"))) === NotFound ||
      (await refused(() => memory.get("../keys"))) === ValidationFailed,
    (await refused(() => new Memory({ key: "cairn_no.key" }).recall("x"))) === Unauthenticated,
  ],
  listed: listed.includes("The hedge is cut in June."),
  left,
  status: document.status,
  scan: scan.status,
  role: (await memory.call(operations.whoami())).role,
}));
"""


@pytest.fixture(scope="module")
def tenant(laptop: "Laptop") -> Tenant:
    return open_workspace(laptop, "typescript-client")


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An empty project with the packed client."""
    copied, project = tmp_path_factory.mktemp("build") / "client", tmp_path_factory.mktemp("app")
    shutil.copytree(CLIENT, copied, ignore=shutil.ignore_patterns("node_modules", "dist", "*.tgz"))
    script = [sys.executable, "-m", "scripts.typescript", "--folder", str(copied), "build"]
    subprocess.run(script, cwd=ROOT, check=True, timeout=240)
    (archive,) = copied.glob("*.tgz")
    (project / "package.json").write_text(json.dumps({"private": True, "type": "module"}))
    npm = node_folder().parent / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"
    install = ("install", "--offline", "--no-audit", "--no-fund", "--no-package-lock", str(archive))
    node(str(npm), *install, folder=project)
    return project


def node(*arguments: str, folder: Path, **known: str) -> str:
    path = f"{node_folder()}{os.pathsep}{os.environ['PATH']}"
    ran = subprocess.run(
        [str(node_folder() / "node"), *arguments],
        cwd=folder,
        env={**os.environ, "PATH": path, **known},
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    return ran.stdout


def run(code: str, project: Path, tenant: Tenant) -> str:
    (project / "program.js").write_text(code, encoding="utf-8")
    return node("program.js", folder=project, CAIRN_URL=tenant.base, CAIRN_API_KEY=tenant.key)


def test_the_readme_remembers_and_recalls(project: Path, tenant: Tenant) -> None:
    readme = (CLIENT / "README.md").read_text(encoding="utf-8")
    found = re.search(r"```typescript\n(.*?)```", readme, re.DOTALL)
    assert found
    assert "allergic to peanuts" in run(found.group(1), project, tenant).splitlines()[0]


def test_it_needs_nothing_else(project: Path) -> None:
    installed = {each.name for each in (project / "node_modules").iterdir() if each.is_dir()}
    assert installed == {"cairn-memory"}


def test_a_person_corrects_withholds_and_forgets(project: Path, tenant: Tenant) -> None:
    assert json.loads(run(WALK, project, tenant)) == {
        "found": ["The hedge is cut in June."],
        "context": True,
        "nothing": 0,
        "batch": [0, 1],
        "refused": [True, True],
        "listed": True,
        "left": [],
        "status": "accepted",
        "scan": "accepted",
        "role": "admin",
    }
