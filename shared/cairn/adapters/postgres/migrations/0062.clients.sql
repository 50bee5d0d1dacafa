-- Keys bound to a client: whatever they ask, they see what is their client's, and shared knowledge.
-- depends: 0061.people

-- hnsw.* may be set on a function only once the library that defines it is loaded.
DO $$ BEGIN PERFORM '[1]'::vector; END $$;

ALTER TABLE principal ADD COLUMN client_id text CHECK (length(client_id) BETWEEN 1 AND 256);

-- Whom the running transaction is confined to; null: to nobody. '' is what a reused connection has, and
-- what the last release's code leaves.
CREATE FUNCTION current_client() RETURNS text
  LANGUAGE sql STABLE PARALLEL SAFE
  RETURN nullif(current_setting('cairn.client', true), '');

-- Shared knowledge is what somebody wrote down about nobody, in a scope wider than the workspace's own. What
-- was drawn from texts, entities above all, may name other clients.
DO $$
DECLARE
  name text;
BEGIN
  FOREACH name IN ARRAY ARRAY['node', 'node_version', 'embedding'] LOOP
    EXECUTE format($p$CREATE POLICY own_client ON %I AS RESTRICTIVE TO cairn_app
      USING ((SELECT current_client()) IS NULL OR client_id = (SELECT current_client())
        OR (client_id = 'global' AND scope IN ('public', 'shared')
          AND label IN ('Memory', 'Document', 'Section', 'Chunk')))$p$, name);
  END LOOP;
END
$$;
-- Nothing is written for another client, nor for everybody.
CREATE POLICY own_client_writes ON node AS RESTRICTIVE FOR INSERT TO cairn_app
  WITH CHECK ((SELECT current_client()) IS NULL OR client_id = (SELECT current_client()));

-- Whom a key is bound to; the last release asks `admit_request` alone.
CREATE FUNCTION admit_call(
  key_prefix text, hash bytea, moment timestamptz, requests double precision,
  asked double precision[], allowed double precision[]
) RETURNS TABLE (workspace_id uuid, principal_id uuid, key_id uuid, name text, role text,
    agent_slug text, allowed_scopes text[], tools text[], client_id text, remaining double precision,
    refused integer, seconds double precision)
  LANGUAGE plpgsql VOLATILE SECURITY DEFINER
  SET search_path = pg_catalog, public, pg_temp
AS $$
#variable_conflict use_column
BEGIN
  RETURN QUERY
    SELECT a.workspace_id, a.principal_id, a.key_id, a.name, a.role, a.agent_slug, a.allowed_scopes,
      a.tools, p.client_id, a.remaining, a.refused, a.seconds
      FROM admit_request(key_prefix, hash, moment, requests, asked, allowed) AS a
      JOIN principal p ON p.workspace_id = a.workspace_id AND p.id = a.principal_id;
END
$$;
GRANT CREATE ON SCHEMA public TO cairn_finder;
REVOKE ALL ON FUNCTION admit_call(text, bytea, timestamptz, double precision, double precision[],
  double precision[]) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION admit_call(text, bytea, timestamptz, double precision, double precision[],
  double precision[]) TO cairn_app;
ALTER FUNCTION admit_call(text, bytea, timestamptz, double precision, double precision[],
  double precision[]) OWNER TO cairn_finder;

-- What another client's rows say must not take the places of what is the asker's, nor count for its words.
SET ROLE cairn_finder;
DO $$
DECLARE
  finder regprocedure;
  was text;
  is_now text;
BEGIN
  FOR finder IN SELECT p.oid FROM pg_proc p
    WHERE p.pronamespace = 'public'::regnamespace AND p.proname ~ '^find_by_' LOOP
    was := pg_get_functiondef(finder);
    is_now := regexp_replace(was, '\m(\w+)\.scope = ANY \((\$3|scopes)\)',
      '\1.scope = ANY (\2)
       AND ((SELECT current_client()) IS NULL OR \1.client_id = (SELECT current_client())
         OR (\1.client_id = ''global'' AND \1.scope IN (''public'', ''shared'')
           AND \1.label IN (''Memory'', ''Document'', ''Section'', ''Chunk'')))', 'g');
    ASSERT is_now <> was, format('%s guards no scope', finder);
    EXECUTE is_now;
  END LOOP;
END
$$;
RESET ROLE;
REVOKE CREATE ON SCHEMA public FROM cairn_finder;
