"""Cairn as a client of other people's OAuth: device codes (RFC 8628), and the tokens they give.

What signs in is a holder, a connector or a ticket source. Not how people sign in to Cairn.
"""
