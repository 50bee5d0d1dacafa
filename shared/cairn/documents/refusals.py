"""The errors that `parse` and several readers share. Not a new hierarchy: reasons name them."""

from cairn.kernel.errors import TooLarge, ValidationFailed


def empty() -> ValidationFailed:
    """Return the error for a document without any content."""
    return ValidationFailed("The document is empty.", reason="empty-document")


def malformed(detail: str) -> ValidationFailed:
    """Return the error for bytes that are not what their media type promises."""
    return ValidationFailed(detail, reason="malformed-document")


def too_much_text(limit: int) -> TooLarge:
    """Return the error for a document whose text, once unpacked, is over `limit` characters."""
    return TooLarge(
        f"The document holds more than {limit} characters of text.",
        reason="too-much-text",
        limit=limit,
    )
