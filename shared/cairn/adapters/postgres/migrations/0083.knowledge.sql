-- What an agent is given before it asks: snapshots by the ids of their nodes, and who has no more.
-- depends: 0082.feeds

ALTER TABLE agent ADD COLUMN live_memory boolean NOT NULL DEFAULT true;

CREATE TABLE agent_snapshot (
  workspace_id uuid NOT NULL REFERENCES workspace (id),
  agent text NOT NULL,
  version integer NOT NULL CHECK (version > 0),
  node_ids uuid[] NOT NULL, -- what they say is read when the snapshot is
  summarised boolean NOT NULL, -- it is shown by its summary
  max_chars integer NOT NULL CHECK (max_chars > 0),
  position bigint NOT NULL, -- of the entry that says it was baked
  baked_at timestamptz NOT NULL,
  checked_at timestamptz NOT NULL, -- when a schedule last compared it with what it would hold
  PRIMARY KEY (workspace_id, agent, version)
);
ALTER TABLE agent_snapshot ENABLE ROW LEVEL SECURITY;
ALTER TABLE agent_snapshot FORCE ROW LEVEL SECURITY;
CREATE POLICY migrator ON agent_snapshot TO cairn_migrator USING (true) WITH CHECK (true);
CREATE POLICY tenant ON agent_snapshot TO cairn_app
  USING (workspace_id = nullif(current_setting('cairn.workspace_id', true), '')::uuid)
  WITH CHECK (workspace_id = nullif(current_setting('cairn.workspace_id', true), '')::uuid);
GRANT SELECT, INSERT, UPDATE (checked_at), DELETE ON agent_snapshot TO cairn_app;
GRANT SELECT, INSERT, UPDATE, DELETE ON agent_snapshot TO cairn_migrator;

-- As before; `barred` says `snapshot` of an agent that has nothing but what it was given.
GRANT CREATE ON SCHEMA public TO cairn_finder;
SET ROLE cairn_finder;
CREATE OR REPLACE FUNCTION admit_caller(
  key_prefix text, hash bytea, moment timestamptz, requests double precision,
  asked double precision[], allowed double precision[]
) RETURNS TABLE (workspace_id uuid, principal_id uuid, key_id uuid, name text, role text,
    agent_slug text, allowed_scopes text[], tools text[], client_id text, agent text,
    agent_tools text[], edition text, barred text, rate double precision,
    remaining double precision, refused integer, seconds double precision)
  LANGUAGE plpgsql VOLATILE SECURITY DEFINER
  SET search_path = pg_catalog, public, pg_temp
AS $$
#variable_conflict use_column
DECLARE
  own double precision;
BEGIN
  SELECT least(requests, g.requests_a_minute) INTO own
    FROM api_key k
    JOIN principal p ON p.workspace_id = k.workspace_id AND p.id = k.principal_id
    LEFT JOIN agent g ON g.workspace_id = p.workspace_id
      AND g.slug = coalesce(p.agent, p.agent_slug)
   WHERE k.prefix = key_prefix;
  own := coalesce(own, requests);
  RETURN QUERY
    SELECT a.workspace_id, a.principal_id, a.key_id, a.name, a.role, a.agent_slug,
      CASE WHEN g.slug IS NULL THEN a.allowed_scopes
        ELSE ARRAY(SELECT unnest(a.allowed_scopes) INTERSECT SELECT unnest(g.scopes)) END,
      a.tools, p.client_id, g.slug, g.tools, g.edition,
      CASE WHEN g.disabled IS NOT NULL THEN 'disabled'
        WHEN g.slug IS NULL AND a.role = 'agent' AND a.agent_slug IS NULL AND NOT p.of_person
          THEN 'unregistered'
        WHEN NOT g.live_memory THEN 'snapshot' END,
      own, a.remaining, a.refused, a.seconds
      FROM admit_request(key_prefix, hash, moment, own, asked, allowed) AS a
      JOIN principal p ON p.workspace_id = a.workspace_id AND p.id = a.principal_id
      LEFT JOIN agent g ON g.workspace_id = p.workspace_id
        AND g.slug = coalesce(p.agent, p.agent_slug);
END
$$;
RESET ROLE;
REVOKE CREATE ON SCHEMA public FROM cairn_finder;
