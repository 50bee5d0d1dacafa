"""What the rules make of a question."""

from datetime import UTC, datetime

import pytest

from cairn.recall.questions.understanding import (
    MAX_NAMES,
    MAX_TERMS,
    RetrievalClass,
    TimeHint,
    as_asked,
    question_names,
    understand,
)


@pytest.mark.parametrize(
    ("question", "names"),
    [
        ("Why did Stripe fail?", {"stripe", "fail", "stripe fail"}),
        ("What does Marias Bakery use next.js for?", {"marias bakery", "next.js", "use"}),
        ("is 'card declined' known", {"card declined", "card", "declined"}),
        ("Where is acme-corp.com hosted?", {"acme-corp.com"}),
    ],
)
def test_words_and_runs_of_words_are_names(question: str, names: set[str]) -> None:
    assert names <= set(question_names(question))


@pytest.mark.parametrize("question", ["", "   ", "what is it?", "?!...", "the of and"])
def test_small_words_are_no_names(question: str) -> None:
    assert question_names(question) == ()


@pytest.mark.parametrize(
    "question",
    ["word " * 20_000, "🪨" * 50_000, "a b c d " * 5_000, "'; DROP TABLE node; --", "x" * 100_000],
)
def test_any_question_has_a_bounded_number_of_names(question: str) -> None:
    assert len(question_names(question)) <= MAX_NAMES


def test_pairs_come_before_single_words() -> None:
    found = question_names("payout settlement delays")
    assert found.index("payout settlement") < found.index("payout")


ASKED = datetime(2026, 3, 10, tzinfo=UTC)


@pytest.mark.parametrize(
    ("question", "terms"),
    [
        ("When did Ana go to the support group?", ("ana", "support", "group")),
        ("What kind of car does Ben's sister drive?", ("car", "ben", "sister", "drive")),
        ("car car CAR", ("car",)),
        ("What did they make?", ("make",)),
        ("What is it?", ("what", "is", "it")),
        ("¿?", ()),
    ],
)
def test_question_words_are_dropped_while_something_is_left(
    question: str, terms: tuple[str, ...]
) -> None:
    assert understand(question, ASKED).terms == terms


def test_a_very_long_question_keeps_its_first_terms() -> None:
    long = " ".join(f"word{number}" for number in range(100))

    assert understand(long, ASKED).terms == tuple(f"word{n}" for n in range(MAX_TERMS))


@pytest.mark.parametrize(
    ("question", "names"),
    [
        ("Where did Ana's brother meet Étienne?", {"ana", "étienne"}),
        ("What is the plan?", set[str]()),
        ("Did IBM answer?", {"ibm"}),
        ("Melanie said what?", {"melanie"}),
    ],
)
def test_capitals_mark_names(question: str, names: set[str]) -> None:
    assert understand(question, ASKED).names == names


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("When did Ana move?", RetrievalClass.TEMPORAL),
        ("In which year did Ana move?", RetrievalClass.TEMPORAL),
        ("Who came in August?", RetrievalClass.TEMPORAL),
        ("What happened at the clinic?", RetrievalClass.EVENT),
        ("Who is Ana?", RetrievalClass.ENTITY),
        ("Why did the build fail?", RetrievalClass.GENERAL),
        ("How are you?", RetrievalClass.NONE),
        ("thanks", RetrievalClass.NONE),
        ("Who are they?", RetrievalClass.ENTITY),
        ("...", RetrievalClass.NONE),
    ],
)
def test_the_class_says_what_kind_of_answer_is_wanted(
    question: str, expected: RetrievalClass
) -> None:
    assert understand(question, ASKED).retrieval_class is expected


@pytest.mark.parametrize(
    ("question", "terms", "of_asker", "embedded"),
    [
        ("What can the user not eat?", ("eat",), True, "What can I not eat?"),
        ("what is the user\u2019s job?", ("job",), True, "what is my job?"),
        ("Where do I live?", ("live",), True, "Where do I live?"),
        ("What I'm allergic to?", ("allergic",), True, "What I'm allergic to?"),
        ("Wo ist mein Hund?", ("wo", "ist", "mein", "hund"), True, "Wo ist mein Hund?"),
        ("Who is the user?", ("user",), True, "Who is I?"),
        ("Show me the invoices of March", ("invoices", "march"), False, None),
        ("I wonder how tall the tower is", ("wonder", "tall", "tower"), False, None),
        ("How do users log in?", ("users", "log"), False, None),
        ("What did the assistant advise?", ("advise",), False, None),
    ],
)
def test_a_question_may_be_about_who_asks_it(
    question: str, terms: tuple[str, ...], of_asker: bool, embedded: str | None
) -> None:
    asked = understand(question, ASKED)
    assert (asked.terms, asked.of_asker) == (terms, of_asker)
    assert as_asked(question) == (embedded or question)


def test_asking_when_and_naming_a_time_are_different() -> None:
    asks = understand("When did Ana move?", ASKED)
    names = understand("Where was Ana in May 2022?", ASKED)

    assert (asks.asks_when, asks.asks_when_it_was, asks.hint) == (True, True, None)
    for question in ("When is the dentist appointment?", "What time do we meet?"):
        now = understand(question, ASKED)
        assert (now.asks_when, now.asks_when_it_was) == (True, False)
    assert (names.asks_when, names.hint) == (False, TimeHint(year=2022, month=5))


@pytest.mark.parametrize(
    ("question", "language", "terms", "names"),
    [
        (
            "Wo steht das Haus von Anna?",
            "de",
            ("wo", "steht", "das", "haus", "von", "anna"),
            (),
        ),
        ("¿Dónde vive Lucía?", "es", ("dónde", "vive", "lucía"), ("lucía",)),
        ("猫はどこ?", "ja", ("猫", "猫は"), ()),
        ("Did my son Jonas go?", "en", ("son", "jonas"), ("jonas",)),
        ("kubectl 🎉", None, ("kubectl",), ()),
    ],
)
def test_a_question_of_another_language_has_its_words_and_no_names_by_german_capitals(
    question: str, language: str | None, terms: tuple[str, ...], names: tuple[str, ...]
) -> None:
    asked = understand(question, datetime(2026, 5, 1, tzinfo=UTC))
    assert (asked.language, asked.terms, asked.names) == (language, terms, set(names))
