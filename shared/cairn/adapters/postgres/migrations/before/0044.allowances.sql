-- What a workspace may ask in a minute, counted where all of its processes see it.
-- depends: 0043.edge-triggers

GRANT CREATE ON SCHEMA public TO cairn_finder;

-- Who holds a key, what is left of its requests (as `admit` says, which the last release asks), and
-- whether the workspace may ask for so much: `asked` of each kind, of which `allowed` may be asked in
-- a minute. What is left of a kind may be overdrawn by one request; the next ones are `refused`, by
-- the number of the kind, until `seconds` have passed, and take nothing.
-- The buckets stand beside those of keys, each under the number of its kind for an id.
CREATE FUNCTION admit_request(
  key_prefix text, hash bytea, moment timestamptz, requests double precision,
  asked double precision[], allowed double precision[]
) RETURNS TABLE (workspace_id uuid, principal_id uuid, key_id uuid, name text, role text,
    agent_slug text, allowed_scopes text[], tools text[], remaining double precision,
    refused integer, seconds double precision)
  LANGUAGE plpgsql VOLATILE SECURITY DEFINER
  SET search_path = pg_catalog, public, pg_temp
AS $$
#variable_conflict use_column
DECLARE
  who record;
  kind record;
  short integer;
  wait double precision;
BEGIN
  PERFORM set_config('synchronous_commit', 'off', true);
  SELECT * INTO who FROM admit(key_prefix, hash, moment, requests, requests / 60);
  IF NOT FOUND THEN
    RETURN;
  END IF;
  IF who.remaining >= 0 THEN
    SELECT level.number, (1 - level.tokens) * 60 / level.allowed INTO short, wait
      FROM (SELECT w.number, w.allowed, held.tokens
              + greatest(0, extract(epoch FROM moment - held.refilled_at)) * w.allowed / 60 AS tokens
              FROM unnest(asked, allowed) WITH ORDINALITY AS w(asked, allowed, number)
              JOIN rate_limit held ON held.workspace_id = who.workspace_id
                AND held.key_id = lpad(to_hex(w.number), 32, '0')::uuid
             WHERE w.asked > 0) AS level
     WHERE level.tokens <= 0
     ORDER BY 2 DESC LIMIT 1;
    IF short IS NULL THEN
      -- in the order of their numbers, so that two requests never wait for each other
      FOR kind IN
        SELECT w.asked, w.allowed, lpad(to_hex(w.number), 32, '0')::uuid AS id
          FROM unnest(asked, allowed) WITH ORDINALITY AS w(asked, allowed, number)
         WHERE w.asked > 0 ORDER BY w.number
      LOOP
        INSERT INTO rate_limit AS held (workspace_id, key_id, tokens, refilled_at)
        VALUES (who.workspace_id, kind.id, kind.allowed - kind.asked, moment)
        ON CONFLICT (workspace_id, key_id) DO UPDATE
          SET tokens = least(kind.allowed, held.tokens
                + greatest(0, extract(epoch FROM moment - held.refilled_at)) * kind.allowed / 60)
                - kind.asked,
              refilled_at = greatest(held.refilled_at, moment);
      END LOOP;
    END IF;
  END IF;
  RETURN QUERY SELECT who.workspace_id, who.principal_id, who.key_id, who.name, who.role,
    who.agent_slug, who.allowed_scopes, who.tools, who.remaining, short, wait;
END
$$;
REVOKE ALL ON FUNCTION admit_request(
  text, bytea, timestamptz, double precision, double precision[], double precision[]) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION admit_request(
  text, bytea, timestamptz, double precision, double precision[], double precision[]) TO cairn_app;
ALTER FUNCTION admit_request(
  text, bytea, timestamptz, double precision, double precision[], double precision[])
  OWNER TO cairn_finder;
REVOKE CREATE ON SCHEMA public FROM cairn_finder;
