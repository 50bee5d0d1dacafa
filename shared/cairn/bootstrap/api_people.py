"""What the API calls of people who sign in: who they are, and their sessions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cairn.bootstrap.api_parts import ApiParts
from cairn.bootstrap.lazy import part

if TYPE_CHECKING:
    from cairn.accounts.attempts import Attempts
    from cairn.accounts.passkeys import Passkeys
    from cairn.accounts.people import People
    from cairn.accounts.sessions import Sessions


class PeopleServices(ApiParts):
    """Use cases, each imported and made when a request first needs it."""

    @part
    def people(self) -> People:
        """Who signs in to the console."""
        from cairn.accounts.people import People

        return People(platform=self.platform)

    @part
    def sessions(self) -> Sessions:
        """Signing in to the console."""
        from cairn.accounts.sessions import Sessions
        from cairn.adapters.passwords import Argon2Passwords
        from cairn.adapters.postgres.sign_in import FindSignIn

        return Sessions(
            platform=self.platform, find=FindSignIn(self.opened), passwords=Argon2Passwords()
        )

    @part
    def attempts(self) -> Attempts:
        """Sign-ins that are under way."""
        from cairn.accounts.attempts import Attempts

        return Attempts(find=self.sessions.find, clock=self.platform.clock)

    @part
    def passkeys(self) -> Passkeys:
        """Passkeys, and signing in with them."""
        from cairn.accounts.passkeys import Passkeys

        return Passkeys(sessions=self.sessions, attempts=self.attempts)
