-- The candidate functions: the only way to the full-text and vector indexes, since a predicate that
-- is not leakproof cannot use an index under row level security. They read workspace, scopes and
-- agent from the transaction's settings, never from an argument, and return ids and scores only.
-- depends: 0048.documents-and-conversations
-- squashes: 0044.allowances

-- pg_temp stands last in their search paths: unnamed, it would be searched first.
-- The agent guard of searches is strict: a key bound to an agent finds what is tagged for it, one of no
-- agent what is tagged for nobody (no tags at all count as the tag '').
-- Their nodes are read back under row level security, so a mistake here still leaks nothing.

-- An entity's text is its name: it would stand before everything said about it. It is found by
-- keyword and vector when it is asked for by label, or when somebody wrote down what is true of it.
-- What was said in conversations has a search of its own, and summaries stand aside: both are found here
-- by label only. A search that looks at the past, by include_superseded or valid_at, finds what was
-- archived too.

-- The ranking both keyword functions run: `visible` is the rows they may return, with id and
-- search_tsv. A word weighs ln(1 + n / df), df of the n rows that have any of the words having it
-- (counted under the same guards, so nobody learns of rows they may not see). A row's score is the
-- share of the question's weight it has, each word by ts_rank: its own words (A) before those
-- around it (B), and more for further occurrences, ever less.
CREATE FUNCTION ranked_by_rarity(parts tsquery[], visible text) RETURNS text
  LANGUAGE sql IMMUTABLE
  SET search_path = pg_catalog, public, pg_temp
AS $$
  SELECT format($query$
    WITH found AS MATERIALIZED (
      SELECT n.id, %1$s FROM %2$s AND n.search_tsv @@ %3$L::tsquery
    ), weighed AS (
      SELECT %4$s FROM (SELECT count(*)::double precision AS n, %5$s FROM found) AS counted
    )
    SELECT found.id, ((%6$s) / (%7$s))::real AS score
      FROM found, weighed
     ORDER BY score DESC, found.id
     LIMIT $1$query$,
    string_agg(format('ts_rank(''{0.0, 0.0, 0.6, 1.0}'', n.search_tsv, %L::tsquery) AS r%s', part, i), ', '),
    visible,
    string_agg(part::text, ' | '),
    string_agg(format('ln(1 + n / greatest(df%1$s, 1)) AS w%1$s', i), ', '),
    string_agg(format('count(*) FILTER (WHERE r%1$s > 0) AS df%1$s', i), ', '),
    string_agg(format('w%1$s * r%1$s', i), ' + '),
    string_agg(format('w%s', i), ' + '))
    FROM unnest(parts) WITH ORDINALITY AS asked (part, i)
$$;

-- What a word means to the index, once each; words that are none (stop words) are left out.
CREATE FUNCTION lexemes_of(terms text[]) RETURNS tsquery[]
  LANGUAGE sql STABLE
  SET search_path = pg_catalog, public, pg_temp
AS $$
  SELECT array_agg(DISTINCT part) FROM unnest(terms) AS term, plainto_tsquery('english', term) AS part
   WHERE part::text <> ''
$$;

CREATE FUNCTION find_by_keyword(
  terms text[], wanted integer, labels text[], kinds text[], client text, only_scopes text[],
  occurred_from timestamptz, occurred_to timestamptz, valid_at timestamptz,
  include_superseded boolean
) RETURNS TABLE (node_id uuid, score real)
  LANGUAGE plpgsql STABLE SECURITY DEFINER
  SET search_path = pg_catalog, public, pg_temp
AS $$
DECLARE
  parts tsquery[] := lexemes_of(terms);
BEGIN
  IF current_workspace() IS NULL OR current_scopes() IS NULL OR parts IS NULL THEN
    RETURN;
  END IF;
  RETURN QUERY EXECUTE ranked_by_rarity(parts, $visible$node n
     WHERE n.workspace_id = $2
       AND n.scope = ANY ($3)
       AND ($4 IS NULL OR $4 = ANY (coalesce(n.agents, '{""}')))
       AND (n.state IN ('active', 'provisional') OR n.state IN ('superseded', 'archived') AND ($5 OR $6 IS NOT NULL))
       AND (n.label <> 'Entity' OR n.compiled_truth IS NOT NULL OR coalesce('Entity' = ANY ($7), false))
       AND CASE WHEN $7 IS NULL THEN n.label NOT IN ('Conversation', 'Message', 'Summary') ELSE n.label = ANY ($7) END
       AND ($8 IS NULL OR n.kind = ANY ($8))
       AND ($9 IS NULL OR n.client_id = $9)
       AND ($10 IS NULL OR n.scope = ANY ($10))
       AND ($11 IS NULL OR n.occurred_at >= $11)
       AND ($12 IS NULL OR n.occurred_at < $12)
       AND ($6 IS NULL OR n.valid_from <= $6 AND $6 < coalesce(n.valid_to, 'infinity'))$visible$)
    USING wanted, current_workspace(), current_scopes(), current_agent(), include_superseded, valid_at,
      labels, kinds, client, only_scopes, occurred_from, occurred_to;
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
         AND ($4 IS NULL OR $4 = ANY (coalesce(e.agents, '{""}')))
         AND (e.state IN ('active', 'provisional')
           OR e.state IN ('superseded', 'archived') AND ($11 OR $12 IS NOT NULL))
         AND (e.label <> 'Entity' OR coalesce('Entity' = ANY ($6), false) OR EXISTS (
           SELECT FROM node n WHERE n.workspace_id = $2 AND n.id = e.node_id AND n.compiled_truth IS NOT NULL))
         AND CASE WHEN $6 IS NULL THEN e.label NOT IN ('Conversation', 'Message', 'Summary') ELSE e.label = ANY ($6) END
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
AS $$
DECLARE
  parts tsquery[] := lexemes_of(terms);
BEGIN
  IF current_workspace() IS NULL OR current_scopes() IS NULL OR parts IS NULL THEN
    RETURN;
  END IF;
  RETURN QUERY EXECUTE ranked_by_rarity(parts, $visible$node_version n
     WHERE n.workspace_id = $2
       AND n.from_position <= $13 AND $13 < coalesce(n.to_position, 9223372036854775807)
       AND n.scope = ANY ($3)
       AND ($4 IS NULL OR $4 = ANY (coalesce(n.agents, '{""}')))
       AND (n.state IN ('active', 'provisional') OR n.state IN ('superseded', 'archived') AND ($5 OR $6 IS NOT NULL))
       AND (n.label <> 'Entity' OR n.compiled_truth IS NOT NULL OR coalesce('Entity' = ANY ($7), false))
       AND CASE WHEN $7 IS NULL THEN n.label NOT IN ('Conversation', 'Message', 'Summary') ELSE n.label = ANY ($7) END
       AND ($8 IS NULL OR n.kind = ANY ($8))
       AND ($9 IS NULL OR n.client_id = $9)
       AND ($10 IS NULL OR n.scope = ANY ($10))
       AND ($11 IS NULL OR n.occurred_at >= $11)
       AND ($12 IS NULL OR n.occurred_at < $12)
       AND ($6 IS NULL OR n.valid_from <= $6 AND $6 < coalesce(n.valid_to, 'infinity'))$visible$)
    USING wanted, current_workspace(), current_scopes(), current_agent(), include_superseded, valid_at,
      labels, kinds, client, only_scopes, occurred_from, occurred_to, as_of;
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
       AND (agent IS NULL OR agent = ANY (coalesce(n.agents, '{""}')))
       AND (n.state IN ('active', 'provisional')
         OR n.state IN ('superseded', 'archived') AND (include_superseded OR valid_at IS NOT NULL))
       AND (n.label <> 'Entity' OR n.compiled_truth IS NOT NULL OR coalesce('Entity' = ANY (labels), false))
       AND CASE WHEN labels IS NULL THEN n.label NOT IN ('Conversation', 'Message', 'Summary') ELSE n.label = ANY (labels) END
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

-- What is like each of these nodes, given by their vectors: within a node's own audience, as near as
-- `minimum`. A few rows of the index are enough, since only what is very near is wanted; the audience is
-- looked at after them, because as a condition of the search it would talk the planner out of the index.
CREATE FUNCTION find_similar(
  asked uuid[], vectors halfvec[], model smallint, minimum real, wanted integer
) RETURNS TABLE (node_id uuid, other_id uuid, score real)
  LANGUAGE plpgsql STABLE SECURITY DEFINER
  SET search_path = pg_catalog, public, pg_temp
  SET hnsw.ef_search = 40
  SET hnsw.iterative_scan = relaxed_order
  SET hnsw.max_scan_tuples = 2000
AS $$
DECLARE
  dimensions integer;
BEGIN
  SELECT m.dimensions INTO dimensions FROM embedding_model m WHERE m.id = model;
  IF current_workspace() IS NULL OR current_scopes() IS NULL OR dimensions IS NULL THEN
    RETURN;
  END IF;
  RETURN QUERY EXECUTE format($query$
    SELECT q.id, near.node_id, (1 - near.distance)::real
      FROM unnest($1, $2) AS q (id, v)
      JOIN node n ON n.workspace_id = $5 AND n.id = q.id AND n.scope = ANY ($6)
       AND ($7 IS NULL OR $7 = ANY (coalesce(n.agents, '{""}')))
     CROSS JOIN LATERAL (
       SELECT e.node_id, e.scope, e.agents, e.v::halfvec(%1$s) <=> q.v::halfvec(%1$s) AS distance
         FROM embedding e
        WHERE e.workspace_id = $5 AND e.model_id = %2$s
          AND e.label <> 'Summary' AND e.state IN ('active', 'provisional')
        ORDER BY e.v::halfvec(%1$s) <=> q.v::halfvec(%1$s)
        LIMIT 4 * $4) AS near
     WHERE 1 - near.distance >= $3 AND near.node_id <> n.id
       AND near.scope = n.scope AND near.agents IS NOT DISTINCT FROM n.agents
    $query$, dimensions, model)
    USING asked, vectors, minimum, wanted, current_workspace(), current_scopes(), current_agent();
END
$$;

-- Memories near to stored ones by their stored vectors: same client, scope and agents, both to be
-- found. What lets them be compared further (whose data they are) is not the finder's to see.
CREATE FUNCTION find_near_memories(
  asked uuid[], model smallint, minimum real, wanted integer
) RETURNS TABLE (node_id uuid, other_id uuid, score real)
  LANGUAGE plpgsql STABLE SECURITY DEFINER
  SET search_path = pg_catalog, public, pg_temp
  SET plan_cache_mode = force_custom_plan
  SET hnsw.ef_search = 40
  SET hnsw.iterative_scan = relaxed_order
  SET hnsw.max_scan_tuples = 2000
AS $$
DECLARE
  dimensions integer;
BEGIN
  SELECT m.dimensions INTO dimensions FROM embedding_model m WHERE m.id = model;
  IF current_workspace() IS NULL OR current_scopes() IS NULL OR dimensions IS NULL THEN
    RETURN;
  END IF;
  RETURN QUERY EXECUTE format($query$
    SELECT q.node_id, near.node_id, max(1 - near.distance)::real
      FROM embedding q
     CROSS JOIN LATERAL (
       SELECT e.node_id, e.v::halfvec(%1$s) <=> q.v::halfvec(%1$s) AS distance
         FROM embedding e
        WHERE e.workspace_id = $4 AND e.model_id = %2$s AND e.label = 'Memory'
          AND e.state IN ('active', 'provisional') AND e.client_id = q.client_id
          AND e.scope = q.scope AND e.agents IS NOT DISTINCT FROM q.agents
        ORDER BY e.v::halfvec(%1$s) <=> q.v::halfvec(%1$s)
        LIMIT $3 + 1) AS near
     WHERE q.workspace_id = $4 AND q.node_id = ANY ($1) AND q.model_id = %2$s
       AND q.label = 'Memory' AND q.scope = ANY ($5) AND ($6 IS NULL OR $6 = ANY (coalesce(q.agents, '{""}')))
       AND near.node_id <> q.node_id AND 1 - near.distance >= $2
     GROUP BY q.node_id, near.node_id
    $query$, dimensions, model)
    USING asked, minimum, wanted, current_workspace(), current_scopes(), current_agent();
END
$$;

-- Entities by their casefolded names; lower() is not leakproof, so the index is hidden under row
-- level security. The guard is that of searches. A name may mean several entities, one an audience
-- and type; `types` narrows a name that came from an alias.
CREATE FUNCTION find_entities(names text[], types text[], wanted integer)
  RETURNS TABLE (name text, node_id uuid)
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
    SELECT DISTINCT asked.name, n.id
      FROM unnest(names, types) AS asked (name, type)
      JOIN node n ON n.workspace_id = workspace
       AND n.label = 'Entity'
       AND lower(n.canonical_name) = asked.name
       AND (asked.type IS NULL OR n.kind = asked.type)
     WHERE n.scope = ANY (scopes)
       AND (agent IS NULL OR agent = ANY (coalesce(n.agents, '{""}')))
       AND n.state NOT IN ('deleted', 'quarantined')
     LIMIT wanted;
END
$$;

-- Subscriptions look past the agent's tag, so the keywords count only as far as the agent of this
-- transaction subscribes to them. Workspace, scopes and agent come from the settings, as elsewhere.
CREATE FUNCTION find_by_subscription(
  asked text[], wanted integer, labels text[], kinds text[], client text, only_scopes text[],
  occurred_from timestamptz, occurred_to timestamptz, valid_at timestamptz,
  include_superseded boolean
) RETURNS TABLE (node_id uuid, keyword text, rank real, tagged boolean)
  LANGUAGE plpgsql STABLE SECURITY DEFINER
  SET search_path = pg_catalog, public, pg_temp
  SET plan_cache_mode = force_custom_plan
AS $$
DECLARE
  workspace uuid := current_workspace();
  scopes text[] := current_scopes();
  agent text := current_agent();
  word text;
  words tsquery;
BEGIN
  IF workspace IS NULL OR scopes IS NULL OR agent IS NULL THEN
    RETURN;
  END IF;
  FOR word IN SELECT DISTINCT k FROM subscription s, unnest(s.keywords) AS k
    WHERE s.workspace_id = workspace AND s.agent_slug = agent AND k = ANY (asked) LOOP
    words := plainto_tsquery('english', word);
    RETURN QUERY
      SELECT n.id, word,
             CASE WHEN n.search_tsv @@ words
                  THEN ts_rank('{0.0, 0.0, 0.6, 1.0}', n.search_tsv, words) END AS by_text,
             n.keywords @> ARRAY[word] AS by_tag
        FROM node n
       WHERE n.workspace_id = workspace
         AND (n.search_tsv @@ words OR n.keywords <> '{}' AND n.keywords @> ARRAY[word])
         AND n.scope = ANY (scopes)
         AND (n.state IN ('active', 'provisional')
           OR n.state IN ('superseded', 'archived') AND (include_superseded OR valid_at IS NOT NULL))
         AND CASE WHEN labels IS NULL THEN n.label NOT IN ('Entity', 'Conversation', 'Message', 'Summary')
                  ELSE n.label = ANY (labels) END
         AND (kinds IS NULL OR n.kind = ANY (kinds))
         AND (client IS NULL OR n.client_id = client)
         AND (only_scopes IS NULL OR n.scope = ANY (only_scopes))
         AND (find_by_subscription.occurred_from IS NULL
           OR n.occurred_at >= find_by_subscription.occurred_from)
         AND (find_by_subscription.occurred_to IS NULL
           OR n.occurred_at < find_by_subscription.occurred_to)
         AND (find_by_subscription.valid_at IS NULL
           OR n.valid_from <= find_by_subscription.valid_at
              AND find_by_subscription.valid_at < coalesce(n.valid_to, 'infinity'))
       ORDER BY by_tag DESC, by_text DESC NULLS LAST, n.id
       LIMIT wanted;
  END LOOP;
END
$$;

-- The same over the past: today's subscriptions, versions as they stood at a ledger position.
CREATE FUNCTION find_by_subscription_as_of(
  as_of bigint, asked text[], wanted integer, labels text[], kinds text[], client text,
  only_scopes text[], occurred_from timestamptz, occurred_to timestamptz, valid_at timestamptz,
  include_superseded boolean
) RETURNS TABLE (node_id uuid, keyword text, rank real, tagged boolean)
  LANGUAGE plpgsql STABLE SECURITY DEFINER
  SET search_path = pg_catalog, public, pg_temp
  SET plan_cache_mode = force_custom_plan
AS $$
DECLARE
  workspace uuid := current_workspace();
  scopes text[] := current_scopes();
  agent text := current_agent();
  word text;
  words tsquery;
BEGIN
  IF workspace IS NULL OR scopes IS NULL OR agent IS NULL THEN
    RETURN;
  END IF;
  FOR word IN SELECT DISTINCT k FROM subscription s, unnest(s.keywords) AS k
    WHERE s.workspace_id = workspace AND s.agent_slug = agent AND k = ANY (asked) LOOP
    words := plainto_tsquery('english', word);
    RETURN QUERY
      SELECT n.id, word,
             CASE WHEN n.search_tsv @@ words
                  THEN ts_rank('{0.0, 0.0, 0.6, 1.0}', n.search_tsv, words) END AS by_text,
             n.keywords @> ARRAY[word] AS by_tag
        FROM node_version n
       WHERE n.workspace_id = workspace
         AND n.from_position <= as_of AND as_of < coalesce(n.to_position, 9223372036854775807)
         AND (n.search_tsv @@ words OR n.keywords <> '{}' AND n.keywords @> ARRAY[word])
         AND n.scope = ANY (scopes)
         AND (n.state IN ('active', 'provisional')
           OR n.state IN ('superseded', 'archived') AND (include_superseded OR valid_at IS NOT NULL))
         AND CASE WHEN labels IS NULL THEN n.label NOT IN ('Entity', 'Conversation', 'Message', 'Summary')
                  ELSE n.label = ANY (labels) END
         AND (kinds IS NULL OR n.kind = ANY (kinds))
         AND (client IS NULL OR n.client_id = client)
         AND (only_scopes IS NULL OR n.scope = ANY (only_scopes))
         AND (find_by_subscription_as_of.occurred_from IS NULL
           OR n.occurred_at >= find_by_subscription_as_of.occurred_from)
         AND (find_by_subscription_as_of.occurred_to IS NULL
           OR n.occurred_at < find_by_subscription_as_of.occurred_to)
         AND (find_by_subscription_as_of.valid_at IS NULL
           OR n.valid_from <= find_by_subscription_as_of.valid_at
              AND find_by_subscription_as_of.valid_at < coalesce(n.valid_to, 'infinity'))
       ORDER BY by_tag DESC, by_text DESC NULLS LAST, n.id
       LIMIT wanted;
  END LOOP;
END
$$;
