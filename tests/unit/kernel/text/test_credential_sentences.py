"""Credentials in the sentences that people write: what goes, what stays, and how often.

The two lists are measured as a whole, so that a rule which trades one for the other shows.
"""

from pathlib import Path

from cairn.kernel.text.scrub import scrub

LISTS = Path(__file__).parent / "credentials"


def lines(name: str) -> list[str]:
    text = (LISTS / f"{name}.txt").read_text(encoding="utf-8")
    return [line for line in text.splitlines() if line and not line.startswith("#")]


def secrets_of(line: str) -> list[str]:
    return [part.split("⟧")[0] for part in line.split("⟦")[1:]]


def leaked(line: str) -> list[str]:
    kept = scrub(line.replace("⟦", "").replace("⟧", "")).text
    return [secret for secret in secrets_of(line) if secret in kept]


def test_what_people_give_away_in_plain_sentences_is_taken_out() -> None:
    positives = lines("positives")
    missed = [line for line in positives if leaked(line)]
    assert len(positives) >= 150
    assert len(missed) <= 0.03 * len(positives), missed


def test_sentences_about_credentials_stay_as_they_are() -> None:
    negatives = lines("negatives")
    changed = [line for line in negatives if scrub(line).text != line]
    assert len(negatives) >= 300
    assert len(changed) <= 0.01 * len(negatives), changed
