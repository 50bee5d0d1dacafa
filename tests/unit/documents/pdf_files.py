"""Small PDF files made for the tests: text in given sizes, broken trailers, bombs."""

import zlib
from collections.abc import Sequence
from io import BytesIO

from pypdf import PdfWriter

Line = tuple[float, str]


def pdf(
    pages: Sequence[Sequence[Line]],
    *,
    count: int | None = None,
    leading: float = 1.3,
    pictures: int = 0,
) -> bytes:
    """Return a PDF with one page per item, each a list of (size in points, text) from the top.

    It has `pictures` bytes of a stream that is no text, as a scanned one has.
    """
    kids = " ".join(f"{4 + 2 * n} 0 R" for n in range(len(pages)))
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        f"<< /Type /Pages /Kids [{kids}] /Count {count or len(pages)} >>".encode(),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>",
    ]
    for number, lines in enumerate(pages):
        objects += _page(5 + 2 * number, zlib.compress(_content(lines, leading)))
    if pictures:
        head = f"<< /Type /XObject /Subtype /Image /Length {pictures} >>\nstream\n".encode()
        objects.append(head + b"\xaa" * pictures + b"\nendstream")
    return assembled(objects)


def bomb(size: int) -> bytes:
    """Return a one-page PDF whose content stream unpacks to `size` bytes."""
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [4 0 R] /Count 1 >>",
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
        *_page(5, zlib.compress(b" " * size, 9)),
    ]
    return assembled(objects)


def encrypted(content: bytes, user_password: str) -> bytes:
    """Return the PDF encrypted with RC4; an empty user password lets anybody open it."""
    writer = PdfWriter(clone_from=BytesIO(content))
    writer.encrypt(user_password, owner_password="owner", algorithm="RC4-128")
    out = BytesIO()
    writer.write(out)
    return out.getvalue()


def assembled(objects: Sequence[bytes]) -> bytes:
    """Return a file of the objects 1, 2, ... with a right cross-reference table."""
    out = bytearray(b"%PDF-1.4\n")
    offsets: list[int] = []
    for number, body in enumerate(objects, start=1):
        offsets.append(len(out))
        out += b"%d 0 obj\n" % number + body + b"\nendobj\n"
    start = len(out)
    out += b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1)
    out += b"".join(b"%010d 00000 n \n" % offset for offset in offsets)
    out += b"trailer << /Size %d /Root 1 0 R >>\n" % (len(objects) + 1)
    return bytes(out + b"startxref\n%d\n%%%%EOF\n" % start)


def _page(content_number: int, stream: bytes) -> list[bytes]:
    page = (
        "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] "
        f"/Resources << /Font << /F1 3 0 R >> >> /Contents {content_number} 0 R >>"
    )
    head = b"<< /Filter /FlateDecode /Length %d >>\nstream\n" % len(stream)
    return [page.encode(), head + stream + b"\nendstream"]


def _content(lines: Sequence[Line], leading: float) -> bytes:
    top = 800.0
    parts: list[bytes] = []
    for size, text in lines:
        shown = text.replace("\\", r"\\").replace("(", r"\(").replace(")", r"\)")
        parts.append(f"BT /F1 {size} Tf 50 {top:.1f} Td ({shown}) Tj ET\n".encode("cp1252"))
        top -= size * leading
    return b"".join(parts)
