-- What people put on the web: snapshots in the object store, found by the address of each.
-- depends: 0093.mail-sources

CREATE TABLE publication (
  workspace_id uuid NOT NULL REFERENCES workspace (id),
  id uuid NOT NULL,
  site text NOT NULL CHECK (site ~ '^[a-z2-7]{26}$'), -- of the workspace: the first part of the address
  name text NOT NULL CHECK (name ~ '^[a-z0-9-]{1,64}$'), -- the second part
  -- pending (its files are being stored) -> public -> withdrawn (its files are being removed) -> gone
  state text NOT NULL CHECK (state IN ('pending', 'public', 'withdrawn')),
  kind text NOT NULL CHECK (kind IN ('report', 'document', 'files')),
  title text NOT NULL,
  node_id uuid, -- the report or document that it shows
  shown uuid[] NOT NULL, -- that, and its parts
  data_subjects uuid[] NOT NULL, -- whom these were about
  files jsonb NOT NULL, -- path -> {sha256, size}
  published_by uuid NOT NULL,
  published_at timestamptz NOT NULL,
  PRIMARY KEY (workspace_id, id),
  CHECK ((kind = 'files') = (node_id IS NULL))
);
-- an address leads to one publication
CREATE UNIQUE INDEX publication_address ON publication (site, name) WHERE state = 'public';
CREATE INDEX publication_subjects ON publication USING gin (data_subjects);
CREATE INDEX publication_shown ON publication USING gin (shown);

ALTER TABLE publication ENABLE ROW LEVEL SECURITY;
ALTER TABLE publication FORCE ROW LEVEL SECURITY;
CREATE POLICY migrator ON publication TO cairn_migrator USING (true) WITH CHECK (true);
CREATE POLICY tenant ON publication TO cairn_app
  USING (workspace_id = nullif(current_setting('cairn.workspace_id', true), '')::uuid)
  WITH CHECK (workspace_id = nullif(current_setting('cairn.workspace_id', true), '')::uuid);
GRANT SELECT, INSERT, UPDATE, DELETE ON publication TO cairn_app, cairn_migrator;
-- What is published is no business of a key that is bound to a client.
CREATE POLICY no_client ON publication AS RESTRICTIVE TO cairn_app
  USING ((SELECT current_client()) IS NULL);

GRANT SELECT (workspace_id, site, name, state) ON publication TO cairn_finder;
CREATE POLICY finder ON publication FOR SELECT TO cairn_finder USING (true);

-- Whose an address is: who reads a published page has no key of ours.
CREATE FUNCTION workspace_of_publication(wanted_site text, wanted_name text) RETURNS uuid
  LANGUAGE sql STABLE STRICT SECURITY DEFINER
  SET search_path = pg_catalog, public, pg_temp
AS $$
SELECT p.workspace_id FROM publication p
 WHERE p.site = wanted_site AND p.name = wanted_name AND p.state = 'public'
$$;
GRANT CREATE ON SCHEMA public TO cairn_finder;
REVOKE ALL ON FUNCTION workspace_of_publication(text, text) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION workspace_of_publication(text, text) TO cairn_app;
ALTER FUNCTION workspace_of_publication(text, text) OWNER TO cairn_finder;
REVOKE CREATE ON SCHEMA public FROM cairn_finder;

-- Operators publish.
CREATE OR REPLACE FUNCTION person_may(entry_type text) RETURNS boolean LANGUAGE sql STABLE
  SET search_path = pg_catalog, public, pg_temp
AS $$
SELECT CASE current_person()
  WHEN '' THEN true
  WHEN 'owner' THEN true
  WHEN 'admin' THEN entry_type <> 'key.created'
  WHEN 'operator' THEN entry_type IN ('data_subject.registered', 'subscription.changed')
    OR split_part(entry_type, '.', 1) IN ('memory', 'node', 'edge', 'entity', 'event', 'message',
      'conversation', 'document', 'report', 'task', 'ticket', 'investigation', 'action', 'approval',
      'escalation', 'resolution', 'intent', 'premise', 'member', 'network', 'contact',
      'integration', 'opportunity', 'negotiation', 'workflow', 'handoff', 'publication')
      AND entry_type NOT IN ('workflow.changed', 'escalation.channel_added',
        'escalation.channel_removed')
  WHEN 'reviewer' THEN entry_type IN ('data_subject.registered', 'memory.corrected', 'memory.pinned',
    'memory.withheld', 'memory.released')
  ELSE false
END $$;
