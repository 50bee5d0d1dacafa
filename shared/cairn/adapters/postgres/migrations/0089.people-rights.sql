-- How many sign-ins an address may try, and what the roles of people may append of what came since.
-- depends: 0088.due-intents

-- Buckets of addresses stand beside those of keys, under no workspace: who signs in names none.
GRANT DELETE ON rate_limit TO cairn_finder;

-- Takes an attempt out of an address's bucket (`taken` 1) or gives it back (-1). Says how many seconds
-- to wait for the next, 0 where the attempt may be made. Buckets that are full again are taken away.
CREATE FUNCTION count_address(place uuid, moment timestamptz, bucket double precision,
    per_second double precision, taken double precision)
  RETURNS double precision LANGUAGE plpgsql VOLATILE SECURITY DEFINER
  SET search_path = pg_catalog, public, pg_temp
AS $$
DECLARE
  nobody CONSTANT uuid := '00000000-0000-0000-0000-000000000000';
  remaining double precision;
BEGIN
  DELETE FROM rate_limit WHERE ctid = ANY (ARRAY(
    SELECT r.ctid FROM rate_limit r
     WHERE r.workspace_id = nobody AND r.refilled_at < moment - make_interval(secs => bucket / per_second)
     LIMIT 10 FOR UPDATE SKIP LOCKED));
  INSERT INTO rate_limit AS held (workspace_id, key_id, tokens, refilled_at)
  VALUES (nobody, place, bucket - greatest(taken, 0), moment)
  ON CONFLICT (workspace_id, key_id) DO UPDATE
    -- a refused attempt took nothing: what it left below zero comes back here
    SET tokens = least(bucket, held.tokens + CASE WHEN held.tokens < 0 THEN 1 ELSE 0 END
          + greatest(0, extract(epoch FROM moment - held.refilled_at)) * per_second) - taken,
        refilled_at = greatest(held.refilled_at, moment)
  RETURNING held.tokens INTO remaining;
  RETURN CASE WHEN remaining < 0 THEN -remaining / per_second ELSE 0 END;
END
$$;
-- When each key of the workspace was used last, as its bucket says: lost in a crash, and no more exact
-- than a page needs.
CREATE FUNCTION key_uses() RETURNS TABLE (key_id uuid, used_at timestamptz)
  LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp
AS $$
SELECT r.key_id, r.refilled_at FROM rate_limit r
 WHERE r.workspace_id = nullif(current_setting('cairn.workspace_id', true), '')::uuid
$$;

REVOKE ALL ON FUNCTION key_uses() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION key_uses() TO cairn_app;
REVOKE ALL ON FUNCTION count_address(uuid, timestamptz, double precision, double precision,
  double precision) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION count_address(uuid, timestamptz, double precision, double precision,
  double precision) TO cairn_app;
GRANT CREATE ON SCHEMA public TO cairn_finder;
ALTER FUNCTION count_address(uuid, timestamptz, double precision, double precision,
  double precision) OWNER TO cairn_finder;
ALTER FUNCTION key_uses() OWNER TO cairn_finder;
REVOKE CREATE ON SCHEMA public FROM cairn_finder;

-- Operators do the daily work of discovery and of workflows too; what workflows are, and where
-- people are called, is for admins.
CREATE OR REPLACE FUNCTION person_may(entry_type text) RETURNS boolean LANGUAGE sql STABLE
  SET search_path = pg_catalog, public, pg_temp
AS $$
SELECT CASE current_person()
  WHEN '' THEN true
  WHEN 'owner' THEN true
  WHEN 'admin' THEN entry_type <> 'key.created'
  WHEN 'operator' THEN entry_type IN ('data_subject.registered', 'subscription.changed')
    OR split_part(entry_type, '.', 1) IN ('memory', 'node', 'edge', 'entity', 'event', 'message',
      'conversation', 'document', 'report', 'task', 'ticket', 'investigation', 'action', 'approval',
      'escalation', 'resolution', 'intent', 'premise', 'member', 'network', 'contact',
      'integration', 'opportunity', 'negotiation', 'workflow')
      AND entry_type NOT IN ('workflow.changed', 'escalation.channel_added',
        'escalation.channel_removed')
  WHEN 'reviewer' THEN entry_type IN ('data_subject.registered', 'memory.corrected', 'memory.pinned',
    'memory.withheld', 'memory.released')
  ELSE false
END $$;
