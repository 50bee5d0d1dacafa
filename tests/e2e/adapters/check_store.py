# pyright: basic, reportMissingImports=false
"""LangGraph's store over a running stack: run by tests/e2e/test_examples.py in a venv of its own.

It needs LangGraph, which this project does not have, so it is no module of the test suite.
"""

import asyncio
import sys
from collections.abc import Callable

from langgraph.store.base import GetOp, ListNamespacesOp, PutOp, SearchOp

from cairn_memory.langgraph import CairnStore


def keys(found: list) -> set[str]:
    return {item.key for item in found}


def waiting(store: CairnStore) -> CairnStore:
    return CairnStore(store.memory.url, client_id=store.memory.client_id, wait="embedded")


def what_is_put_is_read_replaced_and_deleted(store: CairnStore) -> None:
    place = ("a/b", "c*d %", "é")
    value = {"text": "beans", "left": 3, "deep": {"er": [1, None, True, 0.5]}}
    store.put(place, "k", value)
    item = store.get(place, "k")
    assert item is not None
    assert (item.namespace, item.key, item.value) == (place, "k", value)
    store.put(place, "k", {**value, "left": 2})
    assert store.get(place, "k").value["left"] == 2
    store.put(place, "k", value)
    assert store.get(place, "k").value["left"] == 3
    assert len(store.search(place)) == 1
    store.delete(place, "k")
    store.delete(place, "k")
    assert store.get(place, "k") is None
    assert store.search(place) == []
    store.put(place, "k", value)
    assert store.get(place, "k") is not None


def it_is_found_right_after_put_by_words_and_with_wait_by_meaning(store: CairnStore) -> None:
    store.put(("food", "dana"), "nuts", {"text": "Dana is allergic to peanuts"})
    assert keys(store.search(("food",), query="peanuts")) == {"nuts"}
    patient = waiting(store)
    patient.put(("food", "dana"), "soup", {"text": "Her favourite dish is lentil soup"})
    found = patient.search(("food",), query="What does she like to eat most?")
    assert found[0].key == "soup", found
    assert found[0].score is not None
    patient.close()


def searches_hold_to_prefix_filter_limit_and_offset(store: CairnStore) -> None:
    store = waiting(store)  # an order that vectors change meanwhile has other pages
    for number in range(6):
        colour = "red" if number % 2 else "blue"
        store.put(
            ("shop", f"s{number}"), "k", {"text": f"thing {number}", "n": number, "c": colour}
        )
    store.put(("shopping",), "k", {"text": "thing of another place", "n": 4})

    def numbers(**asked: object) -> list[int]:
        return sorted(item.value["n"] for item in store.search(("shop",), **asked))

    assert numbers(filter={"c": "red"}) == [1, 3, 5]
    assert numbers(filter={"c": {"$ne": "red"}, "n": {"$gte": 2, "$lt": 4}}) == [2]
    assert numbers(filter={"n": {"$gt": 3}}, query="thing") == [4, 5]
    assert numbers(filter={"n": {"$lte": 0}}) == [0]
    pages = [
        item.value["n"] for at in (0, 2, 4) for item in store.search(("shop",), limit=2, offset=at)
    ]
    assert sorted(pages) == list(range(6))
    first = [item.value["n"] for item in store.search(("shop",), query="thing", limit=3)]
    rest = [item.value["n"] for item in store.search(("shop",), query="thing", limit=3, offset=3)]
    assert sorted(first + rest) == list(range(6))
    for wrong in ({"n": [1]}, {"n": {"$like": 1}}):
        try:
            store.search(("shop",), filter=wrong)
        except ValueError:
            continue
        raise AssertionError(wrong)


def namespaces_are_listed_by_prefix_suffix_and_depth(store: CairnStore) -> None:
    for name in (("u", "dana", "likes"), ("u", "eli", "likes"), ("u", "eli", "work"), ("v",)):
        store.put(name, "k", {"text": "x"})
    assert store.list_namespaces(prefix=("u",)) == [
        ("u", "dana", "likes"),
        ("u", "eli", "likes"),
        ("u", "eli", "work"),
    ]
    assert store.list_namespaces(prefix=("u",), suffix=("likes",), limit=1, offset=1) == [
        ("u", "eli", "likes")
    ]
    assert store.list_namespaces(prefix=("u", "*", "work")) == [("u", "eli", "work")]
    assert store.list_namespaces(prefix=("u",), max_depth=2) == [("u", "dana"), ("u", "eli")]


def what_is_not_indexed_is_read_and_not_found(store: CairnStore) -> None:
    store.put(
        ("docs",), "open", {"title": "Harbour rules", "body": "No swimming."}, index=["title"]
    )
    store.put(("docs",), "shut", {"title": "Harbour plans", "body": "secret"}, index=False)
    assert keys(store.search(("docs",), query="harbour")) == {"open"}
    assert keys(store.search(("docs",))) == {"open", "shut"}
    assert store.get(("docs",), "shut").value["body"] == "secret"


def what_lasts_for_a_time_says_so_and_is_refreshed_by_reading(store: CairnStore) -> None:
    store.put(("cache",), "k", {"text": "weather"}, ttl=1)

    def expires() -> object:
        listed = store.memory.memories(client_id=store.memory.client_id)
        return next(each.expires_at for each in listed if each.namespace == "cache")

    before = expires()
    store.get(("cache",), "k", refresh_ttl=False)
    assert expires() == before
    store.get(("cache",), "k")
    after = expires()
    assert after > before
    store.search(("cache",), query="weather")
    assert expires() > after


def a_batch_reads_before_it_writes_and_the_last_put_of_a_key_stands(store: CairnStore) -> None:
    place = ("batch",)
    results = store.batch(
        [
            PutOp(place, "k", {"n": 1}),
            GetOp(place, "k"),
            PutOp(place, "k", {"n": 2}),
            PutOp(place, "other", {"n": 3}),
            ListNamespacesOp(),
        ]
    )
    assert results[:4] == [None, None, None, None]
    got, found = store.batch([GetOp(place, "k"), SearchOp(place)])
    assert got.value == {"n": 2}
    assert len(found) == 2


def the_same_is_done_with_await(store: CairnStore) -> None:
    async def walk() -> None:
        await store.aput(("async",), "k", {"text": "the ferry leaves at noon"})
        assert (await store.aget(("async",), "k")).value["text"].endswith("noon")
        found = await store.asearch(("async",), query="ferry", filter={"text": {"$ne": "x"}})
        assert keys(found) == {"k"}
        assert await store.alist_namespaces(prefix=("async",)) == [("async",)]
        await store.adelete(("async",), "k")
        assert await store.aget(("async",), "k") is None
        await store.aclose()

    asyncio.run(walk())


CHECKS: tuple[Callable[[CairnStore], None], ...] = (
    what_is_put_is_read_replaced_and_deleted,
    it_is_found_right_after_put_by_words_and_with_wait_by_meaning,
    searches_hold_to_prefix_filter_limit_and_offset,
    namespaces_are_listed_by_prefix_suffix_and_depth,
    what_is_not_indexed_is_read_and_not_found,
    what_lasts_for_a_time_says_so_and_is_refreshed_by_reading,
    a_batch_reads_before_it_writes_and_the_last_put_of_a_key_stands,
    the_same_is_done_with_await,
)


def main() -> None:
    for check in CHECKS:
        check(CairnStore(client_id=f"check-{check.__name__}"))
        sys.stdout.write(f"{check.__name__}\n")


if __name__ == "__main__":
    main()
