-- Calls of tools by the session they name.
-- depends: 0039.calls-of-agents
-- transactional: false

CREATE INDEX CONCURRENTLY IF NOT EXISTS tool_call_session
  ON tool_call (workspace_id, session_id, id DESC) WHERE session_id IS NOT NULL;
