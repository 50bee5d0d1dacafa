-- What agents subscribe to, messages not yet in the graph, and keys that see one conversation only.
-- depends: 0006.graph

-- The messages of a conversation in their order.
CREATE INDEX node_message ON node (workspace_id, parent_id, sequence) WHERE label = 'Message';

CREATE TABLE subscription (
  workspace_id uuid NOT NULL REFERENCES workspace (id),
  agent_slug text NOT NULL CHECK (length(agent_slug) BETWEEN 1 AND 256),
  keywords text[] NOT NULL CHECK (cardinality(keywords) <= 5), -- casefolded; empty: cleared
  position bigint NOT NULL,
  PRIMARY KEY (workspace_id, agent_slug)
);

-- The first messages of a web chat, until its visitor writes a second time. Not a projection: they
-- have no entry yet. Bodies are sealed under the keys of their data subjects.
CREATE TABLE pending_message (
  workspace_id uuid NOT NULL REFERENCES workspace (id),
  id uuid NOT NULL,
  conversation_id uuid NOT NULL,
  identity text NOT NULL, -- of the conversation: audience, channel, session
  sequence integer NOT NULL,
  by_user boolean NOT NULL,
  data_subjects uuid[] NOT NULL,
  body bytea NOT NULL,
  created_at timestamptz NOT NULL,
  expires_at timestamptz NOT NULL,
  PRIMARY KEY (workspace_id, id),
  UNIQUE (workspace_id, identity, sequence)
);
CREATE INDEX pending_message_expires_at ON pending_message (expires_at);

-- Which conversation a public key was made for. Without a row it sees none.
CREATE TABLE key_conversation (
  workspace_id uuid NOT NULL REFERENCES workspace (id),
  key_id uuid NOT NULL,
  conversation_id uuid NOT NULL,
  position bigint NOT NULL,
  PRIMARY KEY (workspace_id, key_id)
);

DO $$
DECLARE
  name text;
BEGIN
  FOREACH name IN ARRAY ARRAY['subscription', 'pending_message', 'key_conversation'] LOOP
    EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', name);
    EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', name);
    EXECUTE format('CREATE POLICY migrator ON %I TO cairn_migrator USING (true) WITH CHECK (true)', name);
    EXECUTE format($p$CREATE POLICY tenant ON %I TO cairn_app
      USING (workspace_id = nullif(current_setting('cairn.workspace_id', true), '')::uuid)
      WITH CHECK (workspace_id = nullif(current_setting('cairn.workspace_id', true), '')::uuid)$p$, name);
  END LOOP;
END
$$;
GRANT SELECT, INSERT, UPDATE ON subscription TO cairn_app;
GRANT SELECT, INSERT, DELETE ON pending_message TO cairn_app;
GRANT SELECT, INSERT ON key_conversation TO cairn_app;
GRANT SELECT, INSERT, UPDATE, DELETE ON subscription, pending_message, key_conversation
  TO cairn_migrator;

-- The conversation of the public key this transaction is for; null for a key bound to none.
CREATE FUNCTION own_conversation() RETURNS uuid LANGUAGE sql STABLE
  RETURN (SELECT conversation_id FROM key_conversation
    WHERE workspace_id = nullif(current_setting('cairn.workspace_id', true), '')::uuid
      AND key_id::text = current_setting('cairn.conversations', true));

-- Who talks to whom is seen whole by admins and agents (`all`), else in one's own conversation only;
-- nothing set shows nothing. On top of workspace, scope and state, whatever a query forgets.
DO $$
DECLARE
  name text;
BEGIN
  FOREACH name IN ARRAY ARRAY['node', 'node_version'] LOOP
    EXECUTE format($p$CREATE POLICY own_conversation ON %I AS RESTRICTIVE TO cairn_app
      USING (label NOT IN ('Conversation', 'Message')
        OR current_setting('cairn.conversations', true) = 'all'
        OR CASE label WHEN 'Message' THEN parent_id ELSE id END = (SELECT own_conversation()))$p$, name);
  END LOOP;
END
$$;

-- Subscriptions look past the agent's tag, so the keywords count only as far as the agent of this
-- transaction subscribes to them. Workspace, scopes and agent come from the settings, as elsewhere.
CREATE FUNCTION find_by_subscription(
  asked text[], wanted integer, labels text[], kinds text[], client text, only_scopes text[],
  occurred_from timestamptz, occurred_to timestamptz, valid_at timestamptz,
  include_superseded boolean
) RETURNS TABLE (node_id uuid, keyword text, rank real, tagged boolean)
  LANGUAGE plpgsql STABLE SECURITY DEFINER
  SET search_path = pg_catalog, public, pg_temp
  SET plan_cache_mode = force_custom_plan
AS $$
DECLARE
  workspace uuid := current_workspace();
  scopes text[] := current_scopes();
  agent text := current_agent();
  word text;
  words tsquery;
BEGIN
  IF workspace IS NULL OR scopes IS NULL OR agent IS NULL THEN
    RETURN;
  END IF;
  FOR word IN SELECT DISTINCT k FROM subscription s, unnest(s.keywords) AS k
    WHERE s.workspace_id = workspace AND s.agent_slug = agent AND k = ANY (asked) LOOP
    words := plainto_tsquery('english', word);
    RETURN QUERY
      SELECT n.id, word,
             CASE WHEN n.search_tsv @@ words
                  THEN ts_rank('{0.0, 0.0, 0.6, 1.0}', n.search_tsv, words) END AS by_text,
             n.keywords @> ARRAY[word] AS by_tag
        FROM node n
       WHERE n.workspace_id = workspace
         AND (n.search_tsv @@ words OR n.keywords <> '{}' AND n.keywords @> ARRAY[word])
         AND n.scope = ANY (scopes)
         AND (n.state IN ('active', 'provisional')
           OR n.state = 'superseded' AND (include_superseded OR valid_at IS NOT NULL))
         AND CASE WHEN labels IS NULL THEN n.label NOT IN ('Entity', 'Conversation', 'Message')
                  ELSE n.label = ANY (labels) END
         AND (kinds IS NULL OR n.kind = ANY (kinds))
         AND (client IS NULL OR n.client_id = client)
         AND (only_scopes IS NULL OR n.scope = ANY (only_scopes))
         AND (find_by_subscription.occurred_from IS NULL
           OR n.occurred_at >= find_by_subscription.occurred_from)
         AND (find_by_subscription.occurred_to IS NULL
           OR n.occurred_at < find_by_subscription.occurred_to)
         AND (find_by_subscription.valid_at IS NULL
           OR n.valid_from <= find_by_subscription.valid_at
              AND find_by_subscription.valid_at < coalesce(n.valid_to, 'infinity'))
       ORDER BY by_tag DESC, by_text DESC NULLS LAST, n.id
       LIMIT wanted;
  END LOOP;
END
$$;

-- The same over the past: today's subscriptions, versions as they stood at a ledger position.
CREATE FUNCTION find_by_subscription_as_of(
  as_of bigint, asked text[], wanted integer, labels text[], kinds text[], client text,
  only_scopes text[], occurred_from timestamptz, occurred_to timestamptz, valid_at timestamptz,
  include_superseded boolean
) RETURNS TABLE (node_id uuid, keyword text, rank real, tagged boolean)
  LANGUAGE plpgsql STABLE SECURITY DEFINER
  SET search_path = pg_catalog, public, pg_temp
  SET plan_cache_mode = force_custom_plan
AS $$
DECLARE
  workspace uuid := current_workspace();
  scopes text[] := current_scopes();
  agent text := current_agent();
  word text;
  words tsquery;
BEGIN
  IF workspace IS NULL OR scopes IS NULL OR agent IS NULL THEN
    RETURN;
  END IF;
  FOR word IN SELECT DISTINCT k FROM subscription s, unnest(s.keywords) AS k
    WHERE s.workspace_id = workspace AND s.agent_slug = agent AND k = ANY (asked) LOOP
    words := plainto_tsquery('english', word);
    RETURN QUERY
      SELECT n.id, word,
             CASE WHEN n.search_tsv @@ words
                  THEN ts_rank('{0.0, 0.0, 0.6, 1.0}', n.search_tsv, words) END AS by_text,
             n.keywords @> ARRAY[word] AS by_tag
        FROM node_version n
       WHERE n.workspace_id = workspace
         AND n.from_position <= as_of AND as_of < coalesce(n.to_position, 9223372036854775807)
         AND (n.search_tsv @@ words OR n.keywords <> '{}' AND n.keywords @> ARRAY[word])
         AND n.scope = ANY (scopes)
         AND (n.state IN ('active', 'provisional')
           OR n.state = 'superseded' AND (include_superseded OR valid_at IS NOT NULL))
         AND CASE WHEN labels IS NULL THEN n.label NOT IN ('Entity', 'Conversation', 'Message')
                  ELSE n.label = ANY (labels) END
         AND (kinds IS NULL OR n.kind = ANY (kinds))
         AND (client IS NULL OR n.client_id = client)
         AND (only_scopes IS NULL OR n.scope = ANY (only_scopes))
         AND (find_by_subscription_as_of.occurred_from IS NULL
           OR n.occurred_at >= find_by_subscription_as_of.occurred_from)
         AND (find_by_subscription_as_of.occurred_to IS NULL
           OR n.occurred_at < find_by_subscription_as_of.occurred_to)
         AND (find_by_subscription_as_of.valid_at IS NULL
           OR n.valid_from <= find_by_subscription_as_of.valid_at
              AND find_by_subscription_as_of.valid_at < coalesce(n.valid_to, 'infinity'))
       ORDER BY by_tag DESC, by_text DESC NULLS LAST, n.id
       LIMIT wanted;
  END LOOP;
END
$$;

-- Messages whose conversation never came about, of every workspace. Says how many there were.
CREATE FUNCTION drop_expired_messages(moment timestamptz) RETURNS bigint
  LANGUAGE sql VOLATILE SECURITY DEFINER
  SET search_path = pg_catalog, public, pg_temp
AS $$
  WITH gone AS (DELETE FROM pending_message WHERE expires_at <= moment RETURNING 1)
  SELECT count(*) FROM gone
$$;

GRANT SELECT (workspace_id, agent_slug, keywords) ON subscription TO cairn_finder;
GRANT SELECT (expires_at), DELETE ON pending_message TO cairn_finder;
CREATE POLICY finder ON subscription FOR SELECT TO cairn_finder USING (true);
CREATE POLICY finder ON pending_message TO cairn_finder USING (true);

DO $$
DECLARE
  finder text;
BEGIN
  GRANT CREATE ON SCHEMA public TO cairn_finder;
  FOR finder IN
    SELECT p.oid::regprocedure::text FROM pg_proc p
     WHERE p.pronamespace = 'public'::regnamespace
       AND p.proname IN ('find_by_subscription', 'find_by_subscription_as_of', 'drop_expired_messages')
  LOOP
    EXECUTE format('REVOKE ALL ON FUNCTION %s FROM PUBLIC', finder);
    EXECUTE format('GRANT EXECUTE ON FUNCTION %s TO cairn_app', finder);
    EXECUTE format('ALTER FUNCTION %s OWNER TO cairn_finder', finder);
  END LOOP;
  REVOKE CREATE ON SCHEMA public FROM cairn_finder;
END
$$;
