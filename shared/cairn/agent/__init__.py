"""Investigations: what an agent does with a ticket, step by step.

The use cases, and who calls them. All take ids and return where the investigation is (`Present`).

running.RunStep          (workspace_id, investigation_id, *, state, run)   every state but the ends
resume.Enter             (workspace_id, investigation_id, *, run)          the machine's first state
waiting.Wait             (workspace_id, investigation_id, *, token)        WAITING_APPROVAL
waiting.Expire           (workspace_id, investigation_id)                  its time ran out
closing.Close            (workspace_id, investigation_id)                  DONE and HALTED
closing.Halt             (workspace_id, investigation_id, *, error, cause) what a step could not do
resume.ExecutionEnded    (workspace_id, investigation_id, *, run, status)  the machine's own event
resume.Resume            .one(principal, id), .stale(principal)            a restart
admission.Admit          (workspace_id)                                    who is next
admission.Start          (principal, ticket_id)                            a person asks for it
approvals.Approvals      .get .approve .reject .edit                       a person decides
loop.Loop                (workspace_id, investigation_id)                  the same steps in process

`running.execution_name(investigation_id, run)` is the name of an execution: one run, one execution.
An outbox row of the topic INVESTIGATION has the investigation as its `reference` and the run as its
`batch`; one of the topic APPROVAL has the approval as its `reference`: the machine is answered
`{"state": ...}` with the present state of its investigation.
"""
