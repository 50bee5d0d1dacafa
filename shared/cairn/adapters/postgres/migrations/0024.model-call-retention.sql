-- Calls of chat models leave after a while; the sums of each day stay.
-- depends: 0015.model-calls

-- Nothing asks for a workspace's calls by time; dropping asks for everybody's.
DROP INDEX llm_call_started_at;
CREATE INDEX llm_call_started_at ON llm_call (started_at);

-- Calls of every workspace from before a moment, the oldest first, at most `most`. Never of the last
-- day: the budget of a run is counted from them.
CREATE FUNCTION drop_model_calls(before timestamptz, most integer) RETURNS bigint
  LANGUAGE sql VOLATILE STRICT SECURITY DEFINER
  SET search_path = pg_catalog, public, pg_temp
AS $$
  WITH due AS (
    SELECT c.workspace_id, c.id FROM llm_call c
     WHERE c.started_at < least(before, now() - interval '1 day')
     ORDER BY c.started_at LIMIT most
  ), gone AS (
    DELETE FROM llm_call c USING due
     WHERE c.workspace_id = due.workspace_id AND c.id = due.id RETURNING 1
  )
  SELECT count(*) FROM gone
$$;

GRANT SELECT (workspace_id, id, started_at), DELETE ON llm_call TO cairn_finder;
CREATE POLICY finder ON llm_call TO cairn_finder USING (true);
GRANT CREATE ON SCHEMA public TO cairn_finder;
REVOKE ALL ON FUNCTION drop_model_calls(timestamptz, integer) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION drop_model_calls(timestamptz, integer) TO cairn_app;
ALTER FUNCTION drop_model_calls(timestamptz, integer) OWNER TO cairn_finder;
REVOKE CREATE ON SCHEMA public FROM cairn_finder;
