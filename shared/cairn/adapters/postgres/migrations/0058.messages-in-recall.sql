-- What was said is found by default, and what was drawn from it names its conversation.
-- depends: 0057.bookkeeping

-- The conversation a memory was drawn from; null for all that somebody wrote.
ALTER TABLE node ADD COLUMN conversation_id uuid;
ALTER TABLE node_version ADD COLUMN conversation_id uuid;

-- A public key sees of conversations its own, and so of what was drawn from them.
DO $$
DECLARE
  name text;
BEGIN
  FOREACH name IN ARRAY ARRAY['node', 'node_version'] LOOP
    EXECUTE format($p$ALTER POLICY own_conversation ON %I
      USING (current_setting('cairn.conversations', true) = 'all'
        OR (label NOT IN ('Conversation', 'Message', 'Summary') AND conversation_id IS NULL)
        OR CASE label WHEN 'Conversation' THEN id ELSE coalesce(conversation_id, parent_id) END
          = (SELECT own_conversation()))$p$, name);
  END LOOP;
END
$$;
GRANT SELECT (conversation_id, parent_id) ON node, node_version TO cairn_finder;
GRANT SELECT (workspace_id, key_id, conversation_id) ON key_conversation TO cairn_finder;
CREATE POLICY finder ON key_conversation FOR SELECT TO cairn_finder USING (true);

-- hnsw.* may be set on a function only once the library that defines it is loaded.
DO $$ BEGIN PERFORM '[1]'::vector; END $$;
GRANT CREATE ON SCHEMA public TO cairn_finder;
SET ROLE cairn_finder;
-- Others' conversations must not take the places of what a public key may see. People's and agents' words
-- are found; what systems and tools put between them only by label.
DO $$
DECLARE
  finder regprocedure;
  was text;
  is_now text;
  own text := $own$(%1$s.label <> 'Message' AND %1$s.conversation_id IS NULL
           OR coalesce(%1$s.conversation_id, %1$s.parent_id) = own_conversation())$own$;
  replaced integer := 0;
BEGIN
  FOR finder IN SELECT p.oid FROM pg_proc p
    WHERE p.pronamespace = 'public'::regnamespace AND p.proname IN ('find_by_keyword',
      'find_by_vector', 'find_by_keyword_as_of', 'find_by_vector_as_of') LOOP
    was := pg_get_functiondef(finder);
    is_now := regexp_replace(was,
      $from$THEN (\w)\.label NOT IN \('Conversation', 'Message', ([^)]*)\) ELSE ([^\n]*) END$from$,
      $to$THEN \1.label NOT IN ('Conversation', \2) AND (\1.label <> 'Message' OR \1.kind IN ('user', 'assistant')) ELSE \3 END
       AND (current_setting('cairn.conversations', true) = 'all'
         OR $to$
      || CASE WHEN was LIKE '%FROM embedding e%'
           THEN 'EXISTS (SELECT FROM node m WHERE m.workspace_id = e.workspace_id AND m.id = e.node_id AND '
             || format(own, 'm') || ')'
           ELSE format(own, 'n') END || ')');
    ASSERT is_now <> was, format('%s names no label', finder);
    EXECUTE is_now;
    replaced := replaced + 1;
  END LOOP;
  ASSERT replaced = 4, format('%s functions replaced, not 4', replaced);
END
$$;
RESET ROLE;
REVOKE CREATE ON SCHEMA public FROM cairn_finder;
