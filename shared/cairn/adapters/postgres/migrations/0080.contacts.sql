-- Contacts of members, and where they are read from. What they say is sealed.
-- depends: 0079.matching

CREATE TABLE contact (
  workspace_id uuid NOT NULL REFERENCES workspace (id),
  id uuid NOT NULL, -- what the seal is bound to
  member_id uuid NOT NULL, -- whose contact it is
  person_id uuid NOT NULL, -- the data subject that it is about
  data_subjects uuid[] NOT NULL, -- both: whose keys seal the body
  body bytea NOT NULL, -- name, address and what else is held of them
  met integer NOT NULL DEFAULT 0 CHECK (met >= 0), -- how often, by mailboxes and calendars
  met_at timestamptz, -- the last time
  link_id uuid, -- the member that they are known to be
  ghost_id uuid, -- the member they were invited as
  invite_id uuid,
  created_at timestamptz NOT NULL,
  changed_at timestamptz NOT NULL,
  PRIMARY KEY (workspace_id, id)
);
CREATE UNIQUE INDEX contact_person ON contact (workspace_id, member_id, person_id);
CREATE INDEX contact_newest ON contact (workspace_id, member_id, id);

CREATE TABLE contact_integration (
  workspace_id uuid NOT NULL REFERENCES workspace (id),
  id uuid NOT NULL,
  member_id uuid NOT NULL,
  kind text NOT NULL CHECK (kind IN ('calendar')),
  data_subjects uuid[] NOT NULL, -- whose keys seal the body
  body bytea NOT NULL, -- the address, which is a secret, and the member's own addresses
  people integer CHECK (people >= 0), -- found when it was last read
  problem text, -- why it was not read, by code
  created_at timestamptz NOT NULL,
  synced_at timestamptz,
  PRIMARY KEY (workspace_id, id)
);
CREATE INDEX contact_integration_of ON contact_integration (workspace_id, member_id, id);

DO $$
DECLARE
  name text;
BEGIN
  FOREACH name IN ARRAY ARRAY['contact', 'contact_integration'] LOOP
    EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', name);
    EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', name);
    EXECUTE format('CREATE POLICY migrator ON %I TO cairn_migrator USING (true) WITH CHECK (true)', name);
    EXECUTE format($p$CREATE POLICY tenant ON %I TO cairn_app
      USING (workspace_id = nullif(current_setting('cairn.workspace_id', true), '')::uuid)
      WITH CHECK (workspace_id = nullif(current_setting('cairn.workspace_id', true), '')::uuid)$p$, name);
    EXECUTE format($p$CREATE POLICY own_contact ON %I AS RESTRICTIVE TO cairn_app
      USING ((SELECT current_client()) IS NULL OR member_id = (SELECT current_member()))$p$, name);
    EXECUTE format('GRANT SELECT, INSERT, UPDATE, DELETE ON %I TO cairn_app, cairn_migrator', name);
  END LOOP;
END
$$;
