"""Fixtures for all tests come from the plugins; nothing is started before a test asks for it."""

pytest_plugins = [
    "tests.plugins.no_network",
    "tests.plugins.postgres",
    "tests.plugins.cloud",
    "tests.plugins.opensearch",
    "tests.plugins.laptop",
]
