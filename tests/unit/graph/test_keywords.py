"""The words a text is about, by plain counting."""

from cairn.graph.prose import keywords


def test_words_count_by_how_often_and_how_long_they_are() -> None:
    # timeout: 2 x (1 + ln(7/3)) = 3.69; hartwell 1 x 1.98; dog 1 x 1
    assert keywords("The timeout was a timeout. Hartwell has a dog.") == (
        ("timeout", "hartwell", "dog")
    )


def test_a_phrase_that_comes_again_stands_for_its_words() -> None:
    found = keywords("Payment gateway down; the payment gateway of Hartwell, a gateway.")
    assert found == ("payment gateway", "gateway", "hartwell")


def test_common_words_numbers_and_scraps_are_no_keywords() -> None:
    assert keywords("What is it about? We do have 2024 of it, ok a b.") == ()


def test_words_are_casefolded_and_limited() -> None:
    assert keywords("ALPHA Alpha bravo charlie delta", limit=2) == ("alpha", "charlie")


def test_punctuation_parts_a_phrase() -> None:
    assert "alpha bravo" not in keywords("alpha. bravo alpha. bravo")
