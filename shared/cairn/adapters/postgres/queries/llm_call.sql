-- name: record
-- Keep one call and add it to its day; a call that is kept already changes nothing.
WITH kept AS (
  INSERT INTO llm_call (workspace_id, id, run_id, purpose, provider, model, input_tokens,
    output_tokens, cache_read_tokens, cache_write_tokens, cost_usd, ms, outcome, started_at)
  VALUES (%(workspace_id)s, %(id)s, %(run_id)s, %(purpose)s, %(provider)s, %(model)s,
    %(input_tokens)s, %(output_tokens)s, %(cache_read_tokens)s, %(cache_write_tokens)s,
    %(cost_usd)s, %(ms)s, %(outcome)s, %(started_at)s)
  ON CONFLICT (workspace_id, id) DO NOTHING
  RETURNING *
)
INSERT INTO llm_spend AS s (workspace_id, day, calls, tokens, usd, unpriced_calls)
SELECT workspace_id, (started_at AT TIME ZONE 'UTC')::date, 1,
  input_tokens + output_tokens + cache_read_tokens + cache_write_tokens,
  coalesce(cost_usd, 0),
  (cost_usd IS NULL AND input_tokens + output_tokens > 0)::int
  FROM kept
ON CONFLICT (workspace_id, day) DO UPDATE SET calls = s.calls + 1,
  tokens = s.tokens + excluded.tokens, usd = s.usd + excluded.usd,
  unpriced_calls = s.unpriced_calls + excluded.unpriced_calls

-- name: spent
-- What a day has cost so far, and what one run has: tokens, US dollars, calls without a price.
SELECT 'day' AS name, coalesce(sum(tokens), 0)::bigint AS tokens, coalesce(sum(usd), 0) AS usd,
  coalesce(sum(unpriced_calls), 0)::bigint AS unpriced_calls
  FROM llm_spend WHERE workspace_id = %(workspace_id)s AND day = %(day)s
UNION ALL
SELECT 'run',
  coalesce(sum(input_tokens + output_tokens + cache_read_tokens + cache_write_tokens), 0)::bigint,
  coalesce(sum(cost_usd), 0),
  count(*) FILTER (WHERE cost_usd IS NULL AND input_tokens + output_tokens > 0)
  FROM llm_call WHERE workspace_id = %(workspace_id)s AND run_id = %(run_id)s

-- name: drop_old
-- Calls of long ago leave; those of any workspace.
SELECT drop_model_calls(%(before)s, %(limit)s)
