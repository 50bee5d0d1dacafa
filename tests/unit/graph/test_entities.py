"""Who and what a text speaks of, found by rules: each rule against cases worked out by hand."""

from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.cpu import cpu_seconds

from cairn.graph.edge import Role
from cairn.graph.entities import MAX_ENTITIES, ExtractedEntity, entity_id, extract_entities
from cairn.graph.technologies import CANONICAL, EXACT

WORKSPACE = UUID("01890000-0000-7000-8000-000000000001")

PUSHKIN = (
    "\u0410\u043b\u0435\u043a\u0441\u0430\u043d\u0434\u0440 \u041f\u0443\u0448\u043a\u0438\u043d"
)
HOSTILE = [
    "a",
    "A ",
    "Ab Cd ",
    "a.b",
    '"',
    '"a',
    "`",
    "a@",
    "a-",
    "a/",
    "\\",
    "x://",
    "'a ",
    "A de ",
    "Anna, ",
    "my dog Anna and ",
    "Anna's ",
]


def mentioned(text: str, **options: object) -> list[tuple[str, str]]:
    found = extract_entities(text, client_id=None, source_agent=None, **options)  # type: ignore[arg-type]
    return [(item.name, item.type) for item in found]


def names(text: str) -> list[str]:
    return [name for name, _ in mentioned(text)]


def test_the_client_and_the_agent_come_first_with_their_roles() -> None:
    found = extract_entities("Uses Redis.", client_id="acme-corp", source_agent="claude-code")
    assert found == (
        ExtractedEntity(name="acme-corp", type="client", role=Role.ABOUT),
        ExtractedEntity(name="claude-code", type="agent", role=Role.SOURCE),
        ExtractedEntity(name="Redis", type="technology", role=Role.MENTIONED),
    )


def test_the_global_client_is_no_entity() -> None:
    assert extract_entities("hm", client_id="global", source_agent=None) == ()


@pytest.mark.parametrize(
    ("text", "domains"),
    [
        ("Moved hartwell.ca to site-a.com.", ["hartwell.ca", "site-a.com"]),
        ("See https://www.acme.it/a/b?c=d", ["acme.it"]),
        ("acme.it alone may be a missing space", []),
        ("write to jean.dupont@hartwell.ca", ["hartwell.ca"]),
        ("write to jean.ca@gmail.com", []),
        ("docs.api.acme.co.uk", ["docs.api.acme.co.uk"]),
        ("main.py README.md index.html app.ts user.id logger.info", []),
        ("src/acme.com/index", []),
        ("It is done.In the end.", []),
        ("version 1.2.3 and 10.0.0.1", []),
        ("client.app() and client.app", ["client.app"]),
    ],
)
def test_domain_names_are_told_from_files_attributes_and_addresses(
    text: str, domains: list[str]
) -> None:
    assert [name for name, type in mentioned(text) if type == "domain"] == domains


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ("nextjs", "Next.js"),
        ("moved to POSTGRES today", "PostgreSQL"),
        ("k8s/docker", "Kubernetes Docker"),
        ("React Native, then React.", "React Native React"),
        ("people react to it", ""),
        ("C++ or C# on .NET", "C++ C# .NET"),
        ("Socket.IO", "Socket.IO"),
        ("a React-based page", "React"),
        ("redistribute", ""),
        ("$ npm run src/redis/index.js", ""),
    ],
)
def test_technologies_get_their_canonical_name(text: str, canonical: str) -> None:
    assert " ".join(name for name, type in mentioned(text) if type == "technology") == canonical


def test_more_than_seventy_technologies_are_known() -> None:
    assert len(set(CANONICAL.values()) | EXACT) > 70


def test_systems_are_found_as_a_table_names_them() -> None:
    systems = {"agency system": "Agency System"}
    assert mentioned("the agency system is down", systems=systems) == [("Agency System", "system")]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ('read "Charlotte\'s Web" to her', ["Charlotte's Web"]),
        ("the `acme-portal` repository", ["acme-portal"]),
        ("the \u201cGolden Spike\u201d plan", ["Golden Spike"]),
        ("le \u00ab Projet Ph\u00e9nix \u00bb", ["Projet Ph\u00e9nix"]),
        ("'Becoming Nicole' isn't Bob's", ["Becoming Nicole", "Bob"]),
        ('"ab" is short', []),
        (f'"{"x" * 61}" is long', []),
        ('"\U0001f680\U0001f680\U0001f680"', []),
    ],
)
def test_quoted_names_of_3_to_60_characters_are_found(text: str, found: list[str]) -> None:
    assert names(text) == found


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("we met Jean-Pierre Dupont there", ["Jean-Pierre Dupont"]),
        ("\u00c9lodie C\u00f4t\u00e9 called", ["\u00c9lodie C\u00f4t\u00e9"]),
        (
            PUSHKIN,
            [PUSHKIN],
        ),
        ("at the Bank of Montreal today", ["Bank of Montreal"]),
        ("The Acme Portal opened", ["Acme Portal"]),
        ("Jean Dupont's car", ["Jean Dupont"]),
        ("only Jean came", ["Jean"]),
        ("Klaus, Dupont", ["Klaus", "Dupont"]),
        ("Wow Joanna! It's Shia Labeouf", ["Shia Labeouf", "Joanna"]),
        ("in New York City", ["New York City"]),
        ("by George R. R. Martin", ["George R. R. Martin"]),
        ("signed by Acme Inc. yesterday", ["Acme Inc"]),
    ],
)
def test_capitalised_phrases_are_found_in_any_alphabet(text: str, found: list[str]) -> None:
    assert names(text) == found


@pytest.mark.parametrize(
    "junk",
    [
        "Fixed Something",
        "Added Feature",
        "The System",
        "This Feature",
        "Monday Meeting",
        "January Update",
        "R\u00e9union Lundi",
        "Background Color",
        "Border Radius",
        "Error Fix",
        "Data Type",
        "Page View",
        "<Foo Bar>",
        "src/Foo Bar",
        "C:\\Foo Bar",
        "{Foo Bar}",
        "getUserName",
        "user_name",
        "I love it",
        "what a day that was",
        "c'est tr\u00e8s bien pour nous",
        "DROP TABLE Students",
        "WARNING CRITICAL",
    ],
)
def test_junk_is_no_name_even_in_quotes(junk: str) -> None:
    assert names(f'so "{junk}" it says') == []


def test_a_phrase_is_prose_above_two_fifths_of_common_words() -> None:
    assert names('"charm good luck maker north"') == ["charm good luck maker north"]  # 1 of 5
    assert names('"charm good little maker north"') == ["charm good little maker north"]  # 2 of 5
    assert names('"charm good little maker"') == []  # 2 of 4


def test_an_alias_gives_the_canonical_name_and_type() -> None:
    aliases = {"pg main": ("PG Main", "system"), "jd": ("Jean Dupont", "person")}
    assert mentioned("jd restarted pg main; Pg  Main is up", aliases=aliases) == (
        [("PG Main", "system")]
    )


def test_an_alias_saves_a_name_that_would_be_junk() -> None:
    aliases = {"ci/cd": ("CI/CD", "concept")}
    assert mentioned('our "CI/CD" broke', aliases=aliases) == [("CI/CD", "concept")]


def test_a_client_keeps_its_type_whatever_an_alias_says() -> None:
    aliases = {"acme": ("Acme Holding", "organisation")}
    found = extract_entities("hm", client_id="acme", source_agent=None, aliases=aliases)
    assert [(item.name, item.type) for item in found] == [("acme", "client")]


def test_a_name_comes_once_whatever_its_case_and_kind() -> None:
    assert mentioned('"Acme Portal", ACME Portal and `acme portal`; Redis and redis') == (
        [("Redis", "technology"), ("Acme Portal", "concept")]
    )


def test_one_text_gives_at_most_twenty() -> None:
    text = ", ".join(f"site-{number}.com" for number in range(50))
    found = extract_entities(text, client_id="acme", source_agent="bot")
    assert len(found) == MAX_ENTITIES == 20
    assert found[0].name == "acme"


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("we moved to Lisbon", [("Lisbon", "place")]),
        ("our dog Biscuit barked", [("Biscuit", "animal")]),
        ("Pottery is relaxing. Dinner was great.", []),
        ("Anna: my sister rang", [("Anna's sister", "person")]),
        ("my sister rang", []),
        ("I am SO HAPPY, you ALL ROCK", []),
        ("ask NASA", [("NASA", "concept")]),
        ("Hey Joanna, Christmas in French is Noel", [("Joanna", "person"), ("Noel", "concept")]),
        ("see Foo() and <Bar> in src/Baz", []),
    ],
)
def test_names_of_one_word_are_found_in_talk(text: str, found: list[tuple[str, str]]) -> None:
    assert mentioned(text) == found


def test_no_name_holds_a_control_character_or_half_a_pair() -> None:
    assert names('"Foo\x00 Bar" and "Foo\ud800 Bar" and "x\x1b[31m red"') == []


@pytest.mark.parametrize("piece", HOSTILE)
def test_hostile_text_takes_time_in_proportion_to_its_length(piece: str) -> None:
    def seconds(characters: int) -> float:
        text = (piece * characters)[:characters]
        return cpu_seconds(lambda: extract_entities(text, client_id=None, source_agent=None))

    assert seconds(16_000) < 12 * seconds(4_000) + 0.05  # 4 when linear, 16 when quadratic


@given(st.text())
def test_any_text_gives_clean_names(text: str) -> None:
    for entity in extract_entities(text, client_id=None, source_agent=None):
        assert 0 < len(entity.name) <= 200
        assert entity.name == " ".join(entity.name.split())
        entity.name.encode()


def test_an_entity_is_one_node_in_one_audience() -> None:
    one = entity_id(WORKSPACE, "admin", None, "technology", "Next.js")
    assert one == entity_id(WORKSPACE, "admin", None, "technology", " next.JS ")
    assert entity_id(WORKSPACE, "admin", ["a", "b"], "x", "y") == (
        entity_id(WORKSPACE, "admin", ["b", "a"], "x", "y")
    )
    others = {
        entity_id(WORKSPACE, "public", None, "technology", "Next.js"),
        entity_id(WORKSPACE, "admin", [], "technology", "Next.js"),
        entity_id(WORKSPACE, "admin", ["a"], "technology", "Next.js"),
        entity_id(WORKSPACE, "admin", None, "concept", "Next.js"),
    }
    assert len(others) == 4
    assert one not in others


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Der Schl\u00fcssel f\u00fcr das Auto liegt in der Garage, sagt Anna.", ["Anna"]),
        ("Mein Hund ist bei der Deutschen Bahn nicht gern gesehen.", []),
        (
            "Wir nutzen PostgreSQL und \u201eProjekt Nordlicht\u201c.",
            ["PostgreSQL", "Projekt Nordlicht"],
        ),
        ("Hier soir Camille a mang\u00e9 avec sa s\u0153ur.", ["Camille"]),
    ],
)
def test_in_german_a_capital_is_no_sign_of_a_name(text: str, expected: list[str]) -> None:
    assert sorted(names(text)) == expected
