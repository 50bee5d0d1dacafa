-- What was asked of chat models and what it cost: one row a request, and the sum of each day.
-- depends: 0014.search-run-retention

-- Ids, counts and codes; never a text. Not a projection: no entry makes these rows.
CREATE TABLE llm_call (
  workspace_id uuid NOT NULL REFERENCES workspace (id),
  id uuid NOT NULL,
  run_id uuid, -- of a consolidation, or the search the question was asked for
  purpose text NOT NULL,
  provider text NOT NULL,
  model text NOT NULL,
  input_tokens bigint NOT NULL CHECK (input_tokens >= 0), -- without the cached ones
  output_tokens bigint NOT NULL CHECK (output_tokens >= 0),
  cache_read_tokens bigint NOT NULL CHECK (cache_read_tokens >= 0),
  cache_write_tokens bigint NOT NULL CHECK (cache_write_tokens >= 0),
  cost_usd numeric, -- null: the model has no known price, or the request failed
  ms real NOT NULL,
  outcome text NOT NULL, -- answered, or the reason it was no use, such as chat-busy
  started_at timestamptz NOT NULL,
  PRIMARY KEY (workspace_id, id)
);
CREATE INDEX llm_call_started_at ON llm_call (workspace_id, started_at);
CREATE INDEX llm_call_run ON llm_call (workspace_id, run_id) WHERE run_id IS NOT NULL;

-- What a budget of a day is checked against: one row to read, however many calls there were.
CREATE TABLE llm_spend (
  workspace_id uuid NOT NULL REFERENCES workspace (id),
  day date NOT NULL, -- UTC
  calls bigint NOT NULL,
  tokens bigint NOT NULL,
  usd numeric NOT NULL, -- of the calls with a known price
  unpriced_calls bigint NOT NULL, -- answered by a model without one
  PRIMARY KEY (workspace_id, day)
);

DO $$
DECLARE
  name text;
BEGIN
  FOREACH name IN ARRAY ARRAY['llm_call', 'llm_spend'] LOOP
    EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', name);
    EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', name);
    EXECUTE format('CREATE POLICY migrator ON %I TO cairn_migrator USING (true) WITH CHECK (true)', name);
    EXECUTE format($p$CREATE POLICY tenant ON %I TO cairn_app
      USING (workspace_id = nullif(current_setting('cairn.workspace_id', true), '')::uuid)
      WITH CHECK (workspace_id = nullif(current_setting('cairn.workspace_id', true), '')::uuid)$p$, name);
  END LOOP;
END
$$;
GRANT SELECT, INSERT ON llm_call TO cairn_app;
GRANT SELECT, INSERT, UPDATE ON llm_spend TO cairn_app;
GRANT SELECT, INSERT, UPDATE, DELETE ON llm_call, llm_spend TO cairn_migrator;
