-- Whose access tokens of the deployment's issuer open what a key opens.
-- depends: 0074.label-indexes

ALTER TABLE api_key ADD COLUMN token_subject text CHECK (token_subject ~ '^(sub|client):.{1,250}$');
GRANT SELECT (token_subject) ON api_key TO cairn_app;

-- As `admit_caller`, by the subjects that a token names, the first that has a key. Not the token: the
-- application has checked it.
CREATE FUNCTION admit_token(
  subjects text[], moment timestamptz, requests double precision, asked double precision[],
  allowed double precision[]
) RETURNS TABLE (workspace_id uuid, principal_id uuid, key_id uuid, name text, role text,
    agent_slug text, allowed_scopes text[], tools text[], client_id text, agent text,
    agent_tools text[], edition text, barred text, rate double precision,
    remaining double precision, refused integer, seconds double precision)
  LANGUAGE plpgsql VOLATILE SECURITY DEFINER
  SET search_path = pg_catalog, public, pg_temp
AS $$
#variable_conflict use_column
DECLARE
  found_prefix text;
  found_hash bytea;
BEGIN
  SELECT k.prefix, k.secret_hash INTO found_prefix, found_hash FROM api_key k
   WHERE k.token_subject = ANY (subjects) AND k.revoked_at IS NULL
   ORDER BY array_position(subjects, k.token_subject) LIMIT 1;
  IF FOUND THEN
    RETURN QUERY SELECT a.* FROM admit_caller(found_prefix, found_hash, moment, requests, asked, allowed) AS a;
  END IF;
END
$$;
GRANT CREATE ON SCHEMA public TO cairn_finder;
REVOKE ALL ON FUNCTION admit_token(text[], timestamptz, double precision, double precision[],
  double precision[]) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION admit_token(text[], timestamptz, double precision, double precision[],
  double precision[]) TO cairn_app;
ALTER FUNCTION admit_token(text[], timestamptz, double precision, double precision[],
  double precision[]) OWNER TO cairn_finder;
REVOKE CREATE ON SCHEMA public FROM cairn_finder;
