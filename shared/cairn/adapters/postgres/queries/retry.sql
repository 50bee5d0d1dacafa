-- name: claim_intent
-- That an intent is looked for now: once at a time, and not before its time after a failure.
UPDATE intent SET tries = tries + 1, problem = 'interrupted',
  retry_at = %(now)s + least(%(most)s, %(first)s * power(2, least(tries, 20)))
 WHERE workspace_id = %(workspace_id)s AND id = %(id)s AND (retry_at IS NULL OR retry_at <= %(now)s)

-- name: claim_opportunity
-- That an opportunity is negotiated or ends now.
UPDATE opportunity SET tries = tries + 1, problem = 'interrupted',
  retry_at = %(now)s + least(%(most)s, %(first)s * power(2, least(tries, 20)))
 WHERE workspace_id = %(workspace_id)s AND id = %(id)s AND (retry_at IS NULL OR retry_at <= %(now)s)

-- name: claim_negotiation
-- That a negotiation goes on now, where it still is to.
UPDATE negotiation SET tries = tries + 1, problem = 'interrupted',
  retry_at = %(now)s + least(%(most)s, %(first)s * power(2, least(tries, 20)))
 WHERE workspace_id = %(workspace_id)s AND id = %(id)s AND (retry_at IS NULL OR retry_at <= %(now)s)
   AND state <> 'ended' AND deadline <= %(now)s

-- name: fail_intent
-- What a try came to.
UPDATE intent SET problem = %(problem)s WHERE workspace_id = %(workspace_id)s AND id = %(id)s

-- name: fail_opportunity
-- What a try came to.
UPDATE opportunity SET problem = %(problem)s WHERE workspace_id = %(workspace_id)s AND id = %(id)s

-- name: fail_negotiation
-- What a try came to.
UPDATE negotiation SET problem = %(problem)s WHERE workspace_id = %(workspace_id)s AND id = %(id)s

-- name: redrive
-- Let everything that failed be tried again at once.
WITH intents AS (UPDATE intent SET tries = 0, retry_at = NULL, problem = NULL
    WHERE workspace_id = %(workspace_id)s AND retry_at IS NOT NULL RETURNING id),
  opportunities AS (UPDATE opportunity SET tries = 0, retry_at = NULL, problem = NULL
    WHERE workspace_id = %(workspace_id)s AND retry_at IS NOT NULL RETURNING id),
  negotiations AS (UPDATE negotiation SET tries = 0, retry_at = NULL, problem = NULL
    WHERE workspace_id = %(workspace_id)s AND retry_at IS NOT NULL RETURNING id)
SELECT ((SELECT count(*) FROM intents) + (SELECT count(*) FROM opportunities)
  + (SELECT count(*) FROM negotiations))::integer
