-- An admin chooses the workspace's redaction profile: its settings are changed, nothing else of it.
-- depends: 0032.proposals

GRANT UPDATE (settings) ON workspace TO cairn_app;
