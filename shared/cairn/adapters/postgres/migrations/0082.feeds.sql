-- Feeds: what models worded for members, for a day, and how each member's feed does.
-- depends: 0081.negotiations

CREATE TABLE feed_wording (
  workspace_id uuid NOT NULL REFERENCES workspace (id),
  id uuid NOT NULL, -- what the seal is bound to
  member_id uuid NOT NULL, -- whose feed it is
  subject_id uuid NOT NULL, -- the opportunity; the member, for their sections
  version text NOT NULL CHECK (length(version) = 64), -- a digest of what it shows
  data_subjects uuid[] NOT NULL, -- whose keys seal the body
  body bytea NOT NULL,
  made_at timestamptz NOT NULL,
  PRIMARY KEY (workspace_id, member_id, subject_id)
);
CREATE INDEX feed_wording_made ON feed_wording (workspace_id, made_at);

CREATE TABLE feed_health (
  workspace_id uuid NOT NULL REFERENCES workspace (id),
  member_id uuid NOT NULL,
  score double precision NOT NULL CHECK (score BETWEEN 0 AND 1),
  connections integer NOT NULL CHECK (connections >= 0),
  introductions integer NOT NULL CHECK (introductions >= 0),
  expired integer NOT NULL CHECK (expired >= 0),
  looked_at timestamptz NOT NULL,
  rediscovered_at timestamptz, -- when its intents were last looked for anew
  intents integer NOT NULL DEFAULT 0 CHECK (intents >= 0), -- how many of them, the last time
  introduced integer NOT NULL DEFAULT 0 CHECK (introduced >= 0), -- pairs of contacts proposed to each other
  PRIMARY KEY (workspace_id, member_id)
);

DO $$
DECLARE
  name text;
BEGIN
  FOREACH name IN ARRAY ARRAY['feed_wording', 'feed_health'] LOOP
    EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', name);
    EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', name);
    EXECUTE format('CREATE POLICY migrator ON %I TO cairn_migrator USING (true) WITH CHECK (true)', name);
    EXECUTE format($p$CREATE POLICY tenant ON %I TO cairn_app
      USING (workspace_id = nullif(current_setting('cairn.workspace_id', true), '')::uuid)
      WITH CHECK (workspace_id = nullif(current_setting('cairn.workspace_id', true), '')::uuid)$p$, name);
    EXECUTE format($p$CREATE POLICY own_feed ON %I AS RESTRICTIVE TO cairn_app
      USING ((SELECT current_client()) IS NULL OR member_id = (SELECT current_member()))$p$, name);
    EXECUTE format('GRANT SELECT, INSERT, UPDATE, DELETE ON %I TO cairn_app, cairn_migrator', name);
  END LOOP;
END
$$;
