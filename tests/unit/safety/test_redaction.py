"""Personal values go, placeholders come, and nothing is lost on the way back."""

import json
import re
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from tests.support.cpu import cpu_seconds

from cairn.kernel.errors import ValidationFailed
from cairn.kernel.text.scrub import scrub
from cairn.safety.normalise import normalise
from cairn.safety.profiles import (
    PROFILES,
    Kind,
    check_profile,
    joined,
    kinds_of,
    workspace_redaction,
)
from cairn.safety.redaction import (
    EMPTY,
    PLACEHOLDER,
    ReversibleRedactor,
    holds_secret,
    redact,
    redact_written,
    restore,
    scrubbed,
    unknown_placeholder,
)

PII, HIPAA, SOC2, NONE = (kinds_of(item) for item in ("pii", "hipaa", "soc2", "none"))


def hidden(text: str, kinds: frozenset[Kind] = HIPAA) -> str:
    return str(redact(text, EMPTY, kinds).value)


SEEN = {
    # email
    "Mail ada@example.org.": "Mail <EMAIL_1>.",
    "<ada.l+x@sub.example.co.uk>": "<<EMAIL_1>>",
    "mailto:ada@example.org?x": "mailto:<EMAIL_1>?x",
    "o'neil@example.org": "<EMAIL_1>",
    "ada@b\u00fccher.example": "<EMAIL_1>",
    "ada\u200b@example.org": "<EMAIL_1>",
    "ada\uff20example.org": "<EMAIL_1>",
    # telephone
    "Call +49 30 1234567 now": "Call <PHONE_1> now",
    "0049 (30) 123-4567": "<PHONE_1>",
    "(415) 555-2671 or 415-555-2672": "<PHONE_1> or <PHONE_2>",
    "+1.415.555.2671": "<PHONE_1>",
    "030 1234567": "<PHONE_1>",
    "Tel.: 1234567": "Tel.: <PHONE_1>",
    "phone is 555 1234": "phone is <PHONE_1>",
    "+\u0664\u0669 30 1234567": "<PHONE_1>",
    # accounts
    "DE89 3704 0044 0532 0130 00 please": "<IBAN_1> please",
    "gb82west12345698765432": "<IBAN_1>",
    "4111 1111 1111 1111, 12/27": "<CARD_1>, 12/27",
    "4111-1111-1111-1111 123": "<CARD_1> 123",
    "378282246310005": "<CARD_1>",
    # numbers of persons
    "123-45-6789": "<SSN_1>",
    "SSN: 123456789": "SSN: <SSN_1>",
    "passport no. C01X00T47": "passport no. <ID_1>",
    # of other countries: some have check digits, the others a word that announces them
    "NIR 2 82 02 69 123 456 90": "NIR <ID_1>",
    "mi DNI es 12345678Z": "mi DNI es <ID_1>",
    "NIE X-1234567L y X1234567L": "NIE X-1234567L y <ID_1>",
    "NI number QQ 12 34 56 C or AB123456C": "NI number QQ 12 34 56 C or <ID_1>",
    "SVNR 65 170839 J 003": "SVNR <ID_1>",
    "RSSMRA85T10A562S": "<ID_1>",
    "Personalausweis-Nr.: L01X00T471": "Personalausweis-Nr.: <ID_1>",
    "Carte d'identit\u00e9 : 880692310285": "Carte d'identit\u00e9 : <ID_1>",
    "historia cl\u00ednica: 4456123": "historia cl\u00ednica: <MRN_1>",
    "au 06 12 34 56 78 ou 01.42.68.53.00": "au <PHONE_1> ou <PHONE_2>",
    "mi tel\u00e9fono es 612 345 678": "mi tel\u00e9fono es <PHONE_1>",
    "Nac\u00ed el 5 de mayo de 1991": "Nac\u00ed el <DOB_1>",
    "Geb.: 01.01.1990": "Geb.: <DOB_1>",
    "n\u00e9(e) le 1er mars 1968": "n\u00e9(e) le <DOB_1>",
    "Entlassung am 09.02.2026": "Entlassung am <DATE_1>",
    "d\u00e9c\u00e9d\u00e9e le 02/11/2025": "d\u00e9c\u00e9d\u00e9e le <DATE_1>",
    "code postal : 75008": "code postal : <ZIP_1>",
    # addresses of machines
    "from 203.0.113.7:443": "from <IP_1>:443",
    "2001:db8::8a2e:370:7334 failed": "<IP_1> failed",
    # names
    "Dear Ada Lovelace,": "Dear <NAME_1>,",
    "Mr. Babbage called": "Mr. <NAME_1> called",
    "Sehr geehrter Herr Dr. med. Baumann,": "Sehr geehrter Herr Dr. med. <NAME_1>,",
    "Estimado Sr. Garc\u00eda,": "Estimado Sr. <NAME_1>,",
    "Ch\u00e8re \u00c9lodie,": "Ch\u00e8re <NAME_1>,",
    "Saludos,\nCarlos Ortega": "Saludos,\n<NAME_1>",
    "My name is Ada Lovelace.": "My name is <NAME_1>.",
    "ich hei\u00dfe J\u00fcrgen M\u00fcller": "ich hei\u00dfe <NAME_1>",
    "this is Ada from sales": "this is <NAME_1> from sales",
    "Kind regards,\n\nAda Lovelace": "Kind regards,\n\n<NAME_1>",
    "Customer: Ludwig van Beethoven": "Customer: <NAME_1>",
    "From: Ada Lovelace <ada@example.org>": "From: <NAME_1> <<EMAIL_1>>",
    '{"first_name": "Ada", "x": 1}': '{"first_name": "<NAME_1>", "x": 1}',
    # dates and medicine
    "DOB: 1970-01-02": "DOB: <DOB_1>",
    "born on 2 January 1970": "born on <DOB_1>",
    "date of birth 01/02/70": "date of birth <DOB_1>",
    "MRN 0012345": "MRN <MRN_1>",
    '"patient_id": "P-4711"': '"patient_id": "<MRN_1>"',
    "member id: XYZ123456": "member id: <MEMBER_1>",
    "admitted on 2026-03-01": "admitted on <DATE_1>",
    "aged 94": "aged <AGE_1>",
    "a 103-year-old": "a <AGE_1>-year-old",
    "San Francisco, CA 94110": "San Francisco, CA <ZIP_1>",
}

NOT_SEEN = [
    "Error 500 at 2026-05-01T12:00:00Z in v1.2.3.4, build 10.0.19045.1",
    "std::cout << a::b << 12:30:45",
    "127.0.0.1 and ::1 and 0.0.0.0",
    "order 4111111111111112 is no card",
    "DE89 3704 1044 1532 1130 01 does not check",
    "000-12-3456 and 666-12-3456 were never issued",
    "user@localhost and @ada and a@b",
    "Dear all,\nHello team,\nHi there,",
    "Thanks,\nSupport Team",
    "Invoice 2026-0042 of 01-02-2026 over 1,234.56 EUR",
    "0193e6a4-7c1d-7b52-9a63-1f2e3d4c5b6a",
    "sha256 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
    "pip install x==1.2.3 # 94 tests, 2 years old",
    "chapter 10 section 20 page 30",
    "La commande 99812344 du 12/03/2026, 1 249,00 EUR, page 01-02",
    "El lote 87654321B de 612 345 678 unidades, versi\u00f3n 2.10.3",
    "Das war nie 1234 Euro wert, Artikel 12345678A, am 14.03.2026",
    "2 82 02 69 123 456 78 does not check",
    "Liebe Kunden,\nHola equipo,\nEstimado Cliente,\nDear Mr,",
    "",
    "\x00\x01",
]


@pytest.mark.parametrize(("text", "expected"), SEEN.items())
def test_what_is_seen_becomes_a_placeholder(text: str, expected: str) -> None:
    clean = redact(text, EMPTY, HIPAA)
    assert clean.value == expected
    assert restore(clean.value, clean.vault) == text


@pytest.mark.parametrize("text", NOT_SEEN)
def test_what_is_nobodys_stays(text: str) -> None:
    clean = redact(text, EMPTY, HIPAA)
    assert clean.value == text
    assert clean.vault == {}


def test_a_profile_takes_out_its_kinds_and_no_others() -> None:
    text = "Dear Ada, MRN 0012345, ada@example.org, born on 1970-01-02"
    assert hidden(text, NONE) == text
    assert hidden(text, SOC2) == "Dear Ada, MRN 0012345, <EMAIL_1>, born on 1970-01-02"
    assert hidden(text, PII) == "Dear <NAME_1>, MRN 0012345, <EMAIL_1>, born on <DOB_1>"
    assert hidden(text, HIPAA) == "Dear <NAME_1>, MRN <MRN_1>, <EMAIL_1>, born on <DOB_1>"


@pytest.mark.parametrize("kinds", [NONE, PII])
def test_credentials_go_for_good_in_every_profile(kinds: frozenset[Kind]) -> None:
    text = "password: hunter2pass and https://bob:s3cretpw@db.example.org/x"
    clean = redact(text, EMPTY, kinds)
    assert "hunter2pass" not in str(clean.value)
    assert "s3cretpw" not in str(clean.value)
    assert restore(clean.value, clean.vault) == scrub(text).text
    assert not any("hunter2" in value or "s3cret" in value for value in clean.vault.values())


def test_one_value_has_one_placeholder_throughout_an_investigation() -> None:
    first = redact("ada@example.org wrote to bob@example.org", EMPTY, PII)
    second = redact("bob@example.org answered eve@example.org", first.vault, PII)
    assert first.value == "<EMAIL_1> wrote to <EMAIL_2>"
    assert second.value == "<EMAIL_2> answered <EMAIL_3>"
    assert first.vault.items() <= second.vault.items()


def test_a_name_that_was_seen_once_is_seen_again_in_parts_and_in_capitals() -> None:
    vault = redact("Dear Ada Lovelace,", EMPTY, PII).vault
    clean = redact("ADA LOVELACE rang. Ada said lovelace lace. Lovelace!", vault, PII)
    assert clean.value == "<NAME_2> rang. <NAME_3> said lovelace lace. <NAME_4>!"
    assert (
        restore(clean.value, clean.vault) == "ADA LOVELACE rang. Ada said lovelace lace. Lovelace!"
    )


def test_an_address_gives_away_the_name_where_names_are_taken_out() -> None:
    text = "ada.lovelace@example.org: ADA LOVELACE, Ada, lovelace; no.reply@x.org said No Reply"
    clean = redact(text, EMPTY, PII)
    assert clean.value == "<EMAIL_1>: <NAME_1>, <NAME_2>, lovelace; <EMAIL_2> said No Reply"
    assert restore(clean.value, clean.vault) == text
    assert "ADA LOVELACE, Ada" in hidden(text, SOC2)


def test_numbers_that_say_too_little_alone_are_not_looked_for() -> None:
    assert hidden("aged 94. 94 tickets.") == "aged <AGE_1>. 94 tickets."
    assert hidden("CA 94110, port 94110") == "CA <ZIP_1>, port 94110"


# ---- text that looks like placeholders -----------------------------------------------------------


def test_a_ticket_cannot_read_the_vault() -> None:
    secret = redact("ada@example.org", EMPTY, PII)
    ticket = redact("Please repeat <EMAIL_1> and <NAME_7>.", secret.vault, PII)
    assert ticket.value == "Please repeat <LITERAL_1> and <LITERAL_2>."
    assert restore(ticket.value, ticket.vault) == "Please repeat <EMAIL_1> and <NAME_7>."


def test_what_is_put_back_is_not_looked_at_again() -> None:
    vault = redact("ada@example.org and <EMAIL_1>", EMPTY, PII).vault
    assert restore("<LITERAL_1>", vault) == "<EMAIL_1>"


def test_a_model_may_use_what_it_was_shown_and_nothing_else() -> None:
    vault = redact("ada@example.org", EMPTY, PII).vault
    written = redact_written("Write to <EMAIL_1>, <EMAIL_2> and bob@example.org", vault, PII)
    assert written.value == "Write to <EMAIL_1>, <LITERAL_1> and <EMAIL_2>"
    assert restore(written.value, written.vault) == (
        "Write to ada@example.org, <EMAIL_2> and bob@example.org"
    )


def test_an_unknown_placeholder_is_told() -> None:
    vault = redact("ada@example.org", EMPTY, PII).vault
    assert not unknown_placeholder({"a": ["<EMAIL_1>", "<FOO_1>", "<EMAIL_x>"]}, vault)
    assert unknown_placeholder({"a": ["<EMAIL_2>"]}, vault)
    assert unknown_placeholder({"<NAME_1>": 1}, vault)


@pytest.mark.parametrize(
    "text", ["<EMAIL_<EMAIL_1>", "<<EMAIL_1>>", "<EMAIL_1", "<email_1>", "<EMAIL_0>", "< EMAIL_1>"]
)
def test_nested_and_broken_look_alikes_come_back_as_they_were(text: str) -> None:
    vault = redact("ada@example.org", EMPTY, PII).vault
    clean = redact(text, vault, PII)
    assert restore(clean.value, clean.vault) == text
    assert "ada@" not in str(restore(clean.value, clean.vault))


# ---- JSON ----------------------------------------------------------------------------------------


def test_json_is_redacted_by_its_keys_at_any_depth_and_comes_back_equal() -> None:
    value: Any = {
        "ada@example.org": [{"ssn": 123456789, "ok": True, "none": None}],
        "user": {"firstName": "ada", "age": 94, "phone": "1234", "dob": "long ago"},
        "card": 4111111111111111,
        "amount": 12.5,
        "age": 30,
        "note": "SSN 123-45-6789",
    }
    clean = redact(value, EMPTY, HIPAA)
    written = json.dumps(clean.value)
    for gone in ("ada", "123456789", "123-45-6789", "94", "4111", "long ago", "1234"):
        assert gone not in written
    assert "12.5" in written
    assert restore(clean.value, clean.vault) == value
    restored: Any = restore(clean.value, clean.vault)
    assert isinstance(restored["card"], int)


def test_a_number_and_a_text_of_the_same_digits_stay_what_they_were() -> None:
    value = {"ssn": 123456789, "a": "123456789", "b": "x 123456789", "c": 123456789}
    clean = redact(value, EMPTY, HIPAA)
    assert "123456789" not in json.dumps(clean.value)
    assert restore(clean.value, clean.vault) == value


def test_keys_that_differ_stay_different() -> None:
    value = {"a@b.co": 1, "<EMAIL_1>": 2, "c@d.co": 3}
    clean = redact(value, EMPTY, PII)
    assert len(clean.value) == 3  # pyright: ignore[reportArgumentType]
    assert restore(clean.value, clean.vault) == value


def test_what_is_too_deep_is_refused() -> None:
    deep: Any = "x"
    for _ in range(200):
        deep = [deep]
    for ask in (lambda: redact(deep, EMPTY, PII), lambda: restore(deep, EMPTY)):
        with pytest.raises(ValidationFailed):
            ask()


def test_credentials_in_arguments_are_told() -> None:
    assert holds_secret({"note": "password: hunter2pass"})
    assert holds_secret({"dbPassword": "x1"})
    assert not holds_secret({"note": "reset the password", "count": 1})


# ---- profiles ------------------------------------------------------------------------------------


def test_profiles_add_up_and_an_unknown_one_takes_out_everything() -> None:
    assert kinds_of("none", "soc2") == SOC2
    assert kinds_of("pii", "hipaa") == HIPAA
    assert kinds_of("hippa") == HIPAA
    assert [joined([profile, "none"]) for profile in PROFILES] == list(PROFILES)
    assert joined(["soc2", "pii"]) == "pii"
    assert joined(["nonsense"]) == "hipaa"
    with pytest.raises(ValidationFailed, match="redaction"):
        check_profile("hippa")
    assert check_profile("hipaa") == "hipaa"


@pytest.mark.parametrize(
    ("given_settings", "profile", "wrong"),
    [
        ({}, "pii", ()),
        ({"safety": {}}, "pii", ()),
        ({"safety": {"redaction": "hipaa"}}, "hipaa", ()),
        ({"safety": {"redaction": "none"}}, "none", ()),
        ({"safety": {"redaction": "nope"}}, "hipaa", ("safety.redaction",)),
        ({"safety": {"redaction": None}}, "hipaa", ("safety.redaction",)),
        ({"safety": []}, "hipaa", ("safety",)),
    ],
)
def test_a_workspace_sets_its_profile_and_a_wrong_one_is_the_strictest(
    given_settings: dict[str, Any], profile: str, wrong: tuple[str, ...]
) -> None:
    assert workspace_redaction(given_settings) == (profile, wrong)


def test_redaction_by_a_profiles_name() -> None:
    redactor = ReversibleRedactor()
    text, vault = redactor.redact("ada@example.org", {}, profile="pii")
    assert (text, redactor.restore({"a": [text]}, vault)) == (
        "<EMAIL_1>",
        {"a": ["ada@example.org"]},
    )


# ---- properties ----------------------------------------------------------------------------------

FRAGMENTS = st.one_of(
    st.sampled_from(
        [
            *SEEN,
            *NOT_SEEN,
            *("<EMAIL_1>", "<NAME_1>", "<LITERAL_1>", "<NUMBER_1>", "<EMAIL_", "_1>", "<", ">"),
            *("ada@example.org", "Ada Lovelace", "Ada", "+49 30 1234567", "123456789", "94"),
            *("password: hunter2pass", "token=abcdef1234567890", "[REDACTED:password]"),
            *("\u200b", "\x00", "\ue000", "\uff11", "\ud800", "'", '"', ":", "=", " ", "\n", "@"),
        ]
    ),
    st.text(max_size=8),
)
TEXTS = st.lists(FRAGMENTS, max_size=8).map("".join) | st.lists(FRAGMENTS, max_size=8).map(" ".join)
VALUES = st.recursive(
    TEXTS | st.integers() | st.floats(allow_nan=False) | st.booleans() | st.none(),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            TEXTS | st.sampled_from(["ssn", "age", "first_name", "email", "card_number", "dob"]),
            inner,
            max_size=3,
        )
    ),
    max_leaves=6,
)
KINDS = st.sampled_from([HIPAA, PII, SOC2, NONE])


@given(VALUES, KINDS)
@settings(max_examples=400)
def test_restoring_what_was_redacted_gives_what_was_scrubbed(
    value: Any, kinds: frozenset[Kind]
) -> None:
    clean = redact(value, EMPTY, kinds)
    assert repr(restore(clean.value, clean.vault)) == repr(scrubbed(value))


@example({"token=abcdef1234567890": {"ssn": 0}}, frozenset(Kind))
@given(VALUES, KINDS)
@settings(max_examples=400)
def test_redacting_what_was_redacted_changes_nothing(value: Any, kinds: frozenset[Kind]) -> None:
    clean = redact(value, EMPTY, kinds)
    again = redact_written(clean.value, clean.vault, kinds)
    assert repr(again.value) == repr(clean.value)
    assert again.vault == clean.vault


@given(TEXTS, TEXTS)
@settings(max_examples=400)
def test_no_value_of_the_vault_stands_in_redacted_text(before: str, text: str) -> None:
    vault = redact(before, EMPTY, HIPAA).vault
    clean = redact(text, vault, HIPAA)
    left = normalise(PLACEHOLDER.sub("\ue000", str(clean.value)))[0]
    for placeholder, value in clean.vault.items():
        if (
            placeholder.startswith(("<LITERAL", "<AGE", "<ZIP", "<NUMBER"))
            or len(value.strip()) < 3
        ):
            continue
        alone = rf"(?<!\w){re.escape(normalise(value)[0])}(?!\w)"
        assert not re.search(alone, left), (placeholder, value)


@given(TEXTS, TEXTS)
def test_nothing_from_outside_reads_the_vault(secret: str, text: str) -> None:
    vault = redact(secret, EMPTY, HIPAA).vault
    clean = redact(text, vault, HIPAA)
    assert restore(clean.value, clean.vault) == scrub(text).text


# ---- time ----------------------------------------------------------------------------------------

LONG = 24_000
HOSTILE = {
    "a": "a" * LONG,
    "at": "@" * LONG,
    "at words": "a@" * (LONG // 2),
    "at dots": "a@a." * (LONG // 4),
    "dots": "." * LONG,
    "digits": "1" * LONG,
    "spaced digits": "4 " * (LONG // 2),
    "zeros": "0 " * (LONG // 2),
    "plus": "+1 " * (LONG // 3),
    "colons": "a:" * (LONG // 2),
    "hex": "f:" * (LONG // 2),
    "iban": "DE89" * (LONG // 4),
    "names": "Ada " * (LONG // 4),
    "dear": "Dear " * (LONG // 5),
    "particles": "Ada von der " * (LONG // 12),
    "labels": "name: " * (LONG // 6),
    "dob": "dob dob:" * (LONG // 8),
    "mrn": "mrn " * (LONG // 4),
    "blanks": " " * LONG,
    "lines": "\n" * LONG,
    "thanks": "Thanks,\n" * (LONG // 8),
    "look-alikes": "<EMAIL_1>" * (LONG // 9),
    "open": "<" * LONG,
    "invisible": "\u200b" * LONG,
    "many emails": " ".join(f"a{number}@example.org" for number in range(LONG // 18)),
    "titles": "Mr " * (LONG // 3),
    "quotes": "'\"" * (LONG // 2),
    "jan": "jan " * (LONG // 4),
    "1 jan": "1 jan " * (LONG // 6),
    "titled": "Herr Dr. med. " * (LONG // 14),
    "pairs": "01 " * (LONG // 3),
    "numbers of persons": "1 82 02 69 " * (LONG // 11),
    "letters": "AB 12 34 " * (LONG // 9),
}


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE.keys())
def test_hostile_text_takes_linear_time(text: str) -> None:
    def seconds(some: str) -> float:
        return cpu_seconds(lambda: redact(some, EMPTY, HIPAA))

    small, large = seconds(text[: LONG // 8]), seconds(text)
    assert large < 20 * small + 0.1, (small, large)  # 8 when linear, 64 when quadratic


def test_looking_for_many_values_that_begin_alike_takes_linear_time() -> None:
    def addresses(network: int, number: int) -> str:
        return "\n".join(f"10.{network}.{item // 250}.{item % 250} GET /" for item in range(number))

    def seconds(number: int) -> float:
        vault = redact(addresses(1, number), EMPTY, HIPAA).vault
        text = addresses(2, number)
        return cpu_seconds(lambda: redact(text, vault, HIPAA))

    half, whole = seconds(2_000), seconds(4_000)
    assert whole < 4
    assert whole < 3 * half + 0.3, (half, whole)
