-- What the connector `accounts` needs of a customer's PostgreSQL. Run it as an owner of the
-- database who may create roles; then give accounts_connector a password. The role may do exactly
-- what the connector's tools do. Customers with tables of another shape make views of these names.

DO $$
BEGIN
  IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'accounts_connector') THEN
    CREATE ROLE accounts_connector LOGIN;
  END IF;
END
$$;

CREATE SCHEMA accounts;

CREATE TABLE accounts.users (
  id text PRIMARY KEY CHECK (id ~ '^[A-Za-z0-9._-]{1,64}$'),
  email text NOT NULL UNIQUE CHECK (email = lower(email)),
  name text NOT NULL,
  department text NOT NULL DEFAULT '',
  -- active <-> locked by the connector or by failed sign-ins; suspended and back by people only
  status text NOT NULL CHECK (status IN ('active', 'locked', 'suspended')),
  locked_reason text,
  failed_sign_ins integer NOT NULL DEFAULT 0 CHECK (failed_sign_ins >= 0),
  must_reset boolean NOT NULL DEFAULT false, -- the next sign-in asks for a new password
  created_at timestamptz NOT NULL DEFAULT now(),
  changed_at timestamptz NOT NULL DEFAULT now()
);

CREATE TABLE accounts.sign_ins (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  user_id text NOT NULL REFERENCES accounts.users (id) ON DELETE CASCADE,
  at timestamptz NOT NULL,
  outcome text NOT NULL CHECK (outcome IN ('success', 'wrong_password', 'locked', 'mfa_failed')),
  address inet NOT NULL,
  device text NOT NULL DEFAULT ''
);

CREATE INDEX sign_ins_of_user ON accounts.sign_ins (user_id, at DESC);

-- One row an action that was done: the key it was done under, and what was answered.
CREATE TABLE accounts.action_keys (
  key text PRIMARY KEY,
  tool text NOT NULL,
  user_id text NOT NULL, -- no reference: the row outlives a deleted user
  answer jsonb NOT NULL,
  made_at timestamptz NOT NULL DEFAULT now()
);

GRANT USAGE ON SCHEMA accounts TO accounts_connector;
GRANT SELECT, UPDATE (status, locked_reason, failed_sign_ins, must_reset, changed_at), DELETE
  ON accounts.users TO accounts_connector;
GRANT SELECT ON accounts.sign_ins TO accounts_connector;
GRANT SELECT, INSERT ON accounts.action_keys TO accounts_connector;
