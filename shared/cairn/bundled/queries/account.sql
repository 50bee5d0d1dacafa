-- name: find
-- Users with an address, an id, or a part of a name; those not asked for are NULL.
SELECT id, email, name, department, status, locked_reason, failed_sign_ins, must_reset
FROM accounts.users
WHERE email = lower(%(email)s) OR id = %(user_id)s
  OR position(lower(%(name)s) IN lower(name)) > 0
ORDER BY name, id LIMIT %(limit)s

-- name: read
-- One user.
SELECT id, email, name, department, status, locked_reason, failed_sign_ins, must_reset
FROM accounts.users WHERE id = %(user_id)s

-- name: hold
-- One user, whom nobody else changes until the transaction ends.
SELECT id, email, name, department, status, locked_reason, failed_sign_ins, must_reset
FROM accounts.users WHERE id = %(user_id)s FOR UPDATE

-- name: sign_ins
-- The newest sign-ins of a user.
SELECT at, outcome, host(address), device FROM accounts.sign_ins
WHERE user_id = %(user_id)s ORDER BY at DESC, id DESC LIMIT %(limit)s

-- name: alone
-- Waits until no other transaction works under the same idempotency key.
SELECT pg_advisory_xact_lock(hashtextextended(%(key)s, 0))

-- name: done
-- What was done under an idempotency key.
SELECT tool, user_id, answer FROM accounts.action_keys WHERE key = %(key)s

-- name: remember
-- Keeps what was done under an idempotency key.
INSERT INTO accounts.action_keys (key, tool, user_id, answer)
VALUES (%(key)s, %(tool)s, %(user_id)s, %(answer)s)

-- name: change
-- The state of a user's account.
UPDATE accounts.users SET status = %(status)s, locked_reason = %(locked_reason)s,
  failed_sign_ins = %(failed_sign_ins)s, must_reset = %(must_reset)s, changed_at = now()
WHERE id = %(user_id)s

-- name: delete
-- A user, with the sign-ins.
DELETE FROM accounts.users WHERE id = %(user_id)s
