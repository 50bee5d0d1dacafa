-- Keys of no agent find what is tagged for nobody, and calls of tools know whose key made them.
-- depends: 0034.ticket-messages

-- Whose tags the transaction's reader finds: an agent's slug; '' for a key of no agent, which finds
-- untagged nodes only ('-' in the setting: no slug is that, and no tag is empty); null for an admin.
CREATE OR REPLACE FUNCTION current_agent() RETURNS text
  LANGUAGE sql STABLE PARALLEL SAFE
  RETURN CASE current_setting('cairn.agent', true)
    WHEN '' THEN NULL WHEN '-' THEN '' ELSE current_setting('cairn.agent', true) END;

-- The strict guard of every candidate function: no tags at all count as the tag ''.
DO $$
DECLARE
  finder record;
BEGIN
  PERFORM '[1]'::vector; -- hnsw.* may be set on a function only once its library is loaded
  GRANT CREATE ON SCHEMA public TO cairn_finder;
  SET LOCAL ROLE cairn_finder;
  FOR finder IN SELECT p.oid, pg_get_functiondef(p.oid) AS made FROM pg_proc p
    WHERE p.pronamespace = 'public'::regnamespace AND p.proowner = 'cairn_finder'::regrole
      AND p.prosrc ~ 'current_agent' AND p.prosrc ~ '= ANY \([a-z]\.agents\)' LOOP
    EXECUTE regexp_replace(finder.made, '= ANY \(([a-z])\.agents\)',
      '= ANY (coalesce(\1.agents, ''{""}''))', 'g');
  END LOOP;
  RESET ROLE;
  REVOKE CREATE ON SCHEMA public FROM cairn_finder;
END
$$;

-- Null: the call of an investigation. A key that does not see the scope admin sees its own only.
ALTER TABLE tool_call ADD COLUMN principal_id uuid;
