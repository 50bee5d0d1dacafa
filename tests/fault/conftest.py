"""Two offices on the running stack: the connector of one knows keys, that of the other does not."""

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.fault.office import Office, open_office

if TYPE_CHECKING:
    from tests.plugins.laptop import Laptop


@pytest.fixture
def office(laptop: "Laptop", tmp_path: Path) -> Office:
    """A call repeated under its key happens once."""
    return open_office(laptop, tmp_path, repeats=False)


@pytest.fixture
def forgetful_office(laptop: "Laptop", tmp_path: Path) -> Office:
    """Every call that arrives happens: nothing may be called twice."""
    return open_office(laptop, tmp_path, repeats=True)
