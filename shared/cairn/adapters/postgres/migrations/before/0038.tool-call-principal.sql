-- Calls of tools by the key that made them: the index of the column that 0035 adds.
-- depends: 0037.outbox-age
-- transactional: false

CREATE INDEX CONCURRENTLY IF NOT EXISTS tool_call_principal
  ON tool_call (workspace_id, principal_id, id DESC) WHERE principal_id IS NOT NULL;
