"""What a mail itself says, above the mail it answers and above its signature."""

import pytest

from cairn.tickets.messages import ENOUGH, own_words


@pytest.mark.parametrize(
    "below",
    [
        "> Your account is open again.",
        "On Mon, 2 Mar 2026 at 09:12, Support <help@desk.example> wrote:\n> Hello",
        "Am 02.03.2026 um 09:12 schrieb Support <help@desk.example>:\n> Guten Tag",
        "Le 2 mars 2026 à 09:12, Support a écrit :\n> Bonjour",
        "El lun, 2 mar 2026, Support escribió:\n> Hola",
        "-----Original Message-----\nFrom: Support",
        "__________________\nFrom: Support",
        "-- \nKevin Hart\nHartwell Law",
        "Best regards,\nKevin",
        "Mit freundlichen Grüßen\nKevin",
        "Cordialement,\nKevin",
        "Saludos\nKevin",
    ],
)
def test_what_is_below_the_words_is_left_out(below: str) -> None:
    assert own_words(f"\n Thanks,\n\nit works now. \n\n{below}") == "Thanks,\nit works now."


@pytest.mark.parametrize(
    "line",
    [
        "Best would be a call.",
        "On Monday she wrote a letter: it is attached.",
        "Am Montag geht es.",
        "--verbose shows nothing",
        "a -> b",
    ],
)
def test_words_that_only_look_like_it_stay(line: str) -> None:
    assert own_words(line) == line


def test_a_farewell_alone_is_all_that_is_said() -> None:
    assert own_words("Cheers!") == "Cheers!"


def test_a_mail_of_a_megabyte_is_not_read_to_its_end() -> None:
    line = "am " + "x " * 140 + "schrieb"
    assert len(own_words(f"{line}\n" * 4_000)) < ENOUGH + 2 * len(line)


def test_no_words_are_no_words() -> None:
    assert own_words(" \n> only quoted") == ""
