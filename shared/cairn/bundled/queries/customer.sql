-- name: limits
-- Limits of the running transaction, in milliseconds; also its first statement, after which a read-only one stays so.
SELECT set_config('statement_timeout', %(milliseconds)s, true),
  set_config('lock_timeout', %(milliseconds)s, true)

-- name: who
-- Who is connected, whether that role is one of Cairn's or a mighty one or can become one, and whether the database holds Cairn's tables.
SELECT session_user::text, current_user::text,
  EXISTS (SELECT FROM pg_roles AS own
          WHERE starts_with(own.rolname, %(prefix)s) AND pg_has_role(own.oid, 'MEMBER')),
  EXISTS (SELECT FROM pg_roles AS might
          WHERE (might.rolsuper OR might.rolreplication OR might.rolname = ANY (%(mighty)s))
            AND pg_has_role(might.oid, 'MEMBER')),
  EXISTS (SELECT FROM pg_class AS ledger JOIN pg_class AS tenant USING (relnamespace)
          WHERE ledger.relname = 'ledger' AND tenant.relname = 'workspace')
