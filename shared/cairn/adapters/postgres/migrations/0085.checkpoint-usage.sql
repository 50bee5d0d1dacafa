-- How much room the checkpoints of a workspace take up, by thread, and when a thread expires.
-- depends: 0084.sign-in

CREATE TABLE checkpoint_usage (
  workspace_id uuid NOT NULL REFERENCES workspace (id),
  thread bytea NOT NULL, -- as in checkpoint; empty: all threads together
  bytes bigint NOT NULL, -- bodies of states and writes, and 256 a row
  ttl_seconds integer CHECK (ttl_seconds > 0), -- the thread's own; none: the workspace's setting
  expires_at timestamptz, -- none: never
  PRIMARY KEY (workspace_id, thread)
);
CREATE INDEX checkpoint_usage_expires ON checkpoint_usage (workspace_id, expires_at)
  WHERE expires_at IS NOT NULL;

ALTER TABLE checkpoint_usage ENABLE ROW LEVEL SECURITY;
ALTER TABLE checkpoint_usage FORCE ROW LEVEL SECURITY;
CREATE POLICY migrator ON checkpoint_usage TO cairn_migrator USING (true) WITH CHECK (true);
CREATE POLICY tenant ON checkpoint_usage TO cairn_app
  USING (workspace_id = nullif(current_setting('cairn.workspace_id', true), '')::uuid)
  WITH CHECK (workspace_id = nullif(current_setting('cairn.workspace_id', true), '')::uuid);
GRANT SELECT, INSERT, UPDATE, DELETE ON checkpoint_usage TO cairn_app, cairn_migrator;

-- Adds up what a statement put and took away. All threads together come first, so that two statements
-- never wait for each other. A thread that has nothing left goes.
CREATE FUNCTION count_checkpoints() RETURNS trigger LANGUAGE plpgsql
  SET search_path = pg_catalog, public, pg_temp
AS $$
DECLARE
  c record;
  changes text := CASE tg_op
    WHEN 'INSERT' THEN 'SELECT workspace_id, thread, octet_length(body) + 256 AS bytes FROM fresh'
    WHEN 'DELETE' THEN 'SELECT workspace_id, thread, -octet_length(body) - 256 AS bytes FROM gone'
    ELSE 'SELECT workspace_id, thread, octet_length(body) AS bytes FROM fresh
           UNION ALL SELECT workspace_id, thread, -octet_length(body) FROM gone' END;
BEGIN
  FOR c IN EXECUTE format(
    $q$SELECT workspace_id, ''::bytea AS thread, sum(bytes)::bigint AS bytes FROM (%1$s) AS d GROUP BY 1
       UNION ALL
       SELECT workspace_id, thread, sum(bytes)::bigint FROM (%1$s) AS d GROUP BY 1, 2
       ORDER BY 1, 2$q$, changes) LOOP
    INSERT INTO checkpoint_usage AS u (workspace_id, thread, bytes) VALUES (c.workspace_id, c.thread, c.bytes)
      ON CONFLICT (workspace_id, thread) DO UPDATE SET bytes = u.bytes + excluded.bytes;
    DELETE FROM checkpoint_usage
     WHERE workspace_id = c.workspace_id AND thread = c.thread AND bytes <= 0;
  END LOOP;
  RETURN NULL;
END
$$;

DO $$
DECLARE
  name text;
BEGIN
  FOREACH name IN ARRAY ARRAY['checkpoint', 'checkpoint_write'] LOOP
    EXECUTE format('CREATE TRIGGER counts_put AFTER INSERT ON %I REFERENCING NEW TABLE AS fresh
      FOR EACH STATEMENT EXECUTE FUNCTION count_checkpoints()', name);
    EXECUTE format('CREATE TRIGGER counts_changed AFTER UPDATE ON %I REFERENCING OLD TABLE AS gone NEW TABLE AS fresh
      FOR EACH STATEMENT EXECUTE FUNCTION count_checkpoints()', name);
    EXECUTE format('CREATE TRIGGER counts_removed AFTER DELETE ON %I REFERENCING OLD TABLE AS gone
      FOR EACH STATEMENT EXECUTE FUNCTION count_checkpoints()', name);
  END LOOP;
END
$$;

-- What there is already: counted while nobody writes, as the triggers above hold their tables.
SET LOCAL ROLE cairn_migrator;
WITH sizes AS (
  SELECT workspace_id, thread, octet_length(body) + 256 AS bytes FROM checkpoint
  UNION ALL SELECT workspace_id, thread, octet_length(body) + 256 FROM checkpoint_write)
INSERT INTO checkpoint_usage (workspace_id, thread, bytes)
SELECT workspace_id, thread, sum(bytes) FROM sizes GROUP BY 1, 2
UNION ALL SELECT workspace_id, ''::bytea, sum(bytes) FROM sizes GROUP BY 1;
RESET ROLE;
