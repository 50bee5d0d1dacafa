"""Investigations: what an agent does with a ticket, step by step.

`run`: admitted, run step by step, resumed, ended. `steps`: what each state does. `planning`: who
decides the next step. `approvals`: questions to people. `people`: calls of people, and learning.
An execution is named after the investigation and its run. An outbox row of the topic INVESTIGATION
has the investigation as its `reference` and the run as its `batch`; one of the topic APPROVAL has
the approval: the machine is answered `{"state": ...}` with its investigation's present state.
"""
