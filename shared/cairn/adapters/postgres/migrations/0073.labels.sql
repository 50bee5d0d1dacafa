-- Nodes with several labels, and nodes found by what their properties say.
-- depends: 0072.checkpoints

ALTER TABLE node ADD COLUMN extra_labels text[] NOT NULL DEFAULT '{}' -- beside the first, sorted
  CHECK (cardinality(extra_labels) <= 8);
ALTER TABLE node_version ADD COLUMN extra_labels text[] NOT NULL DEFAULT '{}';
ALTER TABLE embedding ADD COLUMN extra_labels text[] NOT NULL DEFAULT '{}';
GRANT SELECT (extra_labels, created_position) ON node TO cairn_finder;
GRANT SELECT (extra_labels) ON node_version, embedding TO cairn_finder;

CREATE OR REPLACE FUNCTION copy_guards() RETURNS trigger LANGUAGE plpgsql
  SET plan_cache_mode = force_generic_plan AS $$
BEGIN
  UPDATE embedding
     SET label = NEW.label, kind = NEW.kind, scope = NEW.scope, agents = NEW.agents,
         client_id = NEW.client_id, state = NEW.state, occurred_at = NEW.occurred_at,
         valid_from = NEW.valid_from, valid_to = NEW.valid_to, extra_labels = NEW.extra_labels
   WHERE workspace_id = NEW.workspace_id AND node_id = NEW.id;
  RETURN NULL;
END
$$;
DROP TRIGGER node_guards_its_embeddings ON node;
CREATE TRIGGER node_guards_its_embeddings AFTER UPDATE ON node
  FOR EACH ROW
  WHEN ((OLD.label, OLD.kind, OLD.scope, OLD.agents, OLD.client_id, OLD.state, OLD.occurred_at,
         OLD.valid_from, OLD.valid_to, OLD.extra_labels)
    IS DISTINCT FROM
        (NEW.label, NEW.kind, NEW.scope, NEW.agents, NEW.client_id, NEW.state, NEW.occurred_at,
         NEW.valid_from, NEW.valid_to, NEW.extra_labels))
  EXECUTE FUNCTION copy_guards();

-- The moment that a property states; null for what states none. Without an offset it is in UTC.
CREATE FUNCTION stated_time(said text) RETURNS timestamptz
  LANGUAGE plpgsql STABLE PARALLEL SAFE
  SET search_path = pg_catalog, public, pg_temp
AS $$
BEGIN
  IF said !~ '^\d{4}-\d\d-\d\d([T ]\d\d:\d\d.*)?$' THEN
    RETURN NULL;
  ELSIF said ~ '[T ].*(Z|[+-]\d\d(:?\d\d)?)$' THEN
    RETURN said::timestamptz;
  END IF;
  RETURN said::timestamp AT TIME ZONE 'UTC';
EXCEPTION WHEN data_exception THEN
  RETURN NULL;
END
$$;
REVOKE ALL ON FUNCTION stated_time(text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION stated_time(text) TO cairn_app;

-- hnsw.* may be set on a function only once the library that defines it is loaded.
DO $$ BEGIN PERFORM '[1]'::vector; END $$;
GRANT CREATE ON SCHEMA public TO cairn_finder;
SET ROLE cairn_finder;

-- Ids of present nodes that have all of some labels, newest first: by metadata, below a place when asked.
-- A label is the first of a node or one of the others; each way to have them has its index.
CREATE FUNCTION find_nodes(
  labels text[], of_kind text, client text, matching jsonpath, below bigint, before uuid, wanted integer
) RETURNS TABLE (node_id uuid)
  LANGUAGE plpgsql STABLE SECURITY DEFINER
  SET search_path = pg_catalog, public, pg_temp
AS $$
DECLARE
  guarded text := $query$
    (SELECT n.id, n.created_position FROM node n
      WHERE n.workspace_id = $1 AND n.scope = ANY ($2) AND n.state IN ('active', 'provisional')
        AND ($3 IS NULL OR $3 = ANY (coalesce(n.agents, '{""}')))
        AND (n.expires_at IS NULL OR n.expires_at > statement_timestamp())
        AND ((SELECT current_client()) IS NULL OR n.client_id = (SELECT current_client())
          OR (n.client_id = 'global' AND n.scope IN ('public', 'shared')
            AND n.label IN ('Memory', 'Document', 'Section', 'Chunk')))
        AND (current_setting('cairn.conversations', true) = 'all'
          OR (n.label NOT IN ('Conversation', 'Message', 'Summary') AND n.conversation_id IS NULL)
          OR CASE n.label WHEN 'Conversation' THEN n.id ELSE coalesce(n.conversation_id, n.parent_id) END
            = (SELECT own_conversation()))
        AND ($4 IS NULL OR n.kind = $4)
        AND ($5 IS NULL OR n.client_id = $5)
        AND ($6 IS NULL OR n.metadata @@ $6)
        AND ($7 IS NULL OR (n.created_position, n.id) < ($7, $8))
        AND %s
      ORDER BY n.created_position DESC, n.id DESC LIMIT $9)$query$;
  branches text[];
BEGIN
  IF current_workspace() IS NULL OR current_scopes() IS NULL THEN
    RETURN;
  END IF;
  SELECT array_agg(format(guarded, format('n.label = %L AND n.extra_labels @> %L', first,
      array_remove(labels, first)))) INTO branches
    FROM unnest(labels) AS first;
  branches := branches || format(guarded, format(
    'n.extra_labels <> ''{}'' AND n.extra_labels @> %L AND n.label <> ALL (%L)', labels, labels));
  RETURN QUERY EXECUTE 'SELECT u.id FROM (' || array_to_string(branches, ' UNION ALL ')
      || ') AS u ORDER BY u.created_position DESC, u.id DESC LIMIT $9'
    USING current_workspace(), current_scopes(), current_agent(), of_kind, client, matching, below, before,
      wanted;
END
$$;
REVOKE ALL ON FUNCTION find_nodes(text[], text, text, jsonpath, bigint, uuid, integer) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION find_nodes(text[], text, text, jsonpath, bigint, uuid, integer) TO cairn_app;

-- A search for a label finds the nodes that have it beside another.
DO $$
DECLARE
  finder regprocedure;
  was text;
  is_now text;
  replaced integer := 0;
BEGIN
  FOR finder IN SELECT p.oid FROM pg_proc p
    WHERE p.pronamespace = 'public'::regnamespace AND p.proname IN ('find_by_keyword', 'find_by_vector',
      'find_by_keyword_as_of', 'find_by_vector_as_of', 'find_by_subscription',
      'find_by_subscription_as_of') LOOP
    was := pg_get_functiondef(finder);
    is_now := regexp_replace(was, '\m([a-z])\.label = ANY \((\$\d+|labels)\)',
      '(\1.label = ANY (\2) OR \1.extra_labels && \2)', 'g');
    ASSERT is_now <> was, format('%s names no label', finder);
    EXECUTE is_now;
    replaced := replaced + 1;
  END LOOP;
  ASSERT replaced = 6, format('%s functions replaced, not 6', replaced);
END
$$;
RESET ROLE;
REVOKE CREATE ON SCHEMA public FROM cairn_finder;
