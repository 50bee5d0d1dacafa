-- name: set_redaction
-- Choose the redaction profile; what else is set stays.
UPDATE workspace
   SET settings = settings || jsonb_build_object('safety',
         CASE WHEN jsonb_typeof(settings -> 'safety') = 'object'
              THEN settings -> 'safety' ELSE '{}' END
         || jsonb_build_object('redaction', %(profile)s::text))
 WHERE id = %(workspace_id)s
