-- The head of a chain goes forward by what was appended, and nothing is appended that it leaves out.
-- depends: 0035.untagged-readers

-- For the application's role only: an owner can take triggers away, and imports a chain as it is.
-- The names are looked up in public first, so that no temporary table stands in for the ledger.
CREATE FUNCTION refuse_head() RETURNS trigger LANGUAGE plpgsql
  SET search_path = pg_catalog, public, pg_temp
AS $$
DECLARE
  appended bigint;
  chained bigint;
  ends boolean;
BEGIN
  SELECT count(*), count(*) FILTER (WHERE e.prev_hash = e.before),
         bool_or(e.position = NEW.position AND e.hash = NEW.hash AND e.recorded_at = NEW.recorded_at)
    INTO appended, chained, ends
    FROM (SELECT l.position, l.hash, l.prev_hash, l.recorded_at,
                 lag(l.hash, 1, OLD.hash) OVER (ORDER BY l.position) AS before
            FROM ledger l
           WHERE l.workspace_id = OLD.workspace_id
             AND l.position > OLD.position AND l.position <= NEW.position) AS e;
  IF NEW.workspace_id <> OLD.workspace_id OR appended = 0 OR NOT ends
    OR appended <> NEW.position - OLD.position OR chained <> appended THEN
    RAISE EXCEPTION 'the head of a ledger goes forward by what was appended'
      USING ERRCODE = 'restrict_violation';
  END IF;
  RETURN NEW;
END
$$;
CREATE TRIGGER head_goes_forward BEFORE UPDATE ON ledger_head FOR EACH ROW
  WHEN (current_user = 'cairn_app') EXECUTE FUNCTION refuse_head();

-- At commit: an entry past the head would stand in the way of every later one.
CREATE FUNCTION refuse_beyond_head() RETURNS trigger LANGUAGE plpgsql
  SET search_path = pg_catalog, public, pg_temp
AS $$
BEGIN
  IF NOT EXISTS (SELECT FROM ledger_head h
    WHERE h.workspace_id = NEW.workspace_id AND h.position >= NEW.position) THEN
    RAISE EXCEPTION 'an entry was appended and the head was not moved'
      USING ERRCODE = 'restrict_violation';
  END IF;
  RETURN NULL;
END
$$;
CREATE CONSTRAINT TRIGGER ledger_ends_at_its_head AFTER INSERT ON ledger
  DEFERRABLE INITIALLY DEFERRED FOR EACH ROW
  WHEN (current_user = 'cairn_app') EXECUTE FUNCTION refuse_beyond_head();

REVOKE UPDATE ON ledger_head FROM cairn_app;
GRANT UPDATE (position, hash, recorded_at) ON ledger_head TO cairn_app;
