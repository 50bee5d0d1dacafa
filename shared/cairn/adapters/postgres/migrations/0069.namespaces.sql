-- Memories as items of a store: in a namespace, found by their metadata, and gone after a time.
-- depends: 0068.chat

ALTER TABLE node ADD COLUMN namespace text COLLATE "C", -- labels with / between them
  ADD COLUMN ttl_seconds integer CHECK (ttl_seconds > 0),
  ADD COLUMN expires_at timestamptz;
ALTER TABLE node_version ADD COLUMN namespace text COLLATE "C",
  ADD COLUMN ttl_seconds integer,
  ADD COLUMN expires_at timestamptz; -- of all its versions, whenever it was said

-- Nobody reads what has expired, also before the sweep removes it. Writes and the system do: they put
-- something in its place, and remove it.
DO $$
DECLARE
  name text;
BEGIN
  FOREACH name IN ARRAY ARRAY['node', 'node_version'] LOOP
    EXECUTE format($p$CREATE POLICY unexpired ON %I AS RESTRICTIVE FOR SELECT TO cairn_app
      USING (expires_at IS NULL OR expires_at > statement_timestamp()
        OR current_setting('cairn.sees_expired', true) = 'on')$p$, name);
  END LOOP;
END
$$;
GRANT SELECT (namespace, metadata, key, expires_at) ON node, node_version TO cairn_finder;

-- hnsw.* may be set on a function only once the library that defines it is loaded.
DO $$ BEGIN PERFORM '[1]'::vector; END $$;
GRANT CREATE ON SCHEMA public TO cairn_finder;
SET ROLE cairn_finder;

-- Ids of memories by namespace (exactly, or it and those below), metadata and key. Dynamic, so that each
-- question is planned for what it asks: the indexes are of little use to a plan for all of them.
CREATE FUNCTION find_memories(
  of_namespace text, below text, matching jsonpath, of_key text, wanted integer
) RETURNS TABLE (node_id uuid)
  LANGUAGE plpgsql STABLE SECURITY DEFINER
  SET search_path = pg_catalog, public, pg_temp
AS $$
BEGIN
  IF current_workspace() IS NULL OR current_scopes() IS NULL THEN
    RETURN;
  END IF;
  RETURN QUERY EXECUTE $query$
    SELECT n.id FROM node n
     WHERE n.workspace_id = $1 AND n.label = 'Memory' AND n.state <> 'deleted'
       AND n.scope = ANY ($2)
       AND ($3 IS NULL OR $3 = ANY (coalesce(n.agents, '{""}')))
       AND ($4 IS NULL OR n.namespace = $4)
       AND ($5 IS NULL OR n.namespace = $5 OR n.namespace >= $5 || '/' AND n.namespace < $5 || '0')
       AND ($6 IS NULL OR n.metadata @@ $6)
       AND ($7 IS NULL OR n.key = $7)
     LIMIT $8$query$
    USING current_workspace(), current_scopes(), current_agent(), of_namespace, below, matching, of_key,
      wanted;
END
$$;
REVOKE ALL ON FUNCTION find_memories(text, text, jsonpath, text, integer) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION find_memories(text, text, jsonpath, text, integer) TO cairn_app;

-- The candidate functions ask for them, too. By vector: what a filter leaves is looked up first; up to
-- 5,000 memories are compared exactly, since an index of vectors finds little of a few; of more, the
-- index is asked and each row it names is held to the filter.
DO $$
DECLARE
  finder regprocedure;
  named text;
  asked text;
  made text;
  narrowed text := $n$
         AND (%2$s IS NULL OR %1$s.namespace = %2$s)
         AND (%3$s IS NULL OR %1$s.namespace = %3$s
           OR %1$s.namespace >= %3$s || '/' AND %1$s.namespace < %3$s || '0')
         AND (%4$s IS NULL OR %1$s.label = 'Memory' AND %1$s.metadata @@ %4$s)$n$;
  kept text;
  arguments text := ', of_namespace text DEFAULT NULL, below text DEFAULT NULL, matching jsonpath DEFAULT NULL';
BEGIN
  FOR finder, named IN SELECT p.oid, p.proname FROM pg_proc p
    WHERE p.pronamespace = 'public'::regnamespace AND p.proname IN ('find_by_keyword',
      'find_by_vector', 'find_by_keyword_as_of', 'find_by_vector_as_of') LOOP
    asked := pg_get_function_identity_arguments(finder);
    made := pg_get_functiondef(finder);
    made := overlay(made PLACING arguments || ') RETURNS TABLE'
      FROM position(E')\n RETURNS TABLE' IN made) FOR length(E')\n RETURNS TABLE'));
    kept := made;
    CASE named
      WHEN 'find_by_keyword' THEN
        made := replace(made, 'AND ($10 IS NULL OR n.scope = ANY ($10))',
          'AND ($10 IS NULL OR n.scope = ANY ($10))' || format(narrowed, 'n', '$13', '$14', '$15'));
        made := replace(made, 'occurred_from, occurred_to;', 'occurred_from, occurred_to, of_namespace, below, matching;');
      WHEN 'find_by_keyword_as_of' THEN
        made := replace(made, 'AND ($10 IS NULL OR n.scope = ANY ($10))',
          'AND ($10 IS NULL OR n.scope = ANY ($10))' || format(narrowed, 'n', '$14', '$15', '$16'));
        made := replace(made, 'occurred_to, as_of;', 'occurred_to, as_of, of_namespace, below, matching;');
      WHEN 'find_by_vector_as_of' THEN
        made := replace(made, 'AND (only_scopes IS NULL OR n.scope = ANY (only_scopes))',
          'AND (only_scopes IS NULL OR n.scope = ANY (only_scopes))'
            || format(narrowed, 'n', 'of_namespace', 'below', 'matching'));
      ELSE
        made := replace(made, '  dimensions integer;', E'  dimensions integer;\n  few uuid[];');
        made := replace(made, E'  LOOP\n', $few$  IF of_namespace IS NOT NULL OR below IS NOT NULL OR matching IS NOT NULL THEN
    few := ARRAY(SELECT m.node_id FROM find_memories(of_namespace, below, matching, NULL, 5001) m);
    IF cardinality(few) > 5000 THEN
      few := NULL;
    ELSE
      of_namespace := NULL;
      below := NULL;
      matching := NULL;
    END IF;
  END IF;
  LOOP
$few$);
        made := replace(made, 'AND ($13 IS NULL OR e.scope = ANY ($13))',
          'AND ($13 IS NULL OR e.scope = ANY ($13))
         AND ($14 IS NULL OR e.node_id = ANY ($14))
         AND ($15 IS NULL AND $16 IS NULL AND $17 IS NULL OR EXISTS (
           SELECT FROM node n WHERE n.workspace_id = $2 AND n.id = e.node_id'
            || replace(format(narrowed, 'n', '$15', '$16', '$17'), E'\n', E'\n    ') || '))');
        made := replace(made, 'ORDER BY e.v::halfvec(%1$s) <=> $1::halfvec(%1$s)',
          'ORDER BY (e.v::halfvec(%1$s) <=> $1::halfvec(%1$s)) %3$s');
        made := replace(made, '$query$, dimensions, model)',
          '$query$, dimensions, model, CASE WHEN few IS NOT NULL THEN ''+ 0'' END)');
        made := replace(made, 'valid_at, only_scopes;', 'valid_at, only_scopes, few, of_namespace, below, matching;');
        ASSERT made LIKE '%few uuid%' AND made LIKE '%5001%' AND made LIKE '%+ 0%' AND made LIKE '%$14%'
          AND made LIKE '%few, of_namespace, below, matching;%', format('%s is another', finder);
    END CASE;
    ASSERT made <> kept AND made LIKE '%matching jsonpath DEFAULT NULL) RETURNS TABLE%'
      AND made LIKE '%namespace >= %', format('%s knows no namespace', finder);
    EXECUTE made;
    made := format('%s(%s, of_namespace text, below text, matching jsonpath)', named, asked);
    EXECUTE format('REVOKE ALL ON FUNCTION %s FROM PUBLIC', made);
    EXECUTE format('GRANT EXECUTE ON FUNCTION %s TO cairn_app', made);
    EXECUTE format('DROP FUNCTION %s', finder);
  END LOOP;
END
$$;
RESET ROLE;
REVOKE CREATE ON SCHEMA public FROM cairn_finder;
