"""Messaging channels, such as Slack: people chat with the agent there, operators decide and answer.

`port.py` is what a kind of channel has to do, `keep.py` an admin's work. Not a kind's HTTP
(`adapters.http`), nor what is answered: that is any chat's.
"""
