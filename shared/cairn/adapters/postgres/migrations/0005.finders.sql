-- The candidate functions: the only way to the full-text and vector indexes, since a predicate that
-- is not leakproof cannot use an index under row level security. They read workspace, scopes and
-- agent from the transaction's settings, never from an argument, and return ids and scores only.
-- depends: 0004.tenancy

-- pg_temp stands last in their search paths: unnamed, it would be searched first.
-- The agent guard of searches is strict: a key bound to an agent finds what is tagged for it.
-- Its nodes are read back under row level security, so a mistake here still leaks nothing.

CREATE FUNCTION find_by_keyword(
  terms text[], wanted integer, labels text[], kinds text[], client text, only_scopes text[],
  occurred_from timestamptz, occurred_to timestamptz, valid_at timestamptz,
  include_superseded boolean
) RETURNS TABLE (node_id uuid, score real)
  LANGUAGE plpgsql STABLE SECURITY DEFINER
  SET search_path = pg_catalog, public, pg_temp
  SET plan_cache_mode = force_custom_plan
AS $$
DECLARE
  workspace uuid := current_workspace();
  scopes text[] := current_scopes();
  agent text := current_agent();
  asked tsquery;
BEGIN
  SELECT string_agg(lexemes::text, ' | ')::tsquery INTO asked
    FROM unnest(terms) AS term, plainto_tsquery('english', term) AS lexemes
   WHERE lexemes::text <> '';
  IF workspace IS NULL OR scopes IS NULL OR asked IS NULL THEN
    RETURN;
  END IF;
  RETURN QUERY
    SELECT n.id, ts_rank('{0.0, 0.0, 0.6, 1.0}', n.search_tsv, asked) AS rank
      FROM node n
     WHERE n.workspace_id = workspace
       AND n.search_tsv @@ asked
       AND n.scope = ANY (scopes)
       AND (agent IS NULL OR agent = ANY (n.agents))
       AND (n.state IN ('active', 'provisional')
         OR n.state = 'superseded' AND (include_superseded OR valid_at IS NOT NULL))
       AND (labels IS NULL OR n.label = ANY (labels))
       AND (kinds IS NULL OR n.kind = ANY (kinds))
       AND (client IS NULL OR n.client_id = client)
       AND (only_scopes IS NULL OR n.scope = ANY (only_scopes))
       AND (find_by_keyword.occurred_from IS NULL OR n.occurred_at >= find_by_keyword.occurred_from)
       AND (find_by_keyword.occurred_to IS NULL OR n.occurred_at < find_by_keyword.occurred_to)
       AND (find_by_keyword.valid_at IS NULL
         OR n.valid_from <= find_by_keyword.valid_at
            AND find_by_keyword.valid_at < coalesce(n.valid_to, 'infinity'))
     ORDER BY rank DESC, n.id
     LIMIT wanted;
END
$$;

-- hnsw.* may be set on a function only once the library that defines it is loaded.
DO $$ BEGIN PERFORM '[1]'::vector; END $$;

-- Dynamic, because an expression index needs the dimensions as a literal. Approximate order from
-- the index, exact order in what is returned.
CREATE FUNCTION find_by_vector(
  asked halfvec, model smallint, minimum real, wanted integer, labels text[], kinds text[],
  client text, only_scopes text[], occurred_from timestamptz, occurred_to timestamptz,
  valid_at timestamptz, include_superseded boolean
) RETURNS TABLE (node_id uuid, score real)
  LANGUAGE plpgsql STABLE SECURITY DEFINER
  SET search_path = pg_catalog, public, pg_temp
  SET hnsw.ef_search = 100
  SET hnsw.iterative_scan = relaxed_order
AS $$
DECLARE
  dimensions integer;
  reach integer := wanted; -- rows to read: a long text has several, so it may take more than wanted
  nodes uuid[];
  similarities double precision[];
  rows_read bigint;
  furthest double precision;
BEGIN
  SELECT m.dimensions INTO dimensions FROM embedding_model m WHERE m.id = model;
  IF current_workspace() IS NULL OR current_scopes() IS NULL OR dimensions IS NULL THEN
    RETURN;
  END IF;
  LOOP
    EXECUTE format($query$
    WITH near AS MATERIALIZED (
      SELECT e.node_id, (e.v::halfvec(%1$s) <=> $1::halfvec(%1$s)) AS distance
        FROM embedding e
       WHERE e.workspace_id = $2
         AND e.model_id = %2$s
         AND e.scope = ANY ($3)
         AND ($4 IS NULL OR $4 = ANY (e.agents))
         AND (e.state IN ('active', 'provisional')
           OR e.state = 'superseded' AND ($11 OR $12 IS NOT NULL))
         AND ($6 IS NULL OR e.label = ANY ($6))
         AND ($7 IS NULL OR e.kind = ANY ($7))
         AND ($8 IS NULL OR e.client_id = $8)
         AND ($13 IS NULL OR e.scope = ANY ($13))
         AND ($9 IS NULL OR e.occurred_at >= $9)
         AND ($10 IS NULL OR e.occurred_at < $10)
         AND ($12 IS NULL OR e.valid_from <= $12 AND $12 < coalesce(e.valid_to, 'infinity'))
       ORDER BY e.v::halfvec(%1$s) <=> $1::halfvec(%1$s)
       LIMIT $5
    )
    SELECT array_agg(best.node_id ORDER BY best.distance, best.node_id),
           array_agg(1 - best.distance ORDER BY best.distance, best.node_id),
           (SELECT count(*) FROM near),
           (SELECT max(near.distance) FROM near)
      FROM (SELECT near.node_id, min(near.distance) AS distance FROM near GROUP BY near.node_id) AS best
    $query$, dimensions, model)
    INTO nodes, similarities, rows_read, furthest
    USING asked, current_workspace(), current_scopes(), current_agent(), reach, labels, kinds, client,
      occurred_from, occurred_to, include_superseded, valid_at, only_scopes;
    EXIT WHEN coalesce(cardinality(nodes), 0) >= wanted OR rows_read < reach
      OR furthest > 1 - minimum OR reach >= 16 * wanted;
    reach := 4 * reach;
  END LOOP;
  RETURN QUERY
    SELECT found.node_id, found.similarity::real
      FROM unnest(nodes, similarities) AS found (node_id, similarity)
     WHERE found.similarity >= minimum
     LIMIT wanted;
END
$$;

-- The same two over the past: versions as they stood at a ledger position, scanned exactly.
CREATE FUNCTION find_by_keyword_as_of(
  as_of bigint, terms text[], wanted integer, labels text[], kinds text[], client text,
  only_scopes text[], occurred_from timestamptz, occurred_to timestamptz, valid_at timestamptz,
  include_superseded boolean
) RETURNS TABLE (node_id uuid, score real)
  LANGUAGE plpgsql STABLE SECURITY DEFINER
  SET search_path = pg_catalog, public, pg_temp
  SET plan_cache_mode = force_custom_plan
AS $$
DECLARE
  workspace uuid := current_workspace();
  scopes text[] := current_scopes();
  agent text := current_agent();
  asked tsquery;
BEGIN
  SELECT string_agg(lexemes::text, ' | ')::tsquery INTO asked
    FROM unnest(terms) AS term, plainto_tsquery('english', term) AS lexemes
   WHERE lexemes::text <> '';
  IF workspace IS NULL OR scopes IS NULL OR asked IS NULL THEN
    RETURN;
  END IF;
  RETURN QUERY
    SELECT n.id, ts_rank('{0.0, 0.0, 0.6, 1.0}', n.search_tsv, asked) AS rank
      FROM node_version n
     WHERE n.workspace_id = workspace
       AND n.from_position <= as_of AND as_of < coalesce(n.to_position, 9223372036854775807)
       AND n.search_tsv @@ asked
       AND n.scope = ANY (scopes)
       AND (agent IS NULL OR agent = ANY (n.agents))
       AND (n.state IN ('active', 'provisional')
         OR n.state = 'superseded' AND (include_superseded OR valid_at IS NOT NULL))
       AND (labels IS NULL OR n.label = ANY (labels))
       AND (kinds IS NULL OR n.kind = ANY (kinds))
       AND (client IS NULL OR n.client_id = client)
       AND (only_scopes IS NULL OR n.scope = ANY (only_scopes))
       AND (find_by_keyword_as_of.occurred_from IS NULL
         OR n.occurred_at >= find_by_keyword_as_of.occurred_from)
       AND (find_by_keyword_as_of.occurred_to IS NULL
         OR n.occurred_at < find_by_keyword_as_of.occurred_to)
       AND (find_by_keyword_as_of.valid_at IS NULL
         OR n.valid_from <= find_by_keyword_as_of.valid_at
            AND find_by_keyword_as_of.valid_at < coalesce(n.valid_to, 'infinity'))
     ORDER BY rank DESC, n.id
     LIMIT wanted;
END
$$;

CREATE FUNCTION find_by_vector_as_of(
  as_of bigint, asked halfvec, model smallint, minimum real, wanted integer, labels text[],
  kinds text[], client text, only_scopes text[], occurred_from timestamptz, occurred_to timestamptz,
  valid_at timestamptz, include_superseded boolean
) RETURNS TABLE (node_id uuid, score real)
  LANGUAGE plpgsql STABLE SECURITY DEFINER
  SET search_path = pg_catalog, public, pg_temp
  SET plan_cache_mode = force_custom_plan
AS $$
DECLARE
  workspace uuid := current_workspace();
  scopes text[] := current_scopes();
  agent text := current_agent();
BEGIN
  IF workspace IS NULL OR scopes IS NULL THEN
    RETURN;
  END IF;
  RETURN QUERY
    SELECT n.id, (1 - min(e.v <=> asked))::real AS similarity
      FROM node_version n
      JOIN embedding e ON e.workspace_id = workspace AND e.node_id = n.id AND e.model_id = model
     WHERE n.workspace_id = workspace
       AND n.from_position <= as_of AND as_of < coalesce(n.to_position, 9223372036854775807)
       AND n.scope = ANY (scopes)
       AND (agent IS NULL OR agent = ANY (n.agents))
       AND (n.state IN ('active', 'provisional')
         OR n.state = 'superseded' AND (include_superseded OR valid_at IS NOT NULL))
       AND (labels IS NULL OR n.label = ANY (labels))
       AND (kinds IS NULL OR n.kind = ANY (kinds))
       AND (client IS NULL OR n.client_id = client)
       AND (only_scopes IS NULL OR n.scope = ANY (only_scopes))
       AND (find_by_vector_as_of.occurred_from IS NULL
         OR n.occurred_at >= find_by_vector_as_of.occurred_from)
       AND (find_by_vector_as_of.occurred_to IS NULL
         OR n.occurred_at < find_by_vector_as_of.occurred_to)
       AND (find_by_vector_as_of.valid_at IS NULL
         OR n.valid_from <= find_by_vector_as_of.valid_at
            AND find_by_vector_as_of.valid_at < coalesce(n.valid_to, 'infinity'))
     GROUP BY n.id HAVING 1 - min(e.v <=> asked) >= minimum
     ORDER BY similarity DESC, n.id
     LIMIT wanted;
END
$$;

-- Work before or across workspaces. Each returns ids and what its name says, nothing else.
-- Who holds an API key that is good now, and what is left in its bucket once this request took its
-- token: below zero, the request may not run. The bucket may be lost in a crash, so its commit does
-- not wait for the disk.
CREATE FUNCTION admit(
  key_prefix text, hash bytea, moment timestamptz, bucket double precision,
  per_second double precision
) RETURNS TABLE (workspace_id uuid, principal_id uuid, key_id uuid, name text, role text,
    agent_slug text, allowed_scopes text[], tools text[], remaining double precision)
  LANGUAGE plpgsql VOLATILE SECURITY DEFINER
  SET search_path = pg_catalog, public, pg_temp
AS $$
#variable_conflict use_column
BEGIN
  PERFORM set_config('synchronous_commit', 'off', true);
  RETURN QUERY
    WITH good AS (
      SELECT k.workspace_id, p.id AS principal_id, k.id AS key_id, p.name, p.role, p.agent_slug,
        p.allowed_scopes, p.tools
        FROM api_key k
        JOIN principal p ON p.workspace_id = k.workspace_id AND p.id = k.principal_id
       WHERE k.prefix = key_prefix
         AND k.secret_hash = hash
         AND k.revoked_at IS NULL
         AND (k.expires_at IS NULL OR k.expires_at > moment)
    ), taken AS (
      INSERT INTO rate_limit AS held (workspace_id, key_id, tokens, refilled_at)
      SELECT good.workspace_id, good.key_id, bucket - 1, moment FROM good
      ON CONFLICT (workspace_id, key_id) DO UPDATE
        -- refilled by the time passed, less one; what a refused request leaves is below zero by
        -- as much as lacks to a whole token, and gets its token back here
        SET tokens = least(bucket, held.tokens + CASE WHEN held.tokens < 0 THEN 1 ELSE 0 END
              + greatest(0, extract(epoch FROM moment - held.refilled_at)) * per_second) - 1,
            refilled_at = greatest(held.refilled_at, moment)
      RETURNING held.tokens
    )
    SELECT good.*, taken.tokens FROM good, taken;
END
$$;

CREATE FUNCTION list_workspaces() RETURNS TABLE (workspace_id uuid)
  LANGUAGE sql STABLE SECURITY DEFINER
  SET search_path = pg_catalog, public, pg_temp
AS $$ SELECT id FROM workspace ORDER BY id $$;

-- Rows never sent, or sent before `stale` and not finished (a machine may take an hour longer): each
-- is handed to one caller. What keeps failing comes back ever more rarely, once a day in the end, so
-- that it does not fill the dead letters; it never stops, so that nothing is lost.
CREATE FUNCTION claim_outbox(wanted integer, stale timestamptz, moment timestamptz)
  RETURNS TABLE (workspace_id uuid, id uuid, topic text, node_ids uuid[], reference uuid,
    "position" bigint, attempts smallint)
  LANGUAGE sql VOLATILE SECURITY DEFINER
  SET search_path = pg_catalog, public, pg_temp
AS $$
  UPDATE outbox o SET sent_at = moment, attempts = o.attempts + 1
    FROM (SELECT c.workspace_id, c.id FROM outbox c
           WHERE c.sent_at IS NULL
              OR c.sent_at < stale - least(c.attempts, 24) * interval '1 hour'
                               - CASE c.topic WHEN 'ingestion' THEN interval '1 hour'
                                              ELSE interval '0' END
           ORDER BY c.created_at LIMIT wanted FOR UPDATE SKIP LOCKED) AS due
   WHERE o.workspace_id = due.workspace_id AND o.id = due.id
  RETURNING o.workspace_id, o.id, o.topic, o.node_ids, o.reference, o.position, o.attempts
$$;

-- Spend a first-run token, once, within its time, on a new workspace with an empty chain.
-- Says claimed, used, expired or unknown.
CREATE FUNCTION claim_workspace(hash bytea, moment timestamptz, workspace uuid, workspace_name text)
  RETURNS text
  LANGUAGE plpgsql VOLATILE SECURITY DEFINER
  SET search_path = pg_catalog, public, pg_temp
AS $$
DECLARE
  token claim%ROWTYPE;
BEGIN
  SELECT * INTO token FROM claim WHERE token_hash = hash FOR UPDATE;
  IF NOT FOUND THEN
    RETURN 'unknown';
  ELSIF token.used_at IS NOT NULL THEN
    RETURN 'used';
  ELSIF token.expires_at <= moment THEN
    RETURN 'expired';
  END IF;
  UPDATE claim SET used_at = moment WHERE id = token.id;
  INSERT INTO workspace (id, name, created_at) VALUES (workspace, workspace_name, moment);
  INSERT INTO ledger_head (workspace_id, position, hash, recorded_at)
  VALUES (workspace, 0, sha256(uuid_send(workspace)), '1970-01-01 00:00:00+00');
  RETURN 'claimed';
END
$$;

DO $$
DECLARE
  finder text;
BEGIN
  GRANT CREATE ON SCHEMA public TO cairn_finder;
  FOR finder IN
    SELECT p.oid::regprocedure::text FROM pg_proc p
     WHERE p.prosecdef AND p.pronamespace = 'public'::regnamespace
  LOOP
    -- before it changes hands: afterwards this role may grant nothing on it
    EXECUTE format('REVOKE ALL ON FUNCTION %s FROM PUBLIC', finder);
    EXECUTE format('GRANT EXECUTE ON FUNCTION %s TO cairn_app', finder);
    EXECUTE format('ALTER FUNCTION %s OWNER TO cairn_finder', finder);
  END LOOP;
  REVOKE CREATE ON SCHEMA public FROM cairn_finder;
END
$$;
