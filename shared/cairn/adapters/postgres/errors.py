"""The one place where the driver's errors become Cairn's."""

from collections.abc import Generator
from contextlib import contextmanager

import psycopg
from psycopg import errors

from cairn.kernel.errors import CairnError, Conflict, Denied, Unavailable, ValidationFailed

LOCK_RETRY_SECONDS = 1.0


@contextmanager
def translated() -> Generator[None]:
    """Raise the Cairn error that a driver error inside the block means."""
    try:
        yield
    except CairnError:
        raise
    except psycopg.Error as exc:
        error = cairn_error(exc)
        if error is None:
            raise
        raise error from exc


def cairn_error(exc: Exception) -> CairnError | None:
    """Return what a driver error means; identifiers stay out of the sentence.

    None for a bug of ours, such as a column that does not exist: trying again would not help.
    """
    if isinstance(exc, errors.LockNotAvailable | errors.DeadlockDetected):
        return Unavailable(
            "Another write holds this workspace's ledger; try again.",
            retry_after=LOCK_RETRY_SECONDS,
            reason="ledger-busy",
        )
    if isinstance(exc, errors.QueryCanceled):
        return Unavailable("The database took too long.", reason="database-timeout")
    if isinstance(exc, errors.UniqueViolation | errors.ForeignKeyViolation):
        return Conflict("This collides with what is stored.", reason="constraint")
    if isinstance(exc, errors.InsufficientPrivilege):
        return Denied("The database refuses this.", reason="row-security")
    if isinstance(exc, errors.CheckViolation | errors.DataError):
        return ValidationFailed("The database refuses a value.", reason="invalid-value")
    if isinstance(exc, psycopg.OperationalError | psycopg.InterfaceError):
        return Unavailable("The database cannot be reached.", reason="database-unavailable")
    return None
