"""Fixtures for all tests come from the plugins; nothing is started before a test asks for it."""

from hypothesis import settings

settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")  # how fast the machine is today is no test's business

pytest_plugins = [
    "tests.plugins.groups",
    "tests.plugins.no_network",
    "tests.plugins.postgres",
    "tests.plugins.cloud",
    "tests.plugins.opensearch",
    "tests.plugins.laptop",
]
