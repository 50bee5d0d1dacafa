"""What every embedder owes: one suite over the local model, the wire client and the fake."""

from __future__ import annotations

import json
import socket
import traceback
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import numpy as np
import pytest
from tests.support.embedding import HashingEmbedder, installed_model
from tests.support.openai_wire import Reply, WireServer, embedding_server
from tests.support.thinking import Watch

from cairn.embedding.models import BGE_SMALL, model_named
from cairn.embedding.onnx import OnnxEmbedder
from cairn.embedding.openai import OpenAIEmbedder
from cairn.embedding.port import PASSAGE_TOKENS
from cairn.kernel.errors import CairnError, Unavailable, ValidationFailed
from cairn.recall.estimate import estimated
from cairn.recall.relevance import CALIBRATIONS

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from cairn.embedding.port import Embedder

SMALL = model_named("text-embedding-3-small")
KEY = "sk-test-0123456789abcdef"
FILLER = (
    "The harbour office keeps a log of every vessel that enters the bay, with its draught, its "
    "cargo and the tide at the time. Clerks copy the log each evening and send it to the city. "
)
SENTENCES = [
    "Tom Okafor teaches swimming to children at the municipal pool on Saturdays.",
    "The bakery on the corner sells rye bread until noon and cakes after that.",
    "Parking permits are renewed each January at the town hall, on the second floor.",
    "The library lends telescopes for a fortnight against a deposit of forty euros.",
    "A new bus line joins the hospital to the university from the first of May.",
    "The choir rehearses Handel on Tuesdays and looks for two more tenors.",
    "Rain stopped the summer market twice, and the council moved it under the arcades.",
    "The museum restored a fishing boat of 1911 and shows it in the courtyard.",
    "Volunteers repainted the lighthouse in red and white before the regatta.",
    "Ana Lima won the chess tournament without losing a game.",
]
FACT = "Marguerite Dubois repairs antique violins in a workshop above the bakery."


@pytest.fixture(scope="module")
def onnx() -> OnnxEmbedder:
    embedder = OnnxEmbedder(installed_model())
    embedder.load()
    return embedder


@pytest.fixture
def server() -> Iterator[WireServer]:
    with embedding_server(SMALL) as running:
        yield running


@pytest.fixture
def wire(server: WireServer) -> Iterator[OpenAIEmbedder]:
    embedder = made(server.url, Watch())
    yield embedder
    embedder.close()


def made(url: str, watch: Watch, *, retries: int = 1) -> OpenAIEmbedder:
    return OpenAIEmbedder(
        SMALL,
        api_key=KEY,
        base_url=url,
        retries=retries,
        timeout_s=5,
        stopwatch=watch,
        pause=watch.pause,
    )


@pytest.fixture(params=["onnx", "wire", "hashing"])
def embedder(request: pytest.FixtureRequest) -> Embedder:
    if request.param == "hashing":
        return HashingEmbedder()
    return request.getfixturevalue(request.param)


TEXTS = [
    "short",
    "A much longer text about the tides of the bay, and what the clerks write of them.",
    "Ünïcödé 東京 и кириллица 🙂",
    "mid length text, with punctuation!",
] * 5


def test_vectors_are_float32_of_the_models_size_and_of_length_one(embedder: Embedder) -> None:
    vectors = embedder.embed(TEXTS)
    assert vectors.shape == (len(TEXTS), embedder.model.dimensions)
    assert vectors.dtype == np.float32
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1.0, atol=1e-5)


def test_no_texts_make_no_rows(embedder: Embedder) -> None:
    assert embedder.embed([]).shape == (0, embedder.model.dimensions)


def test_rows_come_in_the_order_of_the_texts_whatever_their_company(embedder: Embedder) -> None:
    together = embedder.embed(TEXTS)
    alone = np.vstack([embedder.embed([text]) for text in TEXTS])
    assert (together * alone).sum(axis=1).min() > 0.999


def test_a_text_is_nearer_to_its_like_than_to_another(embedder: Embedder) -> None:
    query, like, unlike = embedder.embed(
        ["violin repair workshop", "a workshop for violin repair", "monthly tax return deadline"]
    )
    assert query @ like > query @ unlike + 0.2


def test_a_blank_text_is_refused_with_its_index(embedder: Embedder) -> None:
    with pytest.raises(ValidationFailed) as refused:
        embedder.embed(["fine", " \n"])
    assert refused.value.reason == "blank-text"
    assert refused.value.fields["index"] == 1


def test_every_window_fits_the_model_and_together_they_hold_the_text(embedder: Embedder) -> None:
    text = FILLER * 400 + FACT
    windows = embedder.windows(text)
    assert len(windows) > 1
    assert all(embedder.count_tokens(window) <= embedder.model.max_tokens - 2 for window in windows)
    assert windows[0].startswith("The harbour")
    assert windows[-1].endswith(FACT)
    assert all(window in text for window in windows)


def test_a_short_text_is_its_own_window(embedder: Embedder) -> None:
    assert embedder.windows(FACT) == [FACT]


def test_a_text_that_is_too_long_is_represented_by_its_beginning(embedder: Embedder) -> None:
    text = FILLER * 400
    whole, beginning = embedder.embed([text, embedder.windows(text)[0]])
    assert whole @ beginning > 0.9


def test_threads_share_one_embedder(embedder: Embedder) -> None:
    expected = embedder.embed(TEXTS)
    with ThreadPoolExecutor(4) as pool:
        answers = list(pool.map(embedder.embed, [TEXTS] * 8))
    assert all((answer * expected).sum(axis=1).min() > 0.999 for answer in answers)


# The local model


def test_a_fact_in_the_last_sentence_of_a_full_chunk_is_found_by_vector(onnx: OnnxEmbedder) -> None:
    chunk = " ".join([*SENTENCES * 5, FACT])
    assert 760 <= onnx.count_tokens(chunk) <= 800
    query = onnx.embed(["Who repairs antique violins?"])[0]
    windows = onnx.windows(chunk)
    similarity = onnx.embed(windows) @ query
    assert FACT in windows[int(similarity.argmax())]
    assert similarity.max() > 0.3  # what the vector leg asks for
    assert similarity.max() > (onnx.embed(SENTENCES) @ query).max()
    whole = onnx.embed([chunk])[0] @ query  # read as a whole the chunk would stand far behind
    assert whole < similarity.max() - 0.15


def test_a_text_the_model_reads_whole_is_cut_only_when_asked(onnx: OnnxEmbedder) -> None:
    text = " ".join(SENTENCES)
    assert 64 < onnx.count_tokens(text) <= 254
    assert onnx.windows(text) == [text]
    passages = onnx.windows(text, whole_up_to=PASSAGE_TOKENS)
    assert len(passages) > 2
    assert all(onnx.count_tokens(passage) <= PASSAGE_TOKENS for passage in passages)


@pytest.mark.parametrize(
    "text",
    [
        "supercalifragilistic" * 400,
        "東京都港区の天気は晴れです。" * 200,
        "e\u0301" * 900,
        "don't-stop_now! " * 300,
        "\u200b" * 5000 + "word " * 400,
        "🙂" * 900,
    ],
    ids=["one word", "japanese", "combining", "punctuation", "zero width", "emoji"],
)
def test_awkward_texts_are_cut_into_windows_the_model_reads_whole(
    onnx: OnnxEmbedder, text: str
) -> None:
    windows = onnx.windows(text)
    assert all(onnx.count_tokens(window) <= 254 for window in windows)
    assert sum(onnx.count_tokens(window) for window in windows) >= onnx.count_tokens(text)


def test_a_model_that_is_not_installed_is_unavailable(tmp_path: Path) -> None:
    with pytest.raises(Unavailable) as missing:
        OnnxEmbedder(tmp_path).embed(["text"])
    assert missing.value.reason == "model-missing"


# The wire


def test_the_client_sends_the_model_the_texts_and_the_key(
    server: WireServer, wire: OpenAIEmbedder
) -> None:
    wire.embed(["one", "two"])
    assert [(asked["model"], asked["input"]) for asked in server.requests] == [
        ("text-embedding-3-small", ["one", "two"])
    ]
    assert server.keys == [f"Bearer {KEY}"]


def test_many_texts_go_in_several_requests(server: WireServer, wire: OpenAIEmbedder) -> None:
    wire.embed([f"text {n}" for n in range(70)])
    assert [len(asked["input"]) for asked in server.requests] == [32, 32, 6]


def test_a_busy_server_is_asked_again_after_as_long_as_it_says(server: WireServer) -> None:
    watch = Watch()
    wire = made(server.url, watch)
    server.replies.append(Reply(status=503, headers={"retry-after": "7"}))
    assert wire.embed(["text"]).shape == (1, 1536)
    wire.close()
    assert len(server.requests) == 2
    (pause,) = watch.pauses
    assert 7 <= pause <= 7.5


def test_a_server_that_wants_more_time_than_there_is_is_not_waited_for(server: WireServer) -> None:
    watch = Watch()
    wire = made(server.url, watch)
    server.replies.append(Reply(status=503, headers={"retry-after": "60"}))
    with pytest.raises(Unavailable) as late:
        wire.embed(["text"])
    wire.close()
    assert (late.value.reason, late.value.retry_after) == ("embedder-failed", 60)
    assert (len(server.requests), watch.pauses) == (1, [])


def test_a_server_that_keeps_failing_is_left_alone_until_one_request_finds_it_well(
    server: WireServer,
) -> None:
    watch = Watch()
    wire = made(server.url, watch, retries=0)
    server.replies.extend([Reply(status=500)] * 5)
    for _ in range(5):
        with pytest.raises(Unavailable):
            wire.embed(["text"])
    with pytest.raises(Unavailable) as left_alone:
        wire.embed(["text"])
    assert (left_alone.value.reason, left_alone.value.retry_after) == ("embedder-circuit-open", 30)
    assert len(server.requests) == 5

    watch.pause(30)
    assert wire.embed(["text"]).shape == (1, 1536)
    assert wire.embed(["text"]).shape == (1, 1536)
    wire.close()
    assert len(server.requests) == 7


@pytest.mark.parametrize("status", [400, 401, 404, 429])
def test_a_refused_request_a_refused_key_and_a_rate_limit_open_no_circuit(
    server: WireServer, status: int
) -> None:
    wire = made(server.url, Watch(), retries=0)
    server.replies.extend([Reply(status=status)] * 8)
    for _ in range(8):
        with pytest.raises(CairnError):
            wire.embed(["text"])
    assert wire.embed(["text"]).shape == (1, 1536)
    wire.close()
    assert len(server.requests) == 9


def test_a_server_that_stays_busy_is_unavailable_for_as_long_as_it_says(
    server: WireServer, wire: OpenAIEmbedder
) -> None:
    headers = {"retry-after": "7"}
    server.replies.extend([Reply(status=429, headers=headers)] * 2)
    with pytest.raises(Unavailable) as busy:
        wire.embed(["text"])
    assert (busy.value.reason, busy.value.retry_after) == ("embedder-busy", 7.0)


def test_a_refused_key_is_unavailable_and_never_repeated(
    server: WireServer, wire: OpenAIEmbedder
) -> None:
    message = {"error": {"message": f"Incorrect API key provided: {KEY}", "code": "bad"}}
    server.replies.append(Reply(status=401, body=json.dumps(message).encode()))
    with pytest.raises(Unavailable) as refused:
        wire.embed(["text"])
    assert refused.value.reason == "embedder-credentials"
    shown = "".join(traceback.format_exception(refused.value)) + repr(vars(refused.value))
    assert KEY not in shown + repr(wire)
    assert refused.value.__context__ is None


def test_a_refused_text_is_the_callers_mistake(server: WireServer, wire: OpenAIEmbedder) -> None:
    server.replies.append(Reply(status=400, body=b'{"error": {"message": "no"}}'))
    with pytest.raises(ValidationFailed) as refused:
        wire.embed(["text"])
    assert refused.value.reason == "embedder-refused"


@pytest.mark.parametrize(
    ("body", "content_type", "reason"),
    [
        (b"<html>", "text/html", "malformed-vectors"),
        (b"{", "application/json", "malformed-vectors"),
        (b"{}", "application/json", "malformed-vectors"),
        (b'{"data": []}', "application/json", "malformed-vectors"),
        (b'{"data": [{"index": 0, "embedding": "AAAA"}]}', "application/json", "malformed-vectors"),
        (b'{"data": [{"index": 0, "embedding": [1, 2]}]}', "application/json", "wrong-dimensions"),
        (
            json.dumps({"data": [{"index": 3, "embedding": [1.0] * 1536}]}).encode(),
            "application/json",
            "malformed-vectors",
        ),
        (
            json.dumps({"data": [{"index": 0, "embedding": [0.0] * 1536}]}).encode(),
            "application/json",
            "malformed-vectors",
        ),
    ],
)
def test_an_answer_that_is_no_vector_is_unavailable(
    server: WireServer, wire: OpenAIEmbedder, body: bytes, content_type: str, reason: str
) -> None:
    server.replies.append(Reply(body=body, headers={"content-type": content_type}))
    with pytest.raises(Unavailable) as malformed:
        wire.embed(["text"])
    assert malformed.value.reason == reason


def test_a_server_that_is_gone_is_unavailable() -> None:
    with embedding_server(SMALL) as server:
        url = server.url
    gone = OpenAIEmbedder(SMALL, api_key=KEY, base_url=url, retries=0, timeout_s=1)
    with pytest.raises(Unavailable) as unreachable:
        gone.embed(["text"])
    assert unreachable.value.reason == "embedder-unreachable"
    gone.close()


def test_a_server_that_never_answers_is_unavailable_after_the_timeout() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"http://127.0.0.1:{silent.getsockname()[1]}/v1"
        slow = OpenAIEmbedder(SMALL, api_key=KEY, base_url=url, retries=0, timeout_s=0.2)
        with pytest.raises(Unavailable) as late:
            slow.embed(["text"])
        slow.close()
    assert late.value.reason == "embedder-unreachable"


def test_an_estimate_for_the_default_embedder_is_its_own_calibration(onnx: OnnxEmbedder) -> None:
    estimate, fitted = estimated(onnx), CALIBRATIONS[BGE_SMALL.name]
    assert estimate is not None
    for cosine, share in ((0.4, 0.1), (0.6, 0.2), (0.8, 0.6)):
        told = estimate.relevance(cosine, share, 600)
        assert told == pytest.approx(fitted.relevance(cosine, share, 600), rel=0.02)
