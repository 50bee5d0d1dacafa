"""Words of other languages than English, as the keyword leg finds them in PostgreSQL."""

import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psycopg
import pytest
from tests.support.embedding import HashingEmbedder
from tests.support.front import Cloud, Front, environment, stand_in_for_aws
from tests.support.platform import platform_of
from tests.support.world import MORNING, World, memory, open_world

from benchmarks.languages import measured, read_samples
from benchmarks.samples import SAMPLES
from cairn.adapters.postgres.memory.recall import PostgresKeywordLeg
from cairn.adapters.postgres.store_transactions import StoreTransactions
from cairn.embedding.models import BGE_SMALL
from cairn.recall.questions.understanding import understand
from cairn.recall.records import Filters
from cairn.reembedding.reindex import Reindex

if TYPE_CHECKING:
    from tests.plugins.postgres import Database

Connection = psycopg.Connection[Any]

AS_BEFORE = """setweight(to_tsvector('english', ' ' || ' ' || %(text)s::text || ' '), 'A')
  || setweight(to_tsvector('english', %(around)s::text), 'B')"""
TEXTS = {
    "de": "Die alten Häuser am Fluss werden im Frühling gestrichen.",
    "fr": "Les chevaux de ma voisine dorment dans la grange.",
    "es": "Mis hermanas compraron dos guitarras en Sevilla.",
    "ru": "Мои соседи купили новые велосипеды.",
    "ja": "昨日、猫のミケを連れて動物病院へ行きました。新しいiPhoneも買った。",
    "zh": "我们明天在上海开会。",
    "ko": "우리는 내일 부산에서 만나요.",
    "en": "The harbour opens at six, and the ferries leave from pier nine.",
}


@pytest.fixture(scope="module")
def root(database: "Database") -> Iterator[Connection]:
    with database.connect_as_superuser() as connection:
        connection.autocommit = True
        yield connection


@pytest.fixture(scope="module")
def world(database: "Database") -> Iterator[World]:
    world = open_world(database.owner_url, database.app_url, "languages")
    world.tell(*(memory(text) for text in TEXTS.values()))
    yield world
    world.pool.close()


def found(world: World, root: Connection, question: str) -> list[str]:
    """The languages of the texts that the words of a question find, best first."""
    understood = understand(question, MORNING)
    leg = PostgresKeywordLeg(world.pool)
    filters = Filters(language=understood.language)
    candidates = leg.search(world.admin, understood.terms, filters, limit=10, timeout_ms=2000)
    texts = dict(root.execute("SELECT id, text FROM node").fetchall())
    by_text = {text: language for language, text in TEXTS.items()}
    return [by_text[texts[candidate.node_id]] for candidate in candidates]


@pytest.mark.parametrize(
    ("question", "language"),
    [
        ("Welches Haus wird gestrichen?", "de"),
        ("Was ist mit dem Häuschen oder den HÄUSERN am Fluss?", "de"),
        ("Wo steht das alte Haus?", "de"),
        ("Où dort le cheval de la voisine ?", "fr"),
        ("¿Quién compró una guitarra?", "es"),
        ("Кто купил велосипед?", "ru"),
        ("猫はどこへ行ったの?", "ja"),
        ("動物病院", "ja"),
        ("iPhoneはいつ買いましたか", "ja"),
        ("上海的会议是什么时候?", "zh"),
        ("부산에서 언제 만나요?", "ko"),
        ("When do ferries leave the harbour?", "en"),
        ("ferry", "en"),
    ],
)
def test_a_question_finds_other_forms_of_its_words_in_its_language(
    world: World, root: Connection, question: str, language: str
) -> None:
    assert found(world, root, question)[:1] == [language]


def test_one_character_is_found_and_words_of_grammar_are_not_what_finds(
    world: World, root: Connection
) -> None:
    assert found(world, root, "猫?") == ["ja"]
    assert found(world, root, "Was ist das?") == []


@pytest.mark.parametrize(
    "text",
    [
        "Wow, so good! I was in Berlin, then La Palma; the casting was on.",
        "def total(items: list[int]) -> int:\n    return sum(items)  # of all",
        "\U0001f389\U0001f389 party at 9 \U0001f1e9\U0001f1ea",
        "no",
        "",
        "kubectl rollout restart deploy/api -n prod",
        "Jon said \u201cnein\u201d and left the room with his dog",
    ],
)
def test_english_code_and_emoji_have_the_words_they_had_before(root: Connection, text: str) -> None:
    asked = {"text": text, "around": "Jon: shall we go?"}
    words = f"search_words(NULL, NULL, %(text)s, NULL, %(around)s) = {AS_BEFORE}"
    assert root.execute("SELECT " + words, asked).fetchone() == (True,)


@pytest.mark.parametrize("text", ["\u732b\u306e\u540d" * 11_000, "die H\u00e4user und " * 8_000])
def test_the_longest_texts_of_other_languages_are_indexed(root: Connection, text: str) -> None:
    words = "SELECT length(search_words(NULL, NULL, %s, %s, %s)) > %s"
    assert root.execute(words, [text, text[:20_000], text, 2]).fetchone() == (True,)
    every = "".join(map(chr, range(0x3400, 0x9FFF)))
    assert root.execute(words, [every, every, every, 30_000]).fetchone() == (True,)


class Api:
    """What a bench calls, in this process."""

    def __init__(self, front: Front) -> None:
        self.front = front

    def patch(self, path: str, body: Any) -> Any:
        return self.front.call("PATCH", path, json=body)

    def post(self, path: str, body: Any) -> tuple[Any, float]:
        return self.front.call("POST", path, json=body), 0.0


@pytest.fixture
def api(database: "Database", tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Api]:
    for name, value in environment(database.app_url, tmp_path).items():
        monkeypatch.setenv(name, value)
    stand_in_for_aws(monkeypatch, Cloud())
    world = open_world(database.owner_url, database.app_url, "asked over HTTP")
    yield Api(Front(world.key, embedder=HashingEmbedder()))
    world.pool.close()


def test_over_http_the_samples_of_four_languages_are_found_by_words_alone(api: Api) -> None:
    samples = read_samples(SAMPLES / "languages")
    found = measured(api, samples, time.sleep)  # type: ignore[arg-type]
    assert {code: one["questions"] for code, one in found.items()} == dict.fromkeys(samples, 10)
    assert min(one["keyword_recall_at_5"] for one in found.values()) >= 0.9, found
    for query in (
        "Wo ist the clé \u732b \U0001f389?",
        "SELECT * FROM h\u00fctte;",
        "\u732b" * 1000,
    ):
        answer, _ = api.post("/v1/search", {"query": query})
        assert not answer["meta"]["degraded"], query


def test_rows_of_an_older_release_are_indexed_by_a_reindex(
    world: World, root: Connection, database: "Database"
) -> None:
    root.execute("ALTER TABLE node DISABLE TRIGGER node_keeps_search_words")
    root.execute("UPDATE node SET search_tsv = to_tsvector('english', text)")
    root.execute("ALTER TABLE node ENABLE TRIGGER node_keeps_search_words")
    assert found(world, root, "Wo ist das Haus?") == []
    platform = platform_of(StoreTransactions(world.pool), stopwatch=time.monotonic)
    reindex = Reindex(platform=platform, model=BGE_SMALL)
    reindex(world.admin)
    assert found(world, root, "Wo ist das Haus?") == ["de"]
    versions = """SELECT count(*) FROM node JOIN node_version USING (workspace_id, id, search_tsv)
      WHERE workspace_id = %s"""
    assert root.execute(versions, [world.workspace_id]).fetchone() == (len(TEXTS),)
    gone = "SELECT count(*) FROM node WHERE workspace_id = %s AND xmin::text::bigint >= %s"
    now = root.execute("SELECT txid_current()").fetchone()
    assert now is not None
    reindex(world.admin)
    assert root.execute(gone, [world.workspace_id, now[0]]).fetchone() == (0,)
