"""A database's schema as text, one line a part, so that two databases can be compared."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import psycopg

OURS = "n.nspname IN ('public', 'replay')"
"""Of an extension nothing is ours."""

OF_EXTENSION = "EXISTS (SELECT FROM pg_depend d WHERE d.objid = {}.oid AND d.deptype = 'e')"

PARTS = {
    "schema": """
SELECT n.nspname, n.nspowner::regrole, n.nspacl FROM pg_namespace n WHERE {ours}""",
    "relation": """
SELECT c.oid::regclass, c.relkind, c.relpersistence, c.relowner::regrole, c.relrowsecurity,
       c.relforcerowsecurity, c.reloptions, pg_get_expr(c.relpartbound, c.oid),
       pg_get_partkeydef(c.oid), c.relreplident,
       (SELECT i.inhparent::regclass FROM pg_inherits i WHERE i.inhrelid = c.oid)
  FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
 WHERE {ours} AND c.relkind IN ('r', 'p', 'i', 'I', 'v', 'S')""",
    "column": """
SELECT c.oid::regclass, row_number() OVER (PARTITION BY c.oid ORDER BY a.attnum), a.attname,
       format_type(a.atttypid, a.atttypmod), a.attnotnull, a.attgenerated, a.attidentity,
       a.attstorage, a.attcompression, a.attcollation::regcollation,
       pg_get_expr(b.adbin, b.adrelid)
  FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid
  JOIN pg_namespace n ON n.oid = c.relnamespace
  LEFT JOIN pg_attrdef b ON b.adrelid = a.attrelid AND b.adnum = a.attnum
 WHERE {ours} AND c.relkind IN ('r', 'p') AND a.attnum > 0 AND NOT a.attisdropped""",
    "constraint": """
SELECT k.conrelid::regclass, k.conname, pg_get_constraintdef(k.oid), k.convalidated,
       k.condeferrable
  FROM pg_constraint k JOIN pg_namespace n ON n.oid = k.connamespace
 WHERE {ours} AND k.contype <> 'n'""",  # is the column's, and has a name since PostgreSQL 18 only
    "index": """
SELECT pg_get_indexdef(i.indexrelid), i.indisvalid, i.indisprimary
  FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid
  JOIN pg_namespace n ON n.oid = c.relnamespace WHERE {ours}""",
    "trigger": """
SELECT pg_get_triggerdef(t.oid), t.tgenabled FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid
  JOIN pg_namespace n ON n.oid = c.relnamespace WHERE {ours} AND NOT t.tgisinternal""",
    "function": """
SELECT p.proowner::regrole, pg_get_functiondef(p.oid) FROM pg_proc p
  JOIN pg_namespace n ON n.oid = p.pronamespace
 WHERE {ours} AND p.prokind IN ('f', 'p') AND NOT {of_extension_p}""",
    "policy": "SELECT p FROM pg_policies p",
    "right on a relation": """
SELECT c.oid::regclass, g.grantor::regrole, g.grantee::regrole, g.privilege_type, g.is_grantable
  FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace, aclexplode(c.relacl) g
 WHERE {ours}""",
    "right on a column": """
SELECT c.oid::regclass, a.attname, g.grantor::regrole, g.grantee::regrole, g.privilege_type
  FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid
  JOIN pg_namespace n ON n.oid = c.relnamespace, aclexplode(a.attacl) g WHERE {ours}""",
    "right on a function": """
SELECT p.oid::regprocedure, g.grantor::regrole, g.grantee::regrole, g.privilege_type
  FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace,
       aclexplode(coalesce(p.proacl, acldefault('f', p.proowner))) g
 WHERE {ours} AND NOT {of_extension_p}""",
    "right by default": "SELECT d.defaclrole::regrole, d.defaclacl FROM pg_default_acl d",
    "type": """
SELECT t.typname, t.typtype FROM pg_type t JOIN pg_namespace n ON n.oid = t.typnamespace
 WHERE {ours} AND t.typtype <> 'b' AND NOT {of_extension_t}""",
    "role": """
SELECT r.rolname, r.rolcanlogin, r.rolsuper, r.rolbypassrls, r.rolcreaterole FROM pg_roles r
 WHERE r.rolname ~ '^cairn_'""",
    "extension": "SELECT e.extname, e.extversion FROM pg_extension e",
    "model": "SELECT m.id, m.name, m.dimensions FROM embedding_model m",
}


def schema_of(connection: psycopg.Connection[Any]) -> list[str]:
    """Return the schema's parts, sorted; their oids and physical places are not in them."""
    names = {
        "ours": OURS,
        "of_extension_p": OF_EXTENSION.format("p"),
        "of_extension_t": OF_EXTENSION.format("t"),
    }
    return sorted(
        f"{part}: {' | '.join(map(str, row))}"
        for part, query in PARTS.items()
        for row in connection.execute(query.format(**names).encode())
    )
