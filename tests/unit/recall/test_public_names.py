"""What strangers are told of where documents are from."""

import pytest

from cairn.recall.public_names import is_of_the_web, name_of


@pytest.mark.parametrize(
    ("uri", "title", "name"),
    [
        ("https://help.example/gates?page=2", "Gates", "https://help.example/gates?page=2"),
        ("http://help.example", None, "http://help.example"),
        ("file:///home/ada/secret/gates.md", "Gates", "Gates"),
        ("file:///home/ada/secret/gates.md", None, "gates.md"),
        ("file:///home/ada/gates.md", "file:///home/ada/gates.md", "gates.md"),
        ("/srv/kb/gates.md", " ", "gates.md"),
        ("C:\\Users\\ada\\gates.md", None, "gates.md"),
        ("kb://gates.md", "Gates", "Gates"),
        ("s3://bucket-of-ours/a/b.pdf?versionId=7", None, "b.pdf"),
        ("https://ada:hunter2@help.example/gates", "Gates", "Gates"),
        ("https://ada@help.example/gates", None, "gates"),
        ("javascript://help.example/x", "Gates", "Gates"),
        ("http://[::1", "Gates", "Gates"),
        ("///", None, "document"),
        ("#top", None, "document"),
    ],
)
def test_a_document_is_called_by_its_title_or_an_address_of_the_web(
    uri: str, title: str | None, name: str
) -> None:
    assert name_of(uri, title) == name
    assert is_of_the_web(uri) is (name == uri)
