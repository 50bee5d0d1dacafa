-- How long a search can be explained: what is old and has been counted is forgotten.
-- depends: 0013.walks

-- Searches of every workspace before a moment, the oldest first, at most `most` of them. One whose
-- results are still to be counted stays, and so does any of the last day, whatever moment is given.
-- Says how many went.
CREATE FUNCTION drop_search_runs(before timestamptz, most integer) RETURNS bigint
  LANGUAGE sql VOLATILE STRICT SECURITY DEFINER
  SET search_path = pg_catalog, public, pg_temp
AS $$
  WITH due AS (
    SELECT r.workspace_id, r.id FROM search_run r
     WHERE r.recorded_at < least(before, now() - interval '1 day')
       AND (r.counted_position IS NOT NULL OR NOT r.counts_as_access)
     ORDER BY r.recorded_at LIMIT most
  ), gone AS (
    DELETE FROM search_run r USING due
     WHERE r.workspace_id = due.workspace_id AND r.id = due.id RETURNING 1
  )
  SELECT count(*) FROM gone
$$;

GRANT SELECT (workspace_id, id, recorded_at, counts_as_access, counted_position), DELETE
  ON search_run TO cairn_finder;
CREATE POLICY finder ON search_run TO cairn_finder USING (true);
GRANT CREATE ON SCHEMA public TO cairn_finder;
REVOKE ALL ON FUNCTION drop_search_runs(timestamptz, integer) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION drop_search_runs(timestamptz, integer) TO cairn_app;
ALTER FUNCTION drop_search_runs(timestamptz, integer) OWNER TO cairn_finder;
REVOKE CREATE ON SCHEMA public FROM cairn_finder;
