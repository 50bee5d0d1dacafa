"""What is known is found first, and what is not gets nothing: as somebody new would try it."""

import subprocess
from typing import TYPE_CHECKING

import pytest
from tests.e2e.cli import COMMAND, environment
from tests.e2e.tenant import Tenant, open_workspace, refused

if TYPE_CHECKING:
    from tests.plugins.laptop import Laptop

PEANUTS = "Helga is vegetarian and badly allergic to peanuts."
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
