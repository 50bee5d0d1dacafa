-- name: create
-- The made-up customer's database; {database} is filled in as a name.
CREATE DATABASE {database}

-- name: drop
-- Drop it and disconnect who uses it.
DROP DATABASE IF EXISTS {database} WITH (FORCE)

-- name: find_login
-- One row when the login is there.
SELECT 1 FROM pg_roles WHERE rolname = %(login)s

-- name: make_login
-- A login of the customer's; name and password are filled in as such.
CREATE ROLE {login} LOGIN PASSWORD {password}

-- name: renew_login
-- Another password for it.
ALTER ROLE {login} LOGIN PASSWORD {password}

-- name: grant_role
-- What the login may do is what the role may, which a script of the customer's made.
GRANT {role} TO {login}
