"""What is known is found first, and what is not gets nothing: as somebody new would try it."""

import subprocess
from typing import TYPE_CHECKING

import pytest
from tests.e2e.cli import COMMAND, cairn, environment
from tests.e2e.tenant import Tenant, open_workspace, refused

if TYPE_CHECKING:
    from tests.plugins.laptop import Laptop

PEANUTS = "Helga is vegetarian and badly allergic to peanuts."
SAID = (
    ("I am vegetarian and badly allergic to peanuts.", ("guest-1", "Helga")),
    ("I can't swim.", ("guest-1", "Helga")),
    ("My wife and I moved to Lausanne last spring.", ("guest-2", "+41795550011")),
    ("I drive an old Volvo estate.", ("guest-2", "+41795550011")),
    ("I'm afraid of heights, so cable cars are out of the question for me.", ("guest-3", "Ruth")),
    ("I'm learning Romansh on Thursday evenings.", ("guest-3", "Ruth")),
)
ELSEWHERE = (
    "What is the capital of Mongolia?",
    "Who won the world cup in 1998?",
    "How tall is Mount Everest?",
)


@pytest.fixture(scope="module")
def tenant(laptop: "Laptop") -> Tenant:
    tenant = open_workspace(laptop, "nothing")
    tenant.remember(
        *(
            {"text": text, "type": "fact"}
            for text in (
                PEANUTS,
                "The spare key of the cellar hangs behind the door.",
                "Acme's website runs on Render since March.",
                "The invoice of March is still open.",
                "Helga prefers tea over coffee in the afternoon.",
            )
        )
    )
    tenant.all_embedded()
    return tenant


@pytest.fixture(scope="module")
def empty(laptop: "Laptop") -> Tenant:
    return open_workspace(laptop, "empty")


@pytest.fixture(scope="module")
def busy(laptop: "Laptop") -> Tenant:
    """Return the demo's workspace, documents and others' talk, in which guests say a few things.

    Without what the schedule starts, which is for every workspace of the stack.
    """
    tenant = open_workspace(laptop, "busy")
    here = {"CAIRN_CONSOLIDATION_MACHINE_ARN": ""}
    demo = cairn(tenant, "demo", "--json", changed=here, seconds=400)
    assert demo.status == 0, demo.err + demo.out[-2000:]
    assert len(demo.json()["tickets"]) == 3
    for text, (session_id, sender) in SAID:
        message = {"channel": "whatsapp", "session_id": session_id, "role": "user"}
        tenant.post("/v1/conversations/messages", {**message, "text": text, "sender": sender})
    tenant.all_embedded()
    return tenant


@pytest.mark.parametrize(
    ("question", "words"),
    [
        ("what can I not eat?", "peanuts"),
        ("what can the user not eat?", "peanuts"),
        ("What am I allergic to?", "peanuts"),
        ("can I swim?", "swim"),
        ("where do I live?", "Lausanne"),
        ("Where does the user live now?", "Lausanne"),
        ("what car do I drive?", "Volvo"),
        ("what does the user drive?", "Volvo"),
        ("what am I afraid of?", "heights"),
        ("what is the user's fear?", "heights"),
        ("what language am I learning?", "Romansh"),
        ("What does the user do on Thursday evenings?", "Romansh"),
    ],
)
def test_what_somebody_said_of_themselves_is_found_before_documents_and_others_talk(
    busy: Tenant, question: str, words: str
) -> None:
    assert words in busy.texts(question)[0]


@pytest.mark.parametrize(
    ("question", "words"),
    [
        ("how do I roll back a release by hand?", "--previous"),
        ("can I pay by card at L\u00e4rchboden?", "TWINT"),
        ("until when can I cancel free of charge?", "48 hours"),
        ("where do I find spare batteries for the modem?", "cellar of the school"),
        ("can I take my dog to a hut?", "Dogs may sleep"),
    ],
)
def test_what_a_document_tells_whoever_asks_is_found_before_what_they_said(
    busy: Tenant, question: str, words: str
) -> None:
    assert words in busy.texts(question)[0]


@pytest.mark.parametrize(
    "question", ["what is my blood type?", "what is the user's shoe size?", "who is my dentist?"]
)
def test_what_nobody_said_of_themselves_gets_nothing(busy: Tenant, question: str) -> None:
    assert busy.search(question)["results"] == []


@pytest.mark.parametrize(
    "question",
    ["What can Helga not eat?", "what food must Helga avoid?", "allergies", "peanuts"],
)
def test_the_peanut_is_found_first(tenant: Tenant, question: str) -> None:
    found = tenant.search(question)
    assert found["results"][0]["text"] == PEANUTS
    assert found["meta"]["answerable"] is True
    assert found["results"][0]["relevance"] >= found["meta"]["relevance"]["enough"]


@pytest.mark.parametrize("question", ELSEWHERE)
def test_what_nobody_stored_gets_nothing_and_every_door_says_so(
    tenant: Tenant, question: str
) -> None:
    found = tenant.search(question)
    assert (found["results"], found["meta"]["answerable"]) == ([], False)
    assert len(tenant.found(question, min_relevance=0)) == found["meta"]["relevance"]["left_out"]
    context = tenant.post("/v1/context", {"query": question})
    assert "Nothing that is stored bears on this question." in context["context"]
    assert context["citations"] == []


def test_the_command_line_says_that_nothing_bears_on_a_question(tenant: Tenant) -> None:
    for option, said in (((), "nothing bears on"), (("--min-relevance", "0"), "Helga")):
        ran = subprocess.run(
            [COMMAND, "recall", ELSEWHERE[0], *option],
            env=environment(tenant),
            capture_output=True,
            text=True,
            timeout=90,
            check=True,
        )
        assert said in ran.stdout


def test_a_list_is_not_held_to_a_question(tenant: Tenant) -> None:
    assert len(tenant.found("What happened this week?")) == 5


@pytest.mark.parametrize(
    ("question", "unjudged"),
    [
        ("the of and to a", "listing"),
        ("\N{PEANUTS} \N{PEANUTS}?!", "listing"),
        ("SELECT * FROM node; print(1) # {x: y}", None),
        ("\u30e2\u30f3\u30b4\u30eb\u306e\u9996\u90fd\u306f\u3069\u3053", "language"),
        (("who holds the record for the longest flight of a paper plane? " * 70)[:4000], None),
    ],
    ids=["stop words", "emoji", "code", "another language", "the longest"],
)
def test_an_odd_question_gets_nothing_or_is_said_not_to_be_judged(
    tenant: Tenant, empty: Tenant, question: str, unjudged: str | None
) -> None:
    meta = tenant.search(question)["meta"]
    assert (meta["degraded"], meta["relevance"]["unjudged"]) == ([], unjudged)
    assert bool(tenant.found(question)) is bool(unjudged)
    assert empty.search(question, min_relevance=0)["results"] == []


def test_a_longer_question_is_refused_by_name(empty: Tenant) -> None:
    told = refused(empty.call("POST", "/v1/search", json={"query": "x" * 4001}), 413)
    assert told["errors"][0]["location"] == "body.query"
