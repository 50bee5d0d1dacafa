"""Posting webhooks: to whom, how often, and what the receiver sees."""

import httpx
import pytest

from cairn.adapters.http.webhooks import HttpWebhookSender, NoWebhooks, resolved, sender_for
from cairn.kernel.errors import Conflict, Unavailable, ValidationFailed

URL = "https://hooks.example.org/cairn?x=1"
OUTSIDE = ["93.184.216.34"]


class Answers:
    """A receiver that answers with the next status, or fails to."""

    def __init__(self, *answers: int | Exception) -> None:
        self.answers = list(answers)
        self.requests: list[httpx.Request] = []

    def __call__(self, request: httpx.Request) -> httpx.Response:
        self.requests.append(request)
        said = self.answers.pop(0)
        if isinstance(said, Exception):
            raise said
        return httpx.Response(said, headers={"location": "https://elsewhere.example.org/"})


def sender(answers: Answers, addresses: list[str], *, private: bool = False) -> HttpWebhookSender:
    return HttpWebhookSender(
        allow_private=private,
        resolve=lambda host, port: addresses,
        transport=httpx.MockTransport(answers),
        pause=lambda seconds: None,
    )


def test_the_address_that_was_looked_at_is_the_one_that_is_called() -> None:
    answers = Answers(204)
    assert sender(answers, OUTSIDE).post(URL, b"{}", {"webhook-id": "1"}) == 204
    (request,) = answers.requests
    assert request.url.host == "93.184.216.34"
    assert request.url.query == b"x=1"
    assert request.headers["host"] == "hooks.example.org"
    assert request.extensions["sni_hostname"] == "hooks.example.org"
    assert request.content == b"{}"


INSIDE = [
    "10.0.0.1",
    "127.0.0.1",
    "169.254.169.254",
    "192.168.1.9",
    "224.0.0.1",
    "::1",
    "fd00::1",
    "ff0e::1",
    "::ffff:10.0.0.1",
    "::169.254.169.254",
    "64:ff9b::a9fe:a9fe",
    "2002:a9fe:a9fe::",
]


@pytest.mark.parametrize("address", INSIDE)
def test_a_name_that_leads_into_a_private_network_is_not_called(address: str) -> None:
    answers = Answers()
    with pytest.raises(ValidationFailed, match="private"):
        sender(answers, [address]).post(URL, b"{}", {})
    assert answers.requests == []


@pytest.mark.parametrize("address", INSIDE)
def test_an_address_inside_a_private_network_is_refused_at_once(address: str) -> None:
    host = f"[{address}]" if ":" in address else address
    with pytest.raises(ValidationFailed, match="private"):
        sender(Answers(), []).check(f"https://{host}/hook")


def test_a_laptop_may_call_itself() -> None:
    answers = Answers(200)
    posting = sender(answers, ["127.0.0.1"], private=True)
    assert posting.post("http://localhost:9999/hook", b"{}", {}) == 200
    assert answers.requests[0].url.port == 9999


@pytest.mark.parametrize(
    ("said", "asked", "status"),
    [((503, 200), 2, 200), ((429, 500, 502), 3, 502), ((404,), 1, 404), ((302,), 1, 302)],
)
def test_a_busy_receiver_is_asked_three_times_and_redirects_are_not_followed(
    said: tuple[int, ...], asked: int, status: int
) -> None:
    answers = Answers(*said)
    assert sender(answers, OUTSIDE).post(URL, b"{}", {}) == status
    assert len(answers.requests) == asked


@pytest.mark.parametrize(
    ("failure", "reason"),
    [(httpx.ReadTimeout("late"), "timeout"), (httpx.ConnectError("refused"), "unreachable")],
)
def test_no_answer_says_why(failure: Exception, reason: str) -> None:
    with pytest.raises(Unavailable) as refused:
        sender(Answers(failure, failure, failure), OUTSIDE).post(URL, b"{}", {})
    assert refused.value.reason == reason


def test_a_host_nobody_knows_is_no_answer() -> None:
    with pytest.raises(Unavailable) as refused:
        resolved("no.such.host.invalid", 443)
    assert refused.value.reason == "no-such-host"


def test_where_nothing_may_leave_no_webhook_is_made_or_sent() -> None:
    off = sender_for("off")
    assert isinstance(off, NoWebhooks)
    with pytest.raises(Conflict):
        off.check(URL)
    with pytest.raises(Unavailable):
        off.post(URL, b"", {})
    assert sender_for("private") == HttpWebhookSender(allow_private=True)
    assert sender_for("public") == HttpWebhookSender()


@pytest.mark.parametrize(
    "url",
    [
        "https://[hooks",
        "https://a\u2100b.example.org/",
        "https://b\u00fccher.example/",
        "https://hooks\n.example.org/",
        "https://hooks.example.org/\x01",
        "https://hooks.example.org/\x7f",
    ],
    ids=ascii,
)
def test_an_address_that_nothing_can_be_posted_to_is_refused_at_once(url: str) -> None:
    with pytest.raises(ValidationFailed) as refused:
        sender(Answers(), OUTSIDE).check(url)
    assert refused.value.errors[0].location == "url"


@pytest.mark.parametrize("host", ["a" * 64 + ".example.org", "a..example.org"])
def test_a_name_with_a_part_that_is_none_is_not_known(host: str) -> None:
    with pytest.raises(Unavailable) as unknown:
        resolved(host, 443)
    assert unknown.value.reason == "no-such-host"
