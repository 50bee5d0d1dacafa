-- Calls that agents make over MCP and HTTP are kept beside those of investigations, and found by
-- their session. They belong to nobody's ticket; whose key made them is said.
-- depends: 0038.tool-call-principal

ALTER TABLE tool_call ALTER COLUMN investigation_id DROP NOT NULL;
ALTER TABLE tool_call ADD CONSTRAINT tool_call_made_by
  CHECK (investigation_id IS NOT NULL OR principal_id IS NOT NULL);
