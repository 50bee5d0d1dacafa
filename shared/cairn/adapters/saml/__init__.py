"""SAML 2.0 as a service provider speaks it: metadata, requests, and answers that hold.

Not who may sign in (`accounts/admission.py`). Loads lxml and signxml.
"""
