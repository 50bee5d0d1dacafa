"""The stack of the session with a fresh workspace for each test or module."""

from typing import TYPE_CHECKING

import pytest
from tests.e2e.tenant import Tenant, open_workspace

if TYPE_CHECKING:
    from tests.plugins.laptop import Laptop


@pytest.fixture
def workspace(laptop: "Laptop") -> Tenant:
    """A workspace of the test's own."""
    return open_workspace(laptop, "test")


@pytest.fixture(scope="module")
def shared_workspace(laptop: "Laptop") -> Tenant:
    """A workspace that the tests of a module share."""
    return open_workspace(laptop, "module")
