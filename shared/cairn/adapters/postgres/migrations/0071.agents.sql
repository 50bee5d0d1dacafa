-- Registered agents: who they are, what they may reach, and whose keys are theirs.
-- depends: 0070.namespace-indexes

CREATE TABLE agent (
  workspace_id uuid NOT NULL REFERENCES workspace (id),
  slug text NOT NULL CHECK (slug ~ '^[a-z0-9][a-z0-9._-]{0,63}$'),
  id uuid NOT NULL, -- what the ledger calls it
  version integer NOT NULL DEFAULT 1 CHECK (version > 0),
  name text NOT NULL CHECK (length(name) BETWEEN 1 AND 256),
  owner text CHECK (length(owner) BETWEEN 1 AND 256), -- gone when its data subject is forgotten
  owner_subject uuid,
  description text NOT NULL DEFAULT '' CHECK (length(description) <= 2000),
  specialists text[] NOT NULL DEFAULT '{}', -- slugs of agents that it may hand work to
  persona text NOT NULL DEFAULT 'default',
  edition text NOT NULL DEFAULT '' CHECK (length(edition) <= 64), -- '' is offered in every one
  tools text[], -- null is all that its key's role has
  scopes text[] NOT NULL
    CHECK (scopes <@ ARRAY['public', 'shared', 'admin'] AND cardinality(scopes) > 0),
  requests_a_minute integer CHECK (requests_a_minute BETWEEN 1 AND 6000), -- of each of its keys
  -- null <-> by-admin | tool-drift: an admin enables it again
  disabled text CHECK (disabled IN ('by-admin', 'tool-drift')),
  joined boolean NOT NULL DEFAULT false, -- it registered itself
  registered_at timestamptz NOT NULL,
  changed_at timestamptz NOT NULL,
  PRIMARY KEY (workspace_id, slug)
);

ALTER TABLE agent ENABLE ROW LEVEL SECURITY;
ALTER TABLE agent FORCE ROW LEVEL SECURITY;
CREATE POLICY migrator ON agent TO cairn_migrator USING (true) WITH CHECK (true);
CREATE POLICY tenant ON agent TO cairn_app
  USING (workspace_id = nullif(current_setting('cairn.workspace_id', true), '')::uuid)
  WITH CHECK (workspace_id = nullif(current_setting('cairn.workspace_id', true), '')::uuid);
CREATE POLICY finder ON agent TO cairn_finder USING (true);
GRANT SELECT, INSERT, UPDATE ON agent TO cairn_app;
GRANT SELECT, INSERT, UPDATE, DELETE ON agent TO cairn_migrator;
GRANT SELECT ON agent TO cairn_finder;

-- Whose a key is: an agent's, a person's, or nobody's that is known yet. Keys held so far go on.
ALTER TABLE principal ADD COLUMN agent text,
  ADD COLUMN of_person boolean NOT NULL DEFAULT false,
  ADD CONSTRAINT principal_agent CHECK (agent_slug IS NULL OR agent IS NULL OR agent = agent_slug);
GRANT UPDATE (agent) ON principal TO cairn_app;

SET LOCAL ROLE cairn_migrator;
UPDATE principal SET agent = agent_slug, of_person = (agent_slug IS NULL);
INSERT INTO agent (workspace_id, slug, id, name, scopes, registered_at, changed_at)
SELECT used.workspace_id, used.slug, gen_random_uuid(), used.slug, '{admin,public,shared}', now(), now()
  FROM (SELECT workspace_id, agent_slug AS slug FROM principal
        UNION SELECT workspace_id, agent_slug FROM subscription
        UNION SELECT n.workspace_id, tagged FROM node n, unnest(n.agents) AS tagged) AS used
 WHERE used.slug ~ '^[a-z0-9][a-z0-9._-]{0,63}$';
RESET ROLE;

-- Who a key's holder is now, and what the registered agent that it belongs to may do; the last
-- release asks `admit_call`. `barred` says why it may do nothing, or little.
CREATE FUNCTION admit_caller(
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
          THEN 'unregistered' END,
      own, a.remaining, a.refused, a.seconds
      FROM admit_request(key_prefix, hash, moment, own, asked, allowed) AS a
      JOIN principal p ON p.workspace_id = a.workspace_id AND p.id = a.principal_id
      LEFT JOIN agent g ON g.workspace_id = p.workspace_id
        AND g.slug = coalesce(p.agent, p.agent_slug);
END
$$;
GRANT CREATE ON SCHEMA public TO cairn_finder;
REVOKE ALL ON FUNCTION admit_caller(text, bytea, timestamptz, double precision, double precision[],
  double precision[]) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION admit_caller(text, bytea, timestamptz, double precision,
  double precision[], double precision[]) TO cairn_app;
ALTER FUNCTION admit_caller(text, bytea, timestamptz, double precision, double precision[],
  double precision[]) OWNER TO cairn_finder;
REVOKE CREATE ON SCHEMA public FROM cairn_finder;
