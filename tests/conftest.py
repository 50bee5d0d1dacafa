"""Fixtures for all tests come from the plugins; nothing is started before a test asks for it."""

import os

from hypothesis import settings

# How fast the machine is today is no test's business. Where CI is set, examples are the same each
# time, so that a commit passes or does not; new ones are looked for at every developer's.
settings.register_profile("untimed", deadline=None, derandomize="CI" in os.environ)
settings.load_profile("untimed")

pytest_plugins = [
    "tests.plugins.collector",
    "tests.plugins.groups",
    "tests.plugins.no_network",
    "tests.plugins.postgres",
    "tests.plugins.cloud",
    "tests.plugins.opensearch",
    "tests.plugins.laptop",
]
