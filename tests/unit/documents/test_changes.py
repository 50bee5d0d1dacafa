"""Re-ingestion: what keeps its id, what moved, what came and what went."""

from uuid import UUID

from cairn.documents.changes import KnownPart, diff, diff_sections
from cairn.documents.parse import parse
from cairn.documents.parsed import DocumentTree
from cairn.documents.split import split


def tree(text: str) -> DocumentTree:
    return split(parse(text.encode(), "text/markdown"), lambda part: len(part.split()))


def stored(found: DocumentTree) -> list[KnownPart]:
    return [
        KnownPart(
            id=UUID(int=chunk.ordinal + 1),
            ordinal=chunk.ordinal,
            content_hash=chunk.content_hash,
            headings=chunk.headings,
        )
        for chunk in found.chunks
    ]


def stored_sections(found: DocumentTree) -> list[KnownPart]:
    return [
        KnownPart(
            id=UUID(int=section.ordinal + 100),
            ordinal=section.ordinal,
            content_hash=section.content_hash,
            headings=section.headings,
        )
        for section in found.sections
    ]


def parts(**texts: str) -> DocumentTree:
    return tree("\n".join(f"# {name}\n\n{text}\n" for name, text in texts.items()))


def test_the_same_document_changes_nothing() -> None:
    found = parts(A="one", B="two")
    changes = diff(stored(found)[::-1], found)
    assert changes.nothing
    assert [item.id for item in changes.kept] == [UUID(int=1), UUID(int=2)]


def test_an_edited_chunk_is_replaced_and_the_others_keep_their_ids() -> None:
    changes = diff(stored(parts(A="one", B="two", C="three")), parts(A="one", B="2", C="three"))
    assert [item.id for item in changes.kept] == [UUID(int=1), UUID(int=3)]
    assert [chunk.text for chunk in changes.added] == ["2"]
    assert changes.removed == (UUID(int=2),)
    assert not changes.nothing


def test_an_insertion_renumbers_but_moves_nothing() -> None:
    changes = diff(stored(parts(A="one", B="two")), parts(N="new", A="one", B="two"))
    assert [(item.renumbered, item.moved) for item in changes.kept] == [
        (True, False),
        (True, False),
    ]
    assert changes.removed == ()


def test_a_chunk_that_changed_its_place_is_the_only_one_moved() -> None:
    old = parts(A="one", B="two", C="three", D="four")
    changes = diff(stored(old), parts(D="four", A="one", B="two", C="three"))
    assert [(item.chunk.text, item.moved) for item in changes.kept] == [
        ("four", True), ("one", False), ("two", False), ("three", False)
    ]  # fmt: skip


def test_a_renamed_heading_keeps_the_chunk_and_says_so() -> None:
    old, new = parts(Old="same text"), parts(New="same text")
    (kept,) = diff(stored(old), new).kept
    assert (kept.id, kept.reheaded) == (UUID(int=1), True)
    sections = diff_sections(stored_sections(old), new)
    assert (len(sections.added), sections.removed) == (1, (UUID(int=100),))


def test_of_equal_chunks_the_one_under_the_same_heading_is_kept() -> None:
    old = parts(A="same", B="same")
    (kept,) = diff(stored(old), parts(B="same")).kept
    assert (kept.id, kept.reheaded) == (UUID(int=2), False)


def test_equal_chunks_are_each_matched_once() -> None:
    changes = diff(stored(parts(A="same")), tree("# A\n\nsame\n\n# A\n\nsame\n\n# A\n\nsame\n"))
    assert (len(changes.kept), len(changes.added)) == (1, 2)


def test_everything_is_added_to_nothing_and_removed_for_nothing_alike() -> None:
    found = parts(A="one", B="two")
    assert [chunk.text for chunk in diff([], found).added] == ["one", "two"]
    gone = diff(stored(found), parts(C="other"))
    assert gone.removed == (UUID(int=1), UUID(int=2))


def test_a_section_is_changed_when_one_of_its_chunks_is() -> None:
    old, new = parts(A="one", B="two"), parts(A="one", B="edited")
    kept = diff_sections(stored_sections(old), new).kept
    assert [(item.id, item.changed) for item in kept] == [
        (UUID(int=100), False),
        (UUID(int=101), True),
    ]


def test_in_a_reversed_document_all_chunks_but_one_moved() -> None:
    found = tree("".join(f"# H{n}\n\ntext {n}\n\n" for n in range(2_000)))
    turned = [
        KnownPart(id=part.id, ordinal=-part.ordinal, content_hash=part.content_hash, headings=())
        for part in stored(found)
    ]
    changes = diff(turned, found)
    assert sum(item.moved for item in changes.kept) == 1_999
