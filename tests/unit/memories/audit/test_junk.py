"""What is junk, and what only looks like it."""

import pytest

from cairn.memories.audit.records import Junk, junk_of


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", Junk.EMPTY),
        ("... !!! —", Junk.EMPTY),
        ("Ok, thanks!", Junk.TALK),
        ("good morning everyone", Junk.TALK),
        ("TODO", Junk.PLACEHOLDER),
        ("n/a", Junk.PLACEHOLDER),
        ("Lorem ipsum dolor sit amet", Junk.PLACEHOLDER),
        ("As an AI language model, I cannot recall that.", Junk.ASSISTANT),
        ("Is there anything else I can do?", Junk.ASSISTANT),
        ("You are a helpful assistant that answers briefly.", Junk.PROMPT),
        ("HEARTBEAT_OK", Junk.HEARTBEAT),
        ("Cron job completed successfully.", Junk.HEARTBEAT),
    ],
)
def test_what_says_nothing_is_junk(text: str, why: Junk) -> None:
    assert junk_of(text) is why


@pytest.mark.parametrize(
    "text",
    [
        "Ada likes tea",
        "up",
        "port 5432",
        "Yes, the contract with Acme was signed on Monday",
        "The test of the harbour crane failed",
        "Thanks to Ada the outage ended",
        "The client wants the phrase 'How can I help you' gone. " + "Details follow. " * 60,
    ],
)
def test_what_is_short_and_says_something_is_not(text: str) -> None:
    assert junk_of(text) is None
