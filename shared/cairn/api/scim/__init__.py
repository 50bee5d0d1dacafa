"""SCIM 2.0 (RFC 7643, 7644): how directories ask. What they may is `accounts/scim_people.py`."""
