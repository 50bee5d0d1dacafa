"""Importance is stored as 1 to 10; the four words are published bands of it."""

IMPORTANCE_BANDS = {
    "critical": range(9, 11),
    "high": range(7, 9),
    "medium": range(4, 7),
    "low": range(1, 4),
}
"""Band -> the numbers in it."""

_STORED_AS = {"critical": 9, "high": 7, "medium": 5, "low": 2}


def importance_number(value: str | int) -> int:
    """Return 1..10 for a band's name or a number; ValueError for anything else."""
    if isinstance(value, str):
        if value not in _STORED_AS:
            raise ValueError(f"importance is one of {', '.join(_STORED_AS)}, or 1 to 10")
        return _STORED_AS[value]
    if not 1 <= value <= 10:
        raise ValueError("importance is 1 to 10")
    return value


def importance_band(number: int) -> str:
    """Return the name of the band that `number` (1..10) falls into."""
    return next(name for name, band in IMPORTANCE_BANDS.items() if number in band)
