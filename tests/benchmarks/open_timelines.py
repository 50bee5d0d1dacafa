"""What 200 open timelines cost a search, and how long a step takes to be seen.

    python -m pytest -s tests/benchmarks/open_timelines.py

One API process over a real database; readers and searchers are processes of their own. Rounds
without and with open timelines take turns, so that the ratio holds on a busy machine. Not part of
the suite: it asserts what was promised, which a machine under load may miss.
"""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import time
from http.client import HTTPConnection
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from tests.support.console import Browser, add_person
from tests.support.deciding import agents_of, question
from tests.support.embedding import HashingEmbedder

from benchmarks.metrics import percentile
from cairn.kernel.access import PersonRole
from cairn.kernel.ids import new_id

if TYPE_CHECKING:
    from tests.integration.console.test_in_a_browser import Site

from tests.integration.console.test_in_a_browser import site

__all__ = ["site"]
READERS, INVESTIGATIONS, MEMORIES, ROUNDS, SEARCHES = 200, 20, 200, 4, 150
WORDS = ("harbour", "granite", "meadow", "lantern", "saffron", "walnut", "copper", "juniper")


def test_open_timelines_beside_searches(site: Site) -> None:
    services = site.front.app.state.services
    vars(services)["embedder"] = HashingEmbedder()
    agents = agents_of(services, site.world)
    for _ in range(INVESTIGATIONS):
        question(agents)
    waiting = agents.questions()
    items = [
        {"text": f"{WORDS[at % 8]} {WORDS[at % 7]} number {at}", "type": "event"}
        for at in range(MEMORIES)
    ]
    site.front.call("POST", "/v1/memories", json={"items": items})
    link = add_person(site.front.app, site.world.workspace_id, f"{new_id()}", PersonRole.OPERATOR)
    browser = Browser(site.front.app)
    browser.post("/console/link", token=link.token)
    paths = [
        f"/console/investigations/{waiting[at % INVESTIGATIONS].investigation_id}/live"
        for at in range(READERS)
    ]
    cookie = "; ".join(f"{name}={value}" for name, value in browser.cookies.items())
    given = json.dumps({"cookie": cookie, "paths": paths})
    searched(site, 20)
    alone: list[float] = []
    beside: list[float] = []
    for _ in range(ROUNDS):
        alone += searched(site, SEARCHES)
        with readers(site.url, given) as held:
            beside += searched(site, SEARCHES)
            asked = waiting.pop()
            agents.approvals.approve(agents.admin, asked.id, binding=asked.binding)
            committed = time.time()
            seen = float(held.stdout.readline()) if held.stdout else 0.0
            say(f"a step was seen {seen - committed:.2f} s after its commit")
            assert seen - committed <= 1.0
            held.stdin.close() if held.stdin else None
    p95 = percentile(alone, 0.95), percentile(beside, 0.95)
    say(f"p95 of a search: {p95[0]:.1f} ms alone, {p95[1]:.1f} ms beside {READERS} timelines")
    say(f"ratio {p95[1] / p95[0]:.2f}")
    assert p95[1] <= 2 * p95[0]


def say(what: object) -> None:
    sys.stdout.write(f"{what}\n")
    sys.stdout.flush()


def readers(url: str, given: str) -> subprocess.Popen[str]:
    """Return a process that holds the timelines open, once each has its first event."""
    command = [sys.executable, "-m", "tests.benchmarks.open_timelines", "read", url]
    pipe = subprocess.PIPE
    process = subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True)
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(given + "\n")
    process.stdin.flush()
    assert process.stdout.readline() == "open\n"
    return process


def searched(site: Site, number: int) -> list[float]:
    """Return the milliseconds of searches that a process of its own makes one after the other."""
    command = [
        sys.executable,
        "-m",
        "tests.benchmarks.open_timelines",
        "search",
        site.url,
        str(number),
    ]
    done = subprocess.run(
        command, input=site.front.key, stdout=subprocess.PIPE, text=True, check=True
    )
    return json.loads(done.stdout)


def search(url: str, number: int, key: str) -> None:
    connection = HTTPConnection(urlsplit(url).netloc)
    headers = {"authorization": f"Bearer {key}", "content-type": "application/json"}
    times: list[float] = []
    for at in range(number):
        body = json.dumps({"query": f"{WORDS[at % 8]} {WORDS[(at * 3) % 7]} {at}"})
        began = time.perf_counter()
        connection.request("POST", "/v1/search", body, headers)
        answer = connection.getresponse()
        assert (answer.status, bool(answer.read())) == (200, True)
        times.append((time.perf_counter() - began) * 1000)
    say(json.dumps(times))


async def read(url: str, given: dict[str, Any]) -> None:
    host = urlsplit(url)
    cookie: str = given["cookie"]
    first = asyncio.Semaphore(0)
    later = asyncio.Event()

    async def follow(path: str) -> None:
        reader, writer = await asyncio.open_connection(host.hostname, host.port)
        writer.write(
            f"GET {path} HTTP/1.1\r\nhost: {host.netloc}\r\ncookie: {cookie}\r\n\r\n".encode()
        )
        seen = 0
        while line := await reader.readline():
            if line.startswith(b"event: lines"):
                seen += 1
                first.release() if seen == 1 else later.set()

    paths: list[str] = given["paths"]
    tasks = [asyncio.create_task(follow(path)) for path in paths]
    for _ in tasks:
        await first.acquire()
    say("open")
    await later.wait()
    say(time.time())
    await asyncio.to_thread(sys.stdin.read)
    for task in tasks:
        task.cancel()


if __name__ == "__main__":
    if sys.argv[1] == "search":
        search(sys.argv[2], int(sys.argv[3]), sys.stdin.read().strip())
    else:
        asyncio.run(read(sys.argv[2], json.loads(sys.stdin.readline())))
