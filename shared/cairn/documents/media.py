"""Media types: which are read, and whether the first bytes contradict the label. Not decoding."""

from pathlib import PurePosixPath

from cairn.kernel.errors import ValidationFailed

PLAIN = "text/plain"
MARKDOWN = "text/markdown"
HTML = "text/html"
PDF = "application/pdf"

LARGEST, LARGEST_PDF = 20_000_000, 50_000_000
"""Bytes of a document; of a PDF, which may be mostly pictures, more."""

_ALIASES = {
    "text/x-markdown": MARKDOWN,
    "application/xhtml+xml": HTML,
    "application/x-pdf": PDF,
    "application/javascript": "text/javascript",
    "application/x-javascript": "text/javascript",
    "application/typescript": "text/x-typescript",
    "text/typescript": "text/x-typescript",
    "text/x-python3": "text/x-python",
    "application/x-python": "text/x-python",
    "text/x-java-source": "text/x-java",
    "application/x-sh": "text/x-shellscript",
    "application/sql": "text/x-sql",
    "application/x-yaml": "text/x-yaml",
    "application/yaml": "text/x-yaml",
    "text/yaml": "text/x-yaml",
}

_EXTENSIONS = {
    **dict.fromkeys((".txt", ".text", ".log", ".rst", ".adoc"), PLAIN),
    **dict.fromkeys((".md", ".markdown", ".mdown", ".mkd"), MARKDOWN),
    **dict.fromkeys((".html", ".htm", ".xhtml"), HTML),
    ".pdf": PDF,
    **dict.fromkeys((".py", ".pyi"), "text/x-python"),
    **dict.fromkeys((".js", ".mjs", ".cjs", ".jsx"), "text/javascript"),
    **dict.fromkeys((".ts", ".mts", ".cts"), "text/x-typescript"),
    ".tsx": "text/x-tsx",
    ".go": "text/x-go",
    ".java": "text/x-java",
    ".rs": "text/x-rust",
    **dict.fromkeys((".c", ".h"), "text/x-c"),
    **dict.fromkeys((".cc", ".cpp", ".cxx", ".hh", ".hpp"), "text/x-c++"),
    ".cs": "text/x-csharp",
    ".rb": "text/x-ruby",
    ".php": "text/x-php",
    ".kt": "text/x-kotlin",
    ".swift": "text/x-swift",
    ".scala": "text/x-scala",
    **dict.fromkeys((".sh", ".bash"), "text/x-shellscript"),
    ".sql": "text/x-sql",
    **dict.fromkeys((".yaml", ".yml"), "text/x-yaml"),
    ".toml": "text/x-toml",
    ".json": "application/json",
    ".css": "text/css",
}

SOURCE_CODE = frozenset(_EXTENSIONS.values()) - {PLAIN, MARKDOWN, HTML, PDF}
"""The media types read as source code."""

SUPPORTED = SOURCE_CODE | {PLAIN, MARKDOWN, HTML, PDF}
"""Every media type that `parse` reads, normalised."""

_BINARY_MAGIC = (
    (b"PK\x03\x04", "a ZIP archive or an Office file"),
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "an old Office file"),
    (b"\x89PNG\r\n\x1a\n", "a PNG image"),
    (b"\xff\xd8\xff", "a JPEG image"),
    (b"GIF87a", "a GIF image"),
    (b"GIF89a", "a GIF image"),
    (b"\x1f\x8b\x08", "a gzip archive"),
    (b"BZh", "a bzip2 archive"),
    (b"\xfd7zXZ\x00", "an xz archive"),
    (b"7z\xbc\xaf\x27\x1c", "a 7z archive"),
    (b"\x7fELF", "a program"),
    (b"SQLite format 3\x00", "a SQLite database"),
    (b"{\\rtf", "an RTF file"),
)
_PDF_HEADER_WITHIN = 1024  # readers accept bytes before the header, as PDF 1.7 annex H does


def normalise_media_type(media_type: str) -> str:
    """Return the lower-case type without parameters, aliases resolved.

    Raises ValidationFailed (unsupported-media-type) for a type that `parse` does not read.
    """
    bare = media_type.partition(";")[0].strip().lower()
    bare = _ALIASES.get(bare, bare)
    if bare not in SUPPORTED:
        raise ValidationFailed(
            f"Documents of type {bare or 'unknown'!r} are not read.",
            reason="unsupported-media-type",
            media_type=bare,
        )
    return bare


def largest_of(media_type: str) -> int:
    """Return how many bytes a document of a normalised media type may have."""
    return LARGEST_PDF if media_type == PDF else LARGEST


def charset_of(media_type: str) -> str | None:
    """Return the charset parameter of a media type, or None."""
    for parameter in media_type.split(";")[1:]:
        name, _, value = parameter.partition("=")
        if name.strip().lower() == "charset":
            return value.strip().strip("\"'") or None
    return None


def media_type_of(name: str) -> str | None:
    """Return the media type that a file name or URI ends in, or None when it says nothing known."""
    bare = name.partition("?")[0].partition("#")[0]
    return _EXTENSIONS.get(PurePosixPath(bare).suffix.lower())


def check_magic(content: bytes, media_type: str) -> None:
    """Raise ValidationFailed (media-type-mismatch) when the first bytes are of another format."""
    is_pdf = b"%PDF-" in content[:_PDF_HEADER_WITHIN]
    if media_type == PDF:
        if not is_pdf:
            _mismatch(media_type, "not a PDF")
        return
    if content[:5] == b"%PDF-" and content[5:6].isdigit():
        _mismatch(media_type, "a PDF")
    for magic, what in _BINARY_MAGIC:
        if content.startswith(magic) and (len(magic) > 3 or b"\x00" in content[:512]):
            _mismatch(media_type, what)


def _mismatch(media_type: str, what: str) -> None:
    raise ValidationFailed(
        f"The document is labelled {media_type} but its first bytes say it is {what}.",
        reason="media-type-mismatch",
        media_type=media_type,
    )
