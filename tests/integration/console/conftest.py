"""The browser and the API behind it, for every page's tests."""

from tests.integration.console.test_in_a_browser import page, site

__all__ = ["page", "site"]
