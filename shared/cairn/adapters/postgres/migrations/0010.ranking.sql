-- Keywords ranked by how rare they are. Entities leave the two text legs: the graph finds them.
-- depends: 0006.graph

-- An entity's text is its name: it would stand before everything said about it. It is found by
-- these legs when it is asked for by label, or when somebody wrote down what is true of it.
-- What was said in conversations has a search of its own: it is found here by label only.
GRANT SELECT (compiled_truth) ON node, node_version TO cairn_finder;

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

-- The four functions are the finder's, so it is the finder who replaces them.
GRANT CREATE ON SCHEMA public TO cairn_finder;
SET ROLE cairn_finder;

CREATE OR REPLACE FUNCTION find_by_keyword(
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
       AND ($4 IS NULL OR $4 = ANY (n.agents))
       AND (n.state IN ('active', 'provisional') OR n.state = 'superseded' AND ($5 OR $6 IS NOT NULL))
       AND (n.label <> 'Entity' OR n.compiled_truth IS NOT NULL OR coalesce('Entity' = ANY ($7), false))
       AND CASE WHEN $7 IS NULL THEN n.label NOT IN ('Conversation', 'Message') ELSE n.label = ANY ($7) END
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

CREATE OR REPLACE FUNCTION find_by_vector(
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
         AND (e.label <> 'Entity' OR coalesce('Entity' = ANY ($6), false) OR EXISTS (
           SELECT FROM node n WHERE n.workspace_id = $2 AND n.id = e.node_id AND n.compiled_truth IS NOT NULL))
         AND CASE WHEN $6 IS NULL THEN e.label NOT IN ('Conversation', 'Message') ELSE e.label = ANY ($6) END
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

CREATE OR REPLACE FUNCTION find_by_keyword_as_of(
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
       AND ($4 IS NULL OR $4 = ANY (n.agents))
       AND (n.state IN ('active', 'provisional') OR n.state = 'superseded' AND ($5 OR $6 IS NOT NULL))
       AND (n.label <> 'Entity' OR n.compiled_truth IS NOT NULL OR coalesce('Entity' = ANY ($7), false))
       AND CASE WHEN $7 IS NULL THEN n.label NOT IN ('Conversation', 'Message') ELSE n.label = ANY ($7) END
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

CREATE OR REPLACE FUNCTION find_by_vector_as_of(
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
       AND (n.label <> 'Entity' OR n.compiled_truth IS NOT NULL OR coalesce('Entity' = ANY (labels), false))
       AND CASE WHEN labels IS NULL THEN n.label NOT IN ('Conversation', 'Message') ELSE n.label = ANY (labels) END
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

RESET ROLE;
REVOKE CREATE ON SCHEMA public FROM cairn_finder;

-- The embedding model that comes along now; all-MiniLM-L6-v2 stays and is a folder's name away.
INSERT INTO embedding_model (id, name, dimensions) VALUES (6, 'bge-small-en-v1.5-int8', 384);
DO $$
BEGIN
  FOR part IN 0..15 LOOP
    EXECUTE format('CREATE INDEX embedding_p%s_hnsw_6 ON embedding_p%s
      USING hnsw ((v::halfvec(384)) halfvec_cosine_ops) WHERE model_id = 6', part, part);
  END LOOP;
END
$$;
