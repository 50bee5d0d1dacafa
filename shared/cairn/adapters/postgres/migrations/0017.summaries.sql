-- Summaries stand aside: recall finds them when they are asked for by label, and nothing else does.
-- depends: 0014.search-run-retention

-- The summaries of a trace and of an agent; those of a session are in the index of sessions.
CREATE INDEX node_summary_trace ON node (workspace_id, trace_id)
  WHERE label = 'Summary' AND trace_id IS NOT NULL;
CREATE INDEX node_summary_agent ON node (workspace_id, source_agent)
  WHERE label = 'Summary' AND kind = 'agent';

-- A summary of what was said in a conversation is seen by whom the conversation is seen.
DO $$
DECLARE
  name text;
BEGIN
  FOREACH name IN ARRAY ARRAY['node', 'node_version'] LOOP
    EXECUTE format('DROP POLICY own_conversation ON %I', name);
    EXECUTE format($p$CREATE POLICY own_conversation ON %I AS RESTRICTIVE TO cairn_app
      USING (label NOT IN ('Conversation', 'Message', 'Summary')
        OR current_setting('cairn.conversations', true) = 'all'
        OR CASE label WHEN 'Conversation' THEN id ELSE parent_id END = (SELECT own_conversation()))$p$,
      name);
  END LOOP;
END
$$;

-- The candidate functions leave them out as they leave out messages; nothing is SIMILAR_TO a summary.
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
      'find_by_subscription_as_of', 'find_similar') LOOP
    was := pg_get_functiondef(finder);
    is_now := CASE WHEN finder::text LIKE 'find_similar(%'
      THEN replace(was, 'AND e.state IN', 'AND e.label <> ''Summary'' AND e.state IN')
      ELSE replace(was, '''Conversation'', ''Message'')', '''Conversation'', ''Message'', ''Summary'')')
      END;
    ASSERT is_now <> was, format('%s names no label', finder);
    EXECUTE is_now;
    replaced := replaced + 1;
  END LOOP;
  ASSERT replaced = 7, format('%s functions replaced, not 7', replaced);
END
$$;
RESET ROLE;
REVOKE CREATE ON SCHEMA public FROM cairn_finder;
