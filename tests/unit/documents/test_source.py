"""Source code: a function or class is one chunk, whatever its size, and no line is lost."""

import pytest

from cairn.documents.parse import parse
from cairn.documents.parsed import BlockKind, ChunkPart
from cairn.documents.split import split

PYTHON = '''"""Bookings."""

import re

LIMIT = 3  # beds


# why this is so
@cached
def free(hut):
    """Return beds."""

    return hut.beds - LIMIT


class Hut:
    """A hut."""

    def open(self):
        return True
'''


def tokens(text: str) -> int:
    return len(text.split())


def chunks(text: str, media_type: str) -> tuple[ChunkPart, ...]:
    return split(parse(text.encode(), media_type), tokens).chunks


def function(name: str, lines: int) -> str:
    return f"def {name}():\n" + "".join(f"    step_{n} = call({n}, {n})\n\n" for n in range(lines))


def test_definitions_have_their_names_comments_and_lines() -> None:
    assert [(c.headings, c.line_from, c.line_to) for c in chunks(PYTHON, "text/x-python")] == [
        ((), 1, 5),
        (("free",), 8, 13),
        (("Hut",), 16, 20),
    ]


def test_a_function_longer_than_the_cap_is_never_split() -> None:
    found = chunks(function("long", 400) + "\n\n" + function("short", 2), "text/x-python")
    assert [chunk.headings for chunk in found] == [("long",), ("short",)]
    assert found[0].token_count > 800
    assert "step_399" in found[0].text


def test_a_class_longer_than_the_cap_is_cut_between_methods_only() -> None:
    methods = "\n".join(
        "    " + function(f"m{n}", 120).replace("\n", "\n    ").rstrip() for n in range(3)
    )
    found = chunks(f"class Big:\n    size = 1\n\n{methods}\n", "text/x-python")
    assert [chunk.headings for chunk in found] == [
        ("Big",), ("Big", "m0"), ("Big", "m1"), ("Big", "m2")
    ]  # fmt: skip
    assert all("step_119" in chunk.text for chunk in found[1:])


@pytest.mark.parametrize(
    ("media_type", "text", "names"),
    [
        ("text/javascript", "import a from 'b';\nfunction f() {}\nexport class C {}\n", ["f", "C"]),
        ("text/x-typescript", "export interface I {}\nconst g = (a: number) => a;\n", ["I", "g"]),
        ("text/x-tsx", "export const V = () => <b>x</b>;\n", ["V"]),
        ("text/x-go", "package p\n\nfunc F() {}\n\nfunc (h *Hut) Open() {}\n", ["F", "Open"]),
        ("text/x-java", "class A { void m() {} }\nenum E { X }\n", ["A", "E"]),
        ("text/x-rust", "struct S;\nimpl S { fn n() {} }\nfn main() {}\n", ["S", "main"]),
    ],
)
def test_every_grammar_names_its_definitions(media_type: str, text: str, names: list[str]) -> None:
    parsed = parse(text.encode(), media_type)
    found = [block.text for block in parsed.blocks if block.kind is BlockKind.HEADING]
    assert list(dict.fromkeys(found)) == names


def test_a_language_without_a_grammar_is_never_cut_inside_braces() -> None:
    body = "".join(f"  call({n});\n\n" for n in range(300))
    found = chunks(f"int a() {{\n{body}}}\n\nint b() {{\n{body}}}\n", "text/x-c")
    assert [chunk.text.count("call(299)") for chunk in found] == [1, 1]


def test_code_with_syntax_errors_keeps_every_line() -> None:
    text = "def f(:\n    return (\n\nclass 3:\n  x = = 2\n\nprint('end')\n"
    joined = "\n".join(chunk.text for chunk in chunks(text, "text/x-python"))
    assert [line.strip() for line in joined.split("\n") if line.strip()] == [
        line.strip() for line in text.split("\n") if line.strip()
    ]


def test_names_and_text_outside_ascii_keep_their_places() -> None:
    found = chunks("# ä ö ü\n\n\ndef größe():\n    return 'ß'\n", "text/x-python")
    assert (found[-1].headings, found[-1].line_from) == (("größe",), 4)
