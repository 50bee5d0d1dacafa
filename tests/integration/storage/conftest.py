"""A laptop's API with a workspace, for every test of the console's pages."""

from tests.integration.storage.test_console import deployed

__all__ = ["deployed"]
