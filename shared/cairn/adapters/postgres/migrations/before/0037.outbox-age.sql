-- How long work waits, of all workspaces: a topic and a time come back, and nobody's ids.
-- depends: 0036.ledger-head

GRANT SELECT (error) ON outbox TO cairn_finder;
GRANT CREATE ON SCHEMA public TO cairn_finder;

-- The oldest row that nobody took: never sent, or of a topic whose worker ends its row at once. Work
-- that failed says so itself, and what a machine is at has the machine's own time.
CREATE FUNCTION oldest_outbox_row(prompt text[]) RETURNS TABLE (topic text, created_at timestamptz)
  LANGUAGE sql STABLE SECURITY DEFINER
  SET search_path = pg_catalog, public, pg_temp
AS $$
  SELECT o.topic, o.created_at FROM outbox o
   WHERE o.error IS NULL AND (o.sent_at IS NULL OR o.topic = ANY (prompt))
   ORDER BY o.created_at LIMIT 1
$$;
REVOKE ALL ON FUNCTION oldest_outbox_row(text[]) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION oldest_outbox_row(text[]) TO cairn_app;
ALTER FUNCTION oldest_outbox_row(text[]) OWNER TO cairn_finder;
REVOKE CREATE ON SCHEMA public FROM cairn_finder;
