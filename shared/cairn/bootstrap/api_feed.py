"""What the API calls of a member's contacts and feed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cairn.bootstrap.api_discovery import DiscoveryServices
from cairn.bootstrap.lazy import part

if TYPE_CHECKING:
    from cairn.discovery.contacts.bring import ImportContacts, Integrations
    from cairn.discovery.contacts.inviting import InviteContact
    from cairn.discovery.contacts.keep import Contacts


class FeedServices(DiscoveryServices):
    """Use cases, each imported and made when a request first needs it."""

    @part
    def contacts(self) -> Contacts:
        """Whom members know."""
        from cairn.discovery.contacts.keep import Contacts

        return Contacts(self.platform)

    @part
    def import_contacts(self) -> ImportContacts:
        """Taking files of people in."""
        from cairn.discovery.contacts.bring import ImportContacts

        return ImportContacts(platform=self.platform, contacts=self.contacts)

    @part
    def invite_contact(self) -> InviteContact:
        """Inviting contacts into networks."""
        from cairn.discovery.contacts.inviting import InviteContact

        return InviteContact(platform=self.platform, contacts=self.contacts, invites=self.invites)

    @part
    def integrations(self) -> Integrations:
        """Where contacts are read from."""
        from cairn.adapters.http.fetching import HttpFetch
        from cairn.discovery.contacts.bring import CALENDAR, Integrations
        from cairn.settings import ServerSettings

        private_hosts = ServerSettings.read().private_hosts()
        return Integrations(
            platform=self.platform,
            take=self.import_contacts,
            fetch=HttpFetch(private_hosts=private_hosts, media_types=CALENDAR),
        )
