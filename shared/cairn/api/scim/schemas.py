"""What this deployment says of its SCIM: its schemas, kinds of resources and what it can."""

from collections.abc import Mapping, Sequence
from typing import Any

from cairn.accounts.scim import MAX_PAGE
from cairn.api.scim.messages import CORE, GROUP, USER


def _attribute(name: str, kind: str = "string", **more: Any) -> dict[str, Any]:
    return {
        "name": name,
        "type": kind,
        "multiValued": False,
        "required": False,
        "caseExact": False,
        "mutability": "readWrite",
        "returned": "default",
        "uniqueness": "none",
        **more,
    }


def _members(name: str, parts: Sequence[Mapping[str, Any]], **more: Any) -> dict[str, Any]:
    return _attribute(name, "complex", multiValued=True, subAttributes=list(parts), **more)


_FIXED = {"mutability": "readOnly"}
_EXTERNAL = _attribute("externalId", caseExact=True)
_SCHEMAS: Mapping[str, tuple[str, str, list[dict[str, Any]]]] = {
    USER: (
        "User",
        "Who signs in to the console",
        [
            _attribute("userName", required=True, uniqueness="server"),
            _EXTERNAL,
            _attribute("displayName"),
            _attribute("name", "complex", subAttributes=[_attribute("formatted")]),
            _attribute("active", "boolean"),
            _members(
                "emails",
                [
                    _attribute("value", **_FIXED),
                    _attribute("type", **_FIXED),
                    _attribute("primary", "boolean", **_FIXED),
                ],
                **_FIXED,
            ),
            _members(
                "groups",
                [
                    _attribute("value", **_FIXED),
                    _attribute("display", **_FIXED),
                    _attribute("$ref", "reference", referenceTypes=["Group"], **_FIXED),
                ],
                **_FIXED,
            ),
        ],
    ),
    GROUP: (
        "Group",
        "A group, which may give its people a role",
        [
            _attribute("displayName", required=True, uniqueness="server"),
            _EXTERNAL,
            _members(
                "members",
                [
                    _attribute("value", mutability="immutable"),
                    _attribute("display", **_FIXED),
                    _attribute("type", mutability="immutable", canonicalValues=["User"]),
                    _attribute("$ref", "reference", referenceTypes=["User"], **_FIXED),
                ],
            ),
        ],
    ),
}


def schemas(base: str) -> list[dict[str, Any]]:
    """Return what users and groups have."""
    return [
        {
            "schemas": [f"{CORE}Schema"],
            "id": urn,
            "name": name,
            "description": description,
            "attributes": attributes,
            "meta": {"resourceType": "Schema", "location": f"{base}/Schemas/{urn}"},
        }
        for urn, (name, description, attributes) in _SCHEMAS.items()
    ]


def resource_types(base: str) -> list[dict[str, Any]]:
    """Return the kinds of resources."""
    return [
        {
            "schemas": [f"{CORE}ResourceType"],
            "id": name,
            "name": name,
            "description": description,
            "endpoint": f"/{name}s",
            "schema": urn,
            "schemaExtensions": [],
            "meta": {"resourceType": "ResourceType", "location": f"{base}/ResourceTypes/{name}"},
        }
        for urn, (name, description, _) in _SCHEMAS.items()
    ]


def provider(base: str) -> dict[str, Any]:
    """Return what can be done here, and what cannot."""
    off = {"supported": False}
    return {
        "schemas": [f"{CORE}ServiceProviderConfig"],
        "patch": {"supported": True},
        "bulk": {**off, "maxOperations": 0, "maxPayloadSize": 0},
        "filter": {"supported": True, "maxResults": MAX_PAGE},
        "changePassword": off,
        "sort": off,
        "etag": off,
        "authenticationSchemes": [
            {
                "type": "oauthbearertoken",
                "name": "Bearer token",
                "description": "A token that an owner makes for this directory",
                "primary": True,
            }
        ],
        "meta": {
            "resourceType": "ServiceProviderConfig",
            "location": f"{base}/ServiceProviderConfig",
        },
    }
