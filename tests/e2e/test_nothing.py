"""What is known is found first, and what is not gets nothing: as somebody new would try it."""

import subprocess
from typing import TYPE_CHECKING

import pytest
from tests.e2e.cli import COMMAND, environment
from tests.e2e.tenant import Tenant, open_workspace

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
