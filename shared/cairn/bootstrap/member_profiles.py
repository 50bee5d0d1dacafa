"""What profiles of members are made of: for the API, which alone reads pages."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from cairn.discovery.intents.profiles import MemberProfiles
    from cairn.documents.pages import Fetch
    from cairn.llm.gateway import Gateway
    from cairn.writing.platform import Platform


def profiles_of(
    platform: Platform, gateway: Gateway | None, fetch: Callable[[], Fetch]
) -> MemberProfiles:
    """Return the use cases of members' own profiles."""
    from cairn.discovery.intents.models import AskOfIntents
    from cairn.discovery.intents.profiles import MemberProfiles

    return MemberProfiles(platform=platform, models=AskOfIntents(gateway), fetch=fetch)
