"""Cold starts: a reader's library is loaded by the first document that needs it, not before."""

import subprocess
import sys

LIBRARIES = ("markdown_it", "selectolax", "pypdf", "tree_sitter")


def loaded_after(code: str) -> set[str]:
    program = f"import sys\n{code}\nprint(*(n for n in {LIBRARIES!r} if n in sys.modules))"
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=60
    )
    return set(done.stdout.split())


def test_importing_the_package_loads_no_reader() -> None:
    modules = "import cairn.documents.parse, cairn.documents.split, cairn.documents.changes"
    assert loaded_after(modules) == set()


def test_plain_text_loads_no_library_and_markdown_only_its_own() -> None:
    parse = "from cairn.documents.parse import parse; parse(b'# text', '{}')"
    assert loaded_after(parse.format("text/plain")) == set()
    assert loaded_after(parse.format("text/markdown")) == {"markdown_it"}
