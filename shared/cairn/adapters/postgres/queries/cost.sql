-- name: days
-- What each day of a period has cost.
SELECT to_char(day, 'YYYY-MM-DD') AS name, calls, tokens, usd, unpriced_calls
  FROM llm_spend
 WHERE workspace_id = %(workspace_id)s AND day BETWEEN %(since)s AND %(until)s
 ORDER BY day

-- name: by_model
-- What each model has cost in a period, of the calls that are kept; the dearest first.
SELECT model AS name, count(*) AS calls,
  sum(input_tokens + output_tokens + cache_read_tokens + cache_write_tokens)::bigint AS tokens,
  coalesce(sum(cost_usd), 0) AS usd,
  count(*) FILTER (WHERE cost_usd IS NULL AND input_tokens + output_tokens > 0) AS unpriced_calls,
  sum(input_tokens)::bigint AS input_tokens, sum(output_tokens)::bigint AS output_tokens,
  sum(cache_read_tokens)::bigint AS cache_read_tokens,
  sum(cache_write_tokens)::bigint AS cache_write_tokens
  FROM llm_call
 WHERE workspace_id = %(workspace_id)s
   AND started_at >= %(since)s::date::timestamp AT TIME ZONE 'UTC'
   AND started_at < (%(until)s::date + 1)::timestamp AT TIME ZONE 'UTC'
 GROUP BY model ORDER BY usd DESC, model

-- name: by_purpose
-- What each purpose has cost in a period, of the calls that are kept; the dearest first.
SELECT purpose AS name, count(*) AS calls,
  sum(input_tokens + output_tokens + cache_read_tokens + cache_write_tokens)::bigint AS tokens,
  coalesce(sum(cost_usd), 0) AS usd,
  count(*) FILTER (WHERE cost_usd IS NULL AND input_tokens + output_tokens > 0) AS unpriced_calls,
  sum(input_tokens)::bigint AS input_tokens, sum(output_tokens)::bigint AS output_tokens,
  sum(cache_read_tokens)::bigint AS cache_read_tokens,
  sum(cache_write_tokens)::bigint AS cache_write_tokens
  FROM llm_call
 WHERE workspace_id = %(workspace_id)s
   AND started_at >= %(since)s::date::timestamp AT TIME ZONE 'UTC'
   AND started_at < (%(until)s::date + 1)::timestamp AT TIME ZONE 'UTC'
 GROUP BY purpose ORDER BY usd DESC, purpose

-- name: by_investigation
-- What each investigation has cost in a period, of the calls that are kept; the dearest hundred.
SELECT i.id::text AS name, count(*) AS calls,
  sum(input_tokens + output_tokens + cache_read_tokens + cache_write_tokens)::bigint AS tokens,
  coalesce(sum(cost_usd), 0) AS usd,
  count(*) FILTER (WHERE cost_usd IS NULL AND input_tokens + output_tokens > 0) AS unpriced_calls,
  sum(input_tokens)::bigint AS input_tokens, sum(output_tokens)::bigint AS output_tokens,
  sum(cache_read_tokens)::bigint AS cache_read_tokens,
  sum(cache_write_tokens)::bigint AS cache_write_tokens
  FROM llm_call c JOIN investigation i ON i.workspace_id = c.workspace_id AND i.id = c.run_id
 WHERE c.workspace_id = %(workspace_id)s
   AND c.started_at >= %(since)s::date::timestamp AT TIME ZONE 'UTC'
   AND c.started_at < (%(until)s::date + 1)::timestamp AT TIME ZONE 'UTC'
 GROUP BY i.id ORDER BY usd DESC, i.id LIMIT 100

-- name: by_persona
-- What investigations of each persona have cost in a period, of the calls that are kept.
SELECT i.persona AS name, count(*) AS calls,
  sum(input_tokens + output_tokens + cache_read_tokens + cache_write_tokens)::bigint AS tokens,
  coalesce(sum(cost_usd), 0) AS usd,
  count(*) FILTER (WHERE cost_usd IS NULL AND input_tokens + output_tokens > 0) AS unpriced_calls,
  sum(input_tokens)::bigint AS input_tokens, sum(output_tokens)::bigint AS output_tokens,
  sum(cache_read_tokens)::bigint AS cache_read_tokens,
  sum(cache_write_tokens)::bigint AS cache_write_tokens
  FROM llm_call c JOIN investigation i ON i.workspace_id = c.workspace_id AND i.id = c.run_id
 WHERE c.workspace_id = %(workspace_id)s
   AND c.started_at >= %(since)s::date::timestamp AT TIME ZONE 'UTC'
   AND c.started_at < (%(until)s::date + 1)::timestamp AT TIME ZONE 'UTC'
 GROUP BY i.persona ORDER BY usd DESC, i.persona

-- name: by_workspace
-- What each workspace has cost in a period, the dearest first; the owner asks.
SELECT workspace_id::text AS name, sum(calls)::bigint AS calls, sum(tokens)::bigint AS tokens,
  sum(usd) AS usd, sum(unpriced_calls)::bigint AS unpriced_calls
  FROM llm_spend WHERE day BETWEEN %(since)s AND %(until)s
 GROUP BY workspace_id ORDER BY sum(usd) DESC, workspace_id

-- name: of_run
-- What one run has cost by purpose.
SELECT purpose AS name, count(*) AS calls,
  sum(input_tokens + output_tokens + cache_read_tokens + cache_write_tokens)::bigint AS tokens,
  coalesce(sum(cost_usd), 0) AS usd,
  count(*) FILTER (WHERE cost_usd IS NULL AND input_tokens + output_tokens > 0) AS unpriced_calls,
  sum(input_tokens)::bigint AS input_tokens, sum(output_tokens)::bigint AS output_tokens,
  sum(cache_read_tokens)::bigint AS cache_read_tokens,
  sum(cache_write_tokens)::bigint AS cache_write_tokens
  FROM llm_call
 WHERE workspace_id = %(workspace_id)s AND run_id = %(run_id)s
 GROUP BY purpose ORDER BY purpose
