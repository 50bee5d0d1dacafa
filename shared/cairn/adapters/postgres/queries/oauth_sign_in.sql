-- name: find
-- How a holder's sign-in stands.
SELECT bound_to, attempt, attempt_id, sealed_attempt, reason, ask_after, ask_every, code_expires_at,
  grant_bound_to, sealed_grant, generation, refused, grant_expires_at
  FROM oauth_sign_in WHERE workspace_id = %(workspace_id)s AND holder_id = %(id)s

-- name: begin
-- Another attempt; the grant of an earlier one stays until this one is done.
INSERT INTO oauth_sign_in AS held (workspace_id, holder_id, bound_to, attempt, attempt_id,
  sealed_attempt, ask_after, ask_every, code_expires_at, changed_at)
VALUES (%(workspace_id)s, %(id)s, %(bound_to)s, %(attempt)s, %(attempt_id)s, %(sealed_attempt)s,
  %(ask_after)s, %(ask_every)s, %(code_expires_at)s, %(now)s)
ON CONFLICT (workspace_id, holder_id) DO UPDATE SET bound_to = EXCLUDED.bound_to,
  attempt = EXCLUDED.attempt, attempt_id = EXCLUDED.attempt_id,
  sealed_attempt = EXCLUDED.sealed_attempt, reason = NULL, ask_after = EXCLUDED.ask_after,
  ask_every = EXCLUDED.ask_every, code_expires_at = EXCLUDED.code_expires_at,
  changed_at = EXCLUDED.changed_at

-- name: take_question
-- The right to ask now, for one process; the next may ask after the interval.
UPDATE oauth_sign_in SET ask_after = %(now)s::timestamptz + make_interval(secs => ask_every)
 WHERE workspace_id = %(workspace_id)s AND holder_id = %(id)s AND attempt_id = %(attempt_id)s
   AND attempt = 'pending' AND ask_after <= %(now)s

-- name: ask_later
-- A slower pace, as the server wants it.
UPDATE oauth_sign_in SET ask_after = %(after)s, ask_every = %(every)s
 WHERE workspace_id = %(workspace_id)s AND holder_id = %(id)s AND attempt_id = %(attempt_id)s
   AND attempt = 'pending'

-- name: settle
-- What became of an attempt that was under way; its codes go.
UPDATE oauth_sign_in SET attempt = %(attempt)s, reason = %(reason)s, sealed_attempt = NULL,
  changed_at = %(now)s
 WHERE workspace_id = %(workspace_id)s AND holder_id = %(id)s AND attempt_id = %(attempt_id)s
   AND attempt = 'pending'

-- name: keep_grant
-- The grant of an attempt that is done; whoever renews the one before does so in vain.
UPDATE oauth_sign_in SET grant_bound_to = %(bound_to)s, sealed_grant = %(sealed)s,
  generation = generation + 1, refused = NULL, grant_expires_at = %(expires_at)s, lease = NULL,
  leased_until = NULL, signed_in_at = %(now)s, changed_at = %(now)s
 WHERE workspace_id = %(workspace_id)s AND holder_id = %(id)s

-- name: take_renewal
-- The right to renew a grant, for one process.
UPDATE oauth_sign_in SET lease = %(lease)s, leased_until = %(until)s
 WHERE workspace_id = %(workspace_id)s AND holder_id = %(id)s AND generation = %(generation)s
   AND refused IS NULL AND (leased_until IS NULL OR leased_until <= %(now)s)

-- name: keep_renewed
-- A renewed grant, unless there is another by now; that of a lease that ran out is as good.
UPDATE oauth_sign_in SET sealed_grant = %(sealed)s, generation = %(generation)s, refused = NULL,
  grant_expires_at = %(expires_at)s, lease = NULL, leased_until = NULL, changed_at = %(now)s
 WHERE workspace_id = %(workspace_id)s AND holder_id = %(id)s
   AND generation = %(generation)s::bigint - 1 AND sealed_grant IS NOT NULL

-- name: end_renewal
-- Whoever could not renew it gives the right back.
UPDATE oauth_sign_in SET lease = NULL, leased_until = NULL
 WHERE workspace_id = %(workspace_id)s AND holder_id = %(id)s AND lease = %(lease)s

-- name: refuse
-- A grant that is good no more.
UPDATE oauth_sign_in SET refused = %(reason)s, lease = NULL, leased_until = NULL,
  changed_at = %(now)s
 WHERE workspace_id = %(workspace_id)s AND holder_id = %(id)s AND generation = %(generation)s

-- name: remove
-- The attempt and the grant are gone.
DELETE FROM oauth_sign_in WHERE workspace_id = %(workspace_id)s AND holder_id = %(id)s
