"""Kill -9 of the API and of the sweep while a chat goes to a person: all is said, and said once."""

from __future__ import annotations

import json
from collections import Counter
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import httpx
import pytest
from tests.e2e.tenant import Tenant, good, open_workspace, superuser
from tests.fault.turnstile import turnstile
from tests.plugins.waiting import eventually

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.plugins.laptop import Laptop

HOST = "https://shop.example"
LATER = "UPDATE handoff SET moved_at = moved_at - interval '1 hour' WHERE workspace_id = %s"
OLDER = "UPDATE handoff_line SET at = at - interval '5 minutes' WHERE workspace_id = %s"


@dataclass
class Chat:
    """A customer's page and an operator, who both ask again when the line breaks."""

    tenant: Tenant
    widget: str = ""
    token: str = ""
    id: str = ""

    def ask(self, method: str, path: str, **given: Any) -> httpx.Response:
        """Return the answer to a request of the page; whatever is not answered is sent again."""
        headers = {"origin": HOST, "authorization": f"Bearer {self.token or 'none'}"}
        url = f"{self.tenant.base}/v1/widget/{self.widget}{path}"
        return persistent(lambda: httpx.request(method, url, headers=headers, timeout=20, **given))

    def say(self, message: str) -> dict[str, Any]:
        body = {"message": message, "turn_id": str(uuid4())}
        return dict(good(self.ask("POST", "/messages", json=body)))

    def operate(self, deed: str, body: dict[str, Any] | None = None) -> httpx.Response:
        path = f"/v1/chats/{self.id}{deed}"
        return persistent(lambda: self.tenant.call("POST", path, json=body or {}))

    def lines(self, kind: str = "said") -> list[str]:
        heard = good(self.ask("GET", "/hand-off"))["lines"]
        return [each["text"] or each["name"] or "" for each in heard if each["kind"] == kind]

    def state(self) -> str:
        return str(good(self.ask("GET", "/session"))["state"])

    def later(self, statement: str) -> None:
        with superuser(self.tenant.laptop) as root:
            root.execute(statement.encode(), [self.tenant.id])


def persistent(call: Callable[[], httpx.Response]) -> httpx.Response:
    """Return an answer, however often it takes: the process may die with the request."""

    def tried() -> httpx.Response | None:
        try:
            return call()
        except (httpx.NetworkError, httpx.RemoteProtocolError, httpx.TimeoutException):
            return None

    answer = eventually(tried, seconds=120, what="an answer")
    assert answer is not None
    return answer


@pytest.fixture
def chat(laptop: Laptop) -> Iterator[Chat]:
    """A chat that waits for a person."""
    opened = Chat(open_workspace(laptop, "hand-off"))
    limits = {"per_minute": 1_000, "challenge_after": None}
    body = {"origins": [HOST], "anonymous": limits, "hand_off": {"wait_minutes": 10}}
    opened.widget = good(opened.tenant.call("PUT", "/v1/widget", json=body))["id"]
    opened.token = good(opened.ask("POST", "/sessions", json={}))["token"]
    opened.say("My order is number 4711.")
    good(opened.ask("POST", "/hand-off"))
    opened.id = opened.tenant.get("/v1/chats", state="pending")["items"][0]["id"]
    yield opened
    assert opened.tenant.chain_holds()


def cut_down(chat: Chat, deed: Callable[[], Any], kill: Callable[[], Any]) -> Any:
    """Return what comes of a deed whose process is killed just before it writes the ledger."""
    laptop = chat.tenant.laptop
    with ThreadPoolExecutor(1) as threads:
        with turnstile(laptop, chat.tenant.id) as held:
            done: Future[Any] = threads.submit(deed)
            eventually(held.waiting, what="the write")
            kill()
        return done.result(timeout=120)


def test_the_api_dies_between_accept_and_say_and_each_happens_once(chat: Chat) -> None:
    kill = chat.tenant.laptop.kill_api
    chat.say("Is anybody there?")
    assert chat.state() == "handoff_pending"
    good(cut_down(chat, lambda: chat.operate("/accept", {"name": "Ada"}), kill))
    assert chat.state() == "handoff_active"
    line = {"text": "Hello, I am Ada.", "line_id": str(uuid4())}
    good(cut_down(chat, lambda: chat.operate("/say", line), kill))
    words = [f"word {number}" for number in range(12)]
    with ThreadPoolExecutor(3) as threads:
        said = [threads.submit(chat.say, word) for word in words]
        kill()  # whichever of them are on their way
        assert {each.result()["state"] for each in said} == {"passed"}
    good(chat.operate("/close", {"resolution": "Sent again."}))
    assert chat.state() == "closed"
    assert chat.lines("accepted") == ["Ada"]
    assert Counter(chat.lines()) == Counter(["Is anybody there?", line["text"], *words])
    kept(chat, [line["text"], *words])


def test_whoever_falls_back_to_a_ticket_dies_and_there_is_one_ticket_with_all_of_it(
    chat: Chat,
) -> None:
    laptop = chat.tenant.laptop
    chat.say("Hello? Is somebody there?")
    chat.later(LATER)
    with ThreadPoolExecutor(2) as threads:
        with turnstile(laptop, chat.tenant.id) as held:
            swept = threads.submit(sweep, laptop)
            eventually(held.waiting, what="the sweep that makes the ticket")
            assert laptop.kill_workers("audit")
            held.forget_waiting()
            looked = threads.submit(chat.ask, "GET", "/hand-off")
            eventually(held.waiting, what="the customer's look that makes the ticket")
            laptop.kill_api()
        swept.result(timeout=120)
        heard = good(looked.result(timeout=120))
    sweep(laptop)
    heard = good(chat.ask("GET", "/hand-off"))
    assert (heard["state"], chat.state()) == ("ticket", "closed")
    tickets = chat.tenant.get("/v1/tickets")["items"]
    assert [each["id"] for each in tickets] == [heard["ticket_id"]]
    body = chat.tenant.get(f"/v1/tickets/{heard['ticket_id']}")["body"]
    for text in ("My order is number 4711.", "Hello? Is somebody there?"):
        assert body.count(text) == 1
    kept(chat, ["Hello? Is somebody there?"])


def sweep(laptop: Laptop) -> None:
    """Run the sweep; one whose worker is killed ends without an answer."""
    payload = json.dumps({"step": "start_workflows"})
    laptop.client("lambda").invoke(FunctionName="cairn-local-audit", Payload=payload)


def kept(chat: Chat, texts: list[str]) -> None:
    """Check that the conversation has each of these once, after what the dead left is taken up."""
    chat.later(OLDER)
    sweep(chat.tenant.laptop)
    conversation = chat.tenant.get("/v1/conversations")["items"][0]["id"]
    messages = chat.tenant.get(f"/v1/conversations/{conversation}", limit=100)["items"]
    counted = Counter(each["content"] for each in messages)
    assert {text: counted[text] for text in texts} == dict.fromkeys(texts, 1)
