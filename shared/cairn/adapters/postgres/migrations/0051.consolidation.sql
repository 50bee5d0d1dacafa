-- What was asked of chat models and what it cost, and runs of the consolidation.
-- depends: 0050.searches
-- squashes: 0044.allowances

-- One row a request: ids, counts and codes; never a text. Not a projection: no entry makes these rows.
-- They leave after a while; the sums of each day stay.
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
CREATE INDEX llm_call_started_at ON llm_call (started_at);
CREATE INDEX llm_call_run ON llm_call (workspace_id, run_id) WHERE run_id IS NOT NULL;

-- Calls of every workspace from before a moment, the oldest first, at most `most`. Never of the last
-- day: the budget of a run is counted from them.
CREATE FUNCTION drop_model_calls(before timestamptz, most integer) RETURNS bigint
  LANGUAGE sql VOLATILE STRICT SECURITY DEFINER
  SET search_path = pg_catalog, public, pg_temp
AS $$
  WITH due AS (
    SELECT c.workspace_id, c.id FROM llm_call c
     WHERE c.started_at < least(before, now() - interval '1 day')
     ORDER BY c.started_at LIMIT most
  ), gone AS (
    DELETE FROM llm_call c USING due
     WHERE c.workspace_id = due.workspace_id AND c.id = due.id RETURNING 1
  )
  SELECT count(*) FROM gone
$$;

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

-- Ids, counts and sentences of Cairn's own only: no text and no name of anybody.
CREATE TABLE consolidation_run (
  workspace_id uuid NOT NULL REFERENCES workspace (id),
  id uuid NOT NULL,
  -- waiting -> running -> finished | failed ; waiting -> failed
  state text NOT NULL CHECK (state IN ('waiting', 'running', 'finished', 'failed')),
  trigger text NOT NULL CHECK (trigger IN ('schedule', 'request')),
  dry_run boolean NOT NULL,
  client uuid, -- the data subject of the one client it is for; null: all
  requested_by uuid, -- the principal; null for the schedule
  provider text, -- who planned
  model text,
  counts jsonb NOT NULL DEFAULT '{}',
  cost_usd numeric, -- null: a model without a known price was asked
  undone text[] NOT NULL DEFAULT '{}', -- what the planner leaves to another
  error jsonb,
  execution text, -- of the state machine
  created_at timestamptz NOT NULL,
  started_at timestamptz,
  updated_at timestamptz NOT NULL,
  ended_at timestamptz,
  PRIMARY KEY (workspace_id, id)
);
CREATE INDEX consolidation_run_open ON consolidation_run (workspace_id, updated_at)
  WHERE state IN ('waiting', 'running');
