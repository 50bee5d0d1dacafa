-- Nodes that stand for records kept elsewhere are results of no leg unless they are asked for by label.
-- depends: 0056.rights

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
    is_now := replace(was, '''Conversation'', ''Message'', ''Summary'')',
      '''Conversation'', ''Message'', ''Summary'', ''Task'', ''User'', ''Ticket'', ''Investigation'')');
    ASSERT is_now <> was, format('%s names no label', finder);
    EXECUTE is_now;
    replaced := replaced + 1;
  END LOOP;
  ASSERT replaced = 6, format('%s functions replaced, not 6', replaced);
END
$$;
RESET ROLE;
REVOKE CREATE ON SCHEMA public FROM cairn_finder;
