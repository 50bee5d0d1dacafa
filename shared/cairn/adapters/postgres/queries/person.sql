-- name: lock
-- Let nobody else change who signs in until the transaction ends.
SELECT pg_advisory_xact_lock(hashtextextended('people ' || %(workspace_id)s::text, 0))

-- name: all
-- Everybody who signs in, by name.
SELECT id, login, name, role, created_at, changed_at, disabled_at, password_hash IS NOT NULL AS has_password,
    (SELECT count(*) FROM person_passkey k
      WHERE k.workspace_id = person.workspace_id AND k.person_id = person.id) AS passkeys,
    (SELECT t.client_id FROM person_member t
      WHERE t.workspace_id = person.workspace_id AND t.person_id = person.id) AS client_id
  FROM person WHERE workspace_id = %(workspace_id)s ORDER BY login

-- name: add
-- Somebody who may sign in; nothing where the name is taken.
INSERT INTO person (workspace_id, id, login, name, role, created_at, changed_at)
VALUES (%(workspace_id)s, %(id)s, %(login)s, %(called)s, %(role)s, %(now)s, %(now)s)
ON CONFLICT (login) DO NOTHING RETURNING id

-- name: change
-- What somebody may do, and whether they may sign in.
UPDATE person SET role = %(role)s, disabled_at = %(disabled_at)s, changed_at = %(now)s
 WHERE workspace_id = %(workspace_id)s AND id = %(id)s

-- name: remove
-- Somebody signs in no more; links and sessions go along.
DELETE FROM person WHERE workspace_id = %(workspace_id)s AND id = %(id)s

-- name: credentials
-- What a sign-in is held to.
SELECT id, login, name, role, password_hash, failures, locked_until FROM person
 WHERE workspace_id = %(workspace_id)s AND id = %(id)s AND disabled_at IS NULL

-- name: count_attempts
-- How many sign-ins failed one after the other, and until when none is tried.
UPDATE person SET failures = %(failures)s, locked_until = %(locked_until)s
 WHERE workspace_id = %(workspace_id)s AND id = %(id)s

-- name: set_password
-- A new password.
UPDATE person SET password_hash = %(password_hash)s, failures = 0, locked_until = NULL
 WHERE workspace_id = %(workspace_id)s AND id = %(id)s

-- name: keep_link
-- A link that signs somebody in once, in the place of the one before.
INSERT INTO person_link (workspace_id, token_hash, person_id, created_at, expires_at)
VALUES (%(workspace_id)s, %(token_hash)s, %(person_id)s, %(now)s, %(expires_at)s)
ON CONFLICT (workspace_id, person_id) DO UPDATE SET token_hash = EXCLUDED.token_hash,
  created_at = EXCLUDED.created_at, expires_at = EXCLUDED.expires_at

-- name: take_link
-- Whose a link is that is good now; it is spent.
DELETE FROM person_link
 WHERE workspace_id = %(workspace_id)s AND token_hash = %(token_hash)s AND expires_at > %(now)s
RETURNING person_id

-- name: drop_links
-- Links of somebody open nothing any more.
DELETE FROM person_link WHERE workspace_id = %(workspace_id)s AND person_id = %(person_id)s

-- name: add_session
-- Somebody signed in.
INSERT INTO person_session (workspace_id, id, person_id, token_hash, csrf, by_link, created_at, seen_at,
  expires_at)
VALUES (%(workspace_id)s, %(id)s, %(person_id)s, %(token_hash)s, %(csrf)s, %(by_link)s, %(now)s,
  %(now)s, %(expires_at)s)

-- name: drop_old_sessions
-- Sessions of somebody that are over.
DELETE FROM person_session
 WHERE workspace_id = %(workspace_id)s AND person_id = %(person_id)s AND expires_at <= %(now)s

-- name: rotate
-- A new token of a session, unless somebody else has made one meanwhile.
UPDATE person_session SET token_hash = %(token_hash)s, token_before = %(token_before)s,
  csrf = %(csrf)s, rotate = false, by_link = false
 WHERE workspace_id = %(workspace_id)s AND id = %(id)s AND token_hash = %(token_before)s
RETURNING id

-- name: see
-- A session was used.
UPDATE person_session SET seen_at = %(now)s
 WHERE workspace_id = %(workspace_id)s AND id = %(id)s

-- name: end_sessions
-- A session, or all of somebody's but perhaps one, opens nothing any more; says which.
DELETE FROM person_session
 WHERE workspace_id = %(workspace_id)s AND person_id = %(person_id)s
   AND (%(id)s::uuid IS NULL OR id = %(id)s) AND (%(but)s::uuid IS NULL OR id <> %(but)s)
RETURNING id

-- name: mark_rotation
-- Somebody's rights changed: each session gets a new token with its next answer.
UPDATE person_session SET rotate = true
 WHERE workspace_id = %(workspace_id)s AND person_id = %(person_id)s

-- name: sessions
-- Where somebody is signed in, the newest first.
SELECT id, created_at, seen_at FROM person_session
 WHERE workspace_id = %(workspace_id)s AND person_id = %(person_id)s AND expires_at > %(now)s
 ORDER BY created_at DESC, id DESC

-- name: workspace_of_login
-- Who signs in under a name, in whatever workspace.
SELECT workspace_id, person_id FROM workspace_of_login(%(login)s)

-- name: workspace_of_link
-- Where a one-time link leads.
SELECT workspace_of_link(%(token_hash)s)

-- name: admit_session
-- Who holds a session's token that is good now, or the one before it.
SELECT workspace_id, person_id, session_id, login, name, role, csrf, present, rotate, by_link, seen_at, token_hash
  FROM admit_session(%(token_hash)s, %(now)s, %(idle)s)

-- name: count_address
-- An attempt to sign in of an address, or one given back; how many seconds it has to wait.
SELECT count_address(%(place)s, %(now)s, %(most)s, %(per_second)s, %(taken)s)

-- name: add_passkey
-- A passkey of somebody; nothing where its credential is known already, in whatever workspace.
INSERT INTO person_passkey (workspace_id, id, person_id, credential_id, public_key, sign_count, name,
  created_at)
VALUES (%(workspace_id)s, %(id)s, %(person_id)s, %(credential_id)s, %(public_key)s, %(sign_count)s,
  %(called)s, %(now)s)
ON CONFLICT (credential_id) DO NOTHING RETURNING id

-- name: passkeys
-- The passkeys of somebody, the oldest first.
SELECT id, credential_id, public_key, sign_count, name, created_at, used_at FROM person_passkey
 WHERE workspace_id = %(workspace_id)s AND person_id = %(person_id)s ORDER BY created_at, id

-- name: use_passkey
-- A passkey signed somebody in; nothing where it was used or removed meanwhile, or counts backwards.
UPDATE person_passkey SET sign_count = %(sign_count)s, used_at = %(now)s
 WHERE workspace_id = %(workspace_id)s AND id = %(id)s
   AND (sign_count < %(sign_count)s OR (sign_count = 0 AND %(sign_count)s = 0))
RETURNING id

-- name: remove_passkey
-- A passkey of somebody opens nothing any more.
DELETE FROM person_passkey
 WHERE workspace_id = %(workspace_id)s AND person_id = %(person_id)s AND id = %(id)s RETURNING id

-- name: workspace_of_passkey
-- Whose a passkey is, in whatever workspace.
SELECT workspace_id, person_id FROM workspace_of_passkey(%(credential_id)s)

-- name: begin_attempt
-- What a sign-in under way is held to, until it is over.
SELECT begin_sign_in(%(attempt)s, %(purpose)s, %(body)s, %(now)s, %(expires_at)s)

-- name: take_attempt
-- What a sign-in is held to, this once.
SELECT take_sign_in(%(attempt)s, %(purpose)s, %(now)s)

-- name: add_identity
-- Who somebody is at an issuer; nothing where either of them is linked already.
INSERT INTO person_identity (workspace_id, person_id, issuer, subject, created_at)
VALUES (%(workspace_id)s, %(person_id)s, %(issuer)s, %(subject)s, %(now)s)
ON CONFLICT DO NOTHING RETURNING person_id

-- name: workspace_of_identity
-- Who somebody of an issuer is, in whatever workspace.
SELECT workspace_id, person_id FROM workspace_of_identity(%(issuer)s, %(subject)s)

-- name: rename
-- Another name to sign in under, and what somebody is called; nothing where the name is taken.
UPDATE person SET login = %(login)s, name = %(called)s, changed_at = %(now)s
 WHERE workspace_id = %(workspace_id)s AND id = %(id)s
   AND NOT EXISTS (SELECT FROM workspace_of_login(%(login)s) w WHERE w.person_id <> %(id)s)
RETURNING id

-- name: drop_credentials
-- Nothing that somebody had signs in any more: password, passkeys, who they are at the issuer.
WITH passkeys AS (
  DELETE FROM person_passkey WHERE workspace_id = %(workspace_id)s AND person_id = %(id)s),
identities AS (
  DELETE FROM person_identity WHERE workspace_id = %(workspace_id)s AND person_id = %(id)s)
UPDATE person SET password_hash = NULL, failures = 0, locked_until = NULL
 WHERE workspace_id = %(workspace_id)s AND id = %(id)s

-- name: tie
-- Which member somebody is; nothing where either is tied already.
INSERT INTO person_member (workspace_id, person_id, member_id, client_id, tied_at)
VALUES (%(workspace_id)s, %(person_id)s, %(member_id)s, %(client_id)s, %(now)s)
ON CONFLICT DO NOTHING RETURNING person_id

-- name: untie
-- Somebody is no member any more; says which one they were.
DELETE FROM person_member
 WHERE workspace_id = %(workspace_id)s AND person_id = %(person_id)s RETURNING member_id

-- name: tied
-- The client of the member that somebody is.
SELECT client_id FROM person_member
 WHERE workspace_id = %(workspace_id)s AND person_id = %(person_id)s
