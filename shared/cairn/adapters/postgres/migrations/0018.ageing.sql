-- What ages: indexes for finding it, and archived memories found when somebody looks for the past.
-- depends: 0014.search-run-retention

-- What is active by what it is and when it was recorded. What a search changes (access_count,
-- last_accessed_at) must not stand in any index, or counting an access would index texts again.
CREATE INDEX node_ageing ON node (workspace_id, label, kind, recorded_at, id) WHERE state = 'active';
CREATE INDEX node_deleted ON node (workspace_id, deleted_at, id) WHERE state = 'deleted';
CREATE INDEX node_archived ON node (workspace_id, document_id) WHERE state = 'archived' AND document_id IS NOT NULL;

-- A search that looks at the past, by include_superseded or valid_at, finds what was archived too.
-- hnsw.* may be set on a function only once the library that defines it is loaded.
DO $$ BEGIN PERFORM '[1]'::vector; END $$;
GRANT CREATE ON SCHEMA public TO cairn_finder;
SET ROLE cairn_finder;
DO $$
DECLARE
  finder regprocedure;
  was text;
  is_now text;
  replaced integer := 0;
BEGIN
  FOR finder IN SELECT p.oid FROM pg_proc p
    WHERE p.pronamespace = 'public'::regnamespace AND p.proname IN ('find_by_keyword',
      'find_by_vector', 'find_by_keyword_as_of', 'find_by_vector_as_of', 'find_by_subscription',
      'find_by_subscription_as_of') LOOP
    was := pg_get_functiondef(finder);
    is_now := replace(was, 'state = ''superseded''', 'state IN (''superseded'', ''archived'')');
    ASSERT is_now <> was, format('%s names no state', finder);
    EXECUTE is_now;
    replaced := replaced + 1;
  END LOOP;
  ASSERT replaced = 6, format('%s functions replaced, not 6', replaced);
END
$$;
RESET ROLE;
REVOKE CREATE ON SCHEMA public FROM cairn_finder;
