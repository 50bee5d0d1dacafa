"""Keeping agents safe from what they read and do. Not access control: that is the database's.

What others build on, and where it stands:

policy.Policies          (workspace_id) -> Policy: autonomy, scopes text, manifest by connector
scope_text.parse_scopes  (text, connector=...) -> Scopes, or ValidationFailed naming the place
rules.decide             (tool, autonomy, scope's answer) -> outcome and reason; pure
pipeline.Pipeline        .check(Attempt) in SAFETY_CHECK, .perform(Attempt, begin, call, audit) in
                         ACTING, .rehearse(Attempt, call) for what an approver is shown
approval.binding         what a person says yes to; approval.PersonApproval is the yes
approval.digest          the same tool and arguments, whenever
grants.Grant, .covers    standing grants; lifecycle.grants makes, lists, revokes and counts them
redaction.redact         (value, vault, kinds) for what comes from outside
redaction.redact_written the same for what was written over redacted text: placeholders stay
redaction.restore        (value, vault) right before a call or a write-back
profiles.kinds_of        (workspace's profile, persona's profile) -> kinds
"""
