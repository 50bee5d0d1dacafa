-- How connectors and ticket sources are signed in by a device code, and the tokens that it gave.
-- depends: 0104.widget-login

CREATE TABLE oauth_sign_in (
  workspace_id uuid NOT NULL REFERENCES workspace (id),
  holder_id uuid NOT NULL, -- a connector or a ticket source; goes with it
  -- the attempt that was begun last
  bound_to bytea NOT NULL, -- a digest of the client, and of where its token goes
  attempt text CHECK (attempt IN ('pending', 'done', 'denied', 'expired', 'failed')),
  attempt_id uuid,
  sealed_attempt bytea, -- device code, user code and addresses, under the workspace's own key
  reason text,
  ask_after timestamptz,
  ask_every integer NOT NULL DEFAULT 5,
  code_expires_at timestamptz,
  -- the grant of the last one that was done
  grant_bound_to bytea,
  sealed_grant bytea, -- access and refresh token, under the workspace's own key
  generation bigint NOT NULL DEFAULT 0,
  refused text, -- why the grant is good no more
  grant_expires_at timestamptz,
  signed_in_at timestamptz, -- a person did; renewals leave it
  -- one process at a time renews it
  lease uuid,
  leased_until timestamptz,
  changed_at timestamptz NOT NULL,
  PRIMARY KEY (workspace_id, holder_id)
);
ALTER TABLE oauth_sign_in ENABLE ROW LEVEL SECURITY;
ALTER TABLE oauth_sign_in FORCE ROW LEVEL SECURITY;
CREATE POLICY migrator ON oauth_sign_in TO cairn_migrator USING (true) WITH CHECK (true);
CREATE POLICY tenant ON oauth_sign_in TO cairn_app
  USING (workspace_id = nullif(current_setting('cairn.workspace_id', true), '')::uuid)
  WITH CHECK (workspace_id = nullif(current_setting('cairn.workspace_id', true), '')::uuid);
-- a key that is bound to a client has no business with them
CREATE POLICY no_client ON oauth_sign_in AS RESTRICTIVE TO cairn_app
  USING ((SELECT current_client()) IS NULL);
GRANT SELECT, INSERT, UPDATE, DELETE ON oauth_sign_in TO cairn_app, cairn_migrator;
