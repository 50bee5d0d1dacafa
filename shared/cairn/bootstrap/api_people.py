"""What the API calls of people who sign in: who they are, their sessions, what they publish."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cairn.bootstrap.api_parts import ApiParts
from cairn.bootstrap.lazy import part

if TYPE_CHECKING:
    from cairn.accounts.admission import LetIn
    from cairn.accounts.attempts import Attempts
    from cairn.accounts.issuer_sign_in import IssuerSignIn
    from cairn.accounts.passkeys import Passkeys
    from cairn.accounts.people import People
    from cairn.accounts.saml_sign_in import SamlSignIn
    from cairn.accounts.scim import Scim
    from cairn.accounts.scim_people import ScimPeople
    from cairn.accounts.sessions import Sessions
    from cairn.adapters.saml.provider import SamlProvider
    from cairn.publishing.publications import Publications
    from cairn.publishing.reading import ReadSite


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

    @part
    def scim(self) -> Scim:
        """Directories that bring people, and their tokens."""
        from cairn.accounts.editions import EDITIONS
        from cairn.accounts.scim import Scim
        from cairn.adapters.postgres.scim import FindScim
        from cairn.webhooks.incoming import DeliveryLimit

        return Scim(
            platform=self.platform,
            people=self.people,
            find=FindScim(self.opened),
            edition=EDITIONS[self.settings.edition],
            limit=DeliveryLimit(600, "A directory"),
        )

    @part
    def scim_people(self) -> ScimPeople:
        """People and groups, as a directory changes them."""
        from cairn.accounts.scim_people import ScimPeople

        return ScimPeople(scim=self.scim)

    @part
    def publications(self) -> Publications:
        """What is published, and who publishes it."""
        import os

        from cairn.adapters.aws.erasing import S3Erasing
        from cairn.publishing.publications import Publications

        return Publications(
            platform=self.platform,
            objects=self.objects,
            eraser=S3Erasing(self.settings.uploads_bucket),
            random_bytes=os.urandom,
            sites_url=self.settings.sites_url,
        )

    @part
    def read_site(self) -> ReadSite:
        """What an address of a site leads to."""
        from cairn.adapters.postgres.publications import WorkspaceOfPublication
        from cairn.publishing.reading import ReadSite

        return ReadSite(
            transactions=self.platform.transactions,
            workspace_of=WorkspaceOfPublication(self.opened),
            objects=self.objects,
        )

    @part
    def let_in(self) -> LetIn:
        """Whom of an issuer's the deployment lets in."""
        from uuid import UUID

        from cairn.accounts.admission import Admission, LetIn
        from cairn.kernel.access import PersonRole

        settings = self.settings
        roles = {group: PersonRole(role) for group, role in settings.roles_by_group().items()}
        admission = Admission(
            domains=settings.domains(),
            roles=roles,
            workspace_id=UUID(place) if (place := settings.sign_in_workspace) else None,
        )
        return LetIn(sessions=self.sessions, people=self.people, admission=admission)

    @part
    def issuer_sign_in(self) -> IssuerSignIn:
        """Signing in by the deployment's issuer."""
        from cairn.accounts.issuer_sign_in import IssuerSignIn
        from cairn.adapters.http.issuer_keys import PublishedIssuerKeys
        from cairn.adapters.http.openid import OpenIdIssuer

        settings, local = self.settings, self.settings.stage == "local"
        secret, issuer = settings.sign_in_client_secret, settings.issuer_of_people()
        return IssuerSignIn(
            let_in=self.let_in,
            attempts=self.attempts,
            issuer=OpenIdIssuer(
                issuer=issuer,
                client_id=settings.sign_in_client_id,
                client_secret=secret.get_secret_value() if secret else None,
                keys=PublishedIssuerKeys(issuer, allow_private=local),
                claim=settings.sign_in_claim,
                allow_private=local,
            ),
        )

    @part
    def saml_sign_in(self) -> SamlSignIn:
        """Signing in by the deployment's identity provider of SAML."""
        from cairn.accounts.editions import EDITIONS
        from cairn.accounts.saml_sign_in import SamlSignIn

        settings = self.settings
        return SamlSignIn(
            let_in=self.let_in,
            attempts=self.attempts,
            provider=self._saml_provider() if settings.sign_in_saml else None,
            edition=EDITIONS[settings.edition],
            unasked=settings.sign_in_saml_unasked == "on",
        )

    def _saml_provider(self) -> SamlProvider:
        from cairn.adapters.saml.metadata import PublishedMetadata
        from cairn.adapters.saml.provider import SamlProvider

        settings, local = self.settings, self.settings.stage == "local"
        return SamlProvider(
            metadata=PublishedMetadata(settings.sign_in_saml, allow_private=local),
            claim=settings.sign_in_claim,
        )
