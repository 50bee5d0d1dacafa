"""No predicate, no leak: every table and function, asked by everyone who should see nothing.

Tables and functions are read from the catalogue, so that a new one cannot be forgotten.
"""

# pyright: basic, reportArgumentType=false

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any
from uuid import UUID

import psycopg
import pytest
from psycopg import errors, sql
from psycopg.types.json import Jsonb
from tests.support.world import MORNING, World, memory, open_world

from cairn.kernel.ids import new_id
from cairn.memories.kinds import MemoryKind

if TYPE_CHECKING:
    from tests.plugins.postgres import Database

SHARED_BY_ALL = {"embedding_model"}
WORKSPACE_COLUMN = {
    "workspace": "id",
    "claim": None,
    "embedding_model": None,
    "sign_in_attempt": None,
}
SETTINGS = ("workspace_id", "scopes", "agent", "sees_deleted")
ALL = "admin,public,shared"
TABLES = """
SELECT c.relname, c.relispartition FROM pg_class c
 WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p')
   AND c.relname !~ '^_?yoyo' ORDER BY 1
"""
FUNCTIONS = """
SELECT p.oid, p.oid::regprocedure::text, p.proname, p.prosecdef, pg_get_userbyid(p.proowner),
  p.proconfig, has_function_privilege('public', p.oid, 'EXECUTE')
  FROM pg_proc p
 WHERE p.pronamespace = 'public'::regnamespace
   AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.objid = p.oid AND d.deptype = 'e')
"""
FINDERS = {
    "current_member",
    "acts_as",
    "member_networks",
    "owned_networks",
    "may_join",
    "take_invite",
    "count_members",
    "shown_members",
    "shown_intents",
    "meetings_near",
    "meetings_of",
    "named_near",
    "members_near",
    "shown_texts",
    "admit",
    "admit_call",
    "admit_token",
    "admit_caller",
    "admit_request",
    "claim_outbox",
    "oldest_outbox_row",
    "claim_workspace",
    "connectors_to_check",
    "drop_expired_messages",
    "drop_model_calls",
    "drop_search_runs",
    "drop_webhook_deliveries",
    "find_by_keyword",
    "find_by_keyword_as_of",
    "find_by_subscription",
    "find_by_subscription_as_of",
    "find_by_vector",
    "find_by_vector_as_of",
    "find_memories",
    "find_nodes",
    "find_entities",
    "find_near_memories",
    "find_similar",
    "list_chains",
    "list_workspaces",
    "sources_due",
    "workspace_of_incoming_webhook",
    "workspace_of_publication",
    "workspace_of_widget",
    "workspace_of_channel",
    "knowledge_sources_due",
    "workspace_of_source",
    "workspace_of_login",
    "workspace_of_link",
    "workspace_of_passkey",
    "workspace_of_identity",
    "admit_scim",
    "begin_sign_in",
    "take_sign_in",
    "admit_session",
    "count_address",
    "key_uses",
    "workspaces_with_tickets",
    "task_token",
}
HELPERS = {
    "current_person_id",
    "current_client",
    "current_person",
    "person_may",
    "character_pairs",
    "count_checkpoints",
    "copy_guards",
    "current_agent",
    "current_scopes",
    "current_workspace",
    "keep_edge_versions",
    "keep_node_version",
    "keep_search_words",
    "language_of",
    "lexemes_of",
    "ranked_bounded",
    "ranked_by_rarity",
    "ranked_whole",
    "count_backlinks",
    "is_backlink",
    "own_conversation",
    "refuse_beyond_head",
    "refuse_change",
    "refuse_head",
    "search_words",
    "sees_deleted",
    "text_search_of",
    "weighing_at_least",
    "word_query",
    "stated_time",
}

Connection = psycopg.Connection[Any]
Name = sql.Identifier


@pytest.fixture(scope="module")
def root(database: "Database") -> Iterator[Connection]:
    """A superuser, to plant rows and to look behind the policies."""
    with database.connect_as_superuser() as connection:
        connection.autocommit = True
        yield connection


@pytest.fixture(scope="module")
def ours(database: "Database", root: Connection) -> Iterator[World]:
    world = open_world(database.owner_url, database.app_url, "ours")
    world.tell(
        memory("the harbour master keeps the tide tables", agents=("bot",), client_id="acme"),
        memory("the tide tables are public", agents=("bot",), type=MemoryKind.EVENT),
    )
    plant(root, world.workspace_id)
    yield world
    world.pool.close()


@pytest.fixture(scope="module")
def theirs(database: "Database") -> Iterator[World]:
    world = open_world(database.owner_url, database.app_url, "theirs")
    yield world
    world.pool.close()


@pytest.fixture
def app(database: "Database", ours: World, theirs: World) -> Iterator[Connection]:
    """The functions' role on a plain connection, with nothing set."""
    with psycopg.connect(database.app_url, autocommit=True) as connection:
        yield connection


@pytest.fixture(params=["nothing set", "empty settings", "another workspace"])
def stranger(
    request: pytest.FixtureRequest, app: Connection, ours: World, theirs: World
) -> Connection:
    """The functions' role as it must see nothing of ours."""
    if request.param == "empty settings":
        with app.transaction():
            bind(app, workspace_id=str(ours.workspace_id), scopes=ALL, local=True)
        assert app.execute("SELECT current_setting('cairn.workspace_id')").fetchone() == ("",)
    if request.param == "another workspace":
        bind(app, workspace_id=str(theirs.workspace_id), scopes=ALL, sees_deleted="on")
    return app


def bind(connection: Connection, *, local: bool = False, **settings: str) -> None:
    for name in SETTINGS:
        value = settings.get(name, "")
        connection.execute("SELECT set_config(%s, %s, %s)", (f"cairn.{name}", value, local))


def plant(root: Connection, workspace_id: UUID) -> None:
    """Put a row into every table that the world's own writes did not reach."""
    node = root.execute("SELECT id FROM node WHERE workspace_id = %s", [workspace_id]).fetchone()
    assert node is not None
    vector = "[" + ",".join(["1"] * 384) + "]"
    given = {"w": workspace_id, "id": new_id(), "n": node[0], "t": MORNING, "v": vector}
    for statement in (
        "INSERT INTO rate_limit VALUES (%(w)s, %(id)s, 1, %(t)s)",
        "INSERT INTO idempotency VALUES (%(w)s, %(id)s, 'k', '\\x00', 200, '{}', %(t)s)",
        "INSERT INTO search_index_state VALUES (%(w)s, 'nodes', 1, 0, %(t)s)",
        "INSERT INTO upload VALUES (%(w)s, %(id)s, %(id)s, 1, 'text/plain', %(t)s, %(t)s)",
        "INSERT INTO ingestion (workspace_id, id, document_id, principal_id, object_key, status,"
        " position, created_at, updated_at)"
        " VALUES (%(w)s, %(id)s, %(n)s, %(id)s, 'k', 'ready', 1, %(t)s, %(t)s)",
        "INSERT INTO embedding (workspace_id, node_id, model_id, v, position, label, scope, agents,"
        " client_id, state, occurred_at, valid_from) SELECT workspace_id, id, 1, %(v)s, position,"
        " label, scope, agents, client_id, state, occurred_at, valid_from FROM node"
        " WHERE workspace_id = %(w)s",
        "INSERT INTO embedding_cache VALUES (%(w)s, sha256('x'), 1, %(v)s, %(t)s)",
        "INSERT INTO edge (workspace_id, id, view, relation, source_id, target_id, valid_from,"
        " recorded_at, position)"
        " VALUES (%(w)s, %(id)s, 'semantic', 'LIKES', %(n)s, %(n)s, %(t)s, %(t)s, 1)",
        "INSERT INTO search_run VALUES (%(w)s, %(id)s, %(id)s, 'r', %(t)s, '{}', '{}', '{}', '{}',"
        " 1, true)",
        "INSERT INTO search_feedback VALUES (%(w)s, %(id)s, %(id)s, %(id)s, true, 'direct', %(t)s)",
        "INSERT INTO entity_alias VALUES (%(w)s, 'acme inc', 'Acme', 'organisation', 'manual', 1)",
        "INSERT INTO subscription VALUES (%(w)s, 'bot', '{tides}', 1)",
        """INSERT INTO workspace_settings VALUES (%(w)s, 1, '{"recall": {"rrf_k": 9}}', 1)""",
        "INSERT INTO pending_message VALUES (%(w)s, %(id)s, %(id)s, 'i', 1, true, '{}', '\\x00',"
        " %(t)s, %(t)s)",
        "INSERT INTO key_conversation VALUES (%(w)s, %(id)s, %(id)s, 1)",
        "INSERT INTO consolidation_run (workspace_id, id, state, trigger, dry_run, created_at,"
        " updated_at) VALUES (%(w)s, %(id)s, 'finished', 'request', false, %(t)s, %(t)s)",
        "INSERT INTO purged_node VALUES (%(w)s, %(id)s, 1)",
        "INSERT INTO taint (workspace_id, id, kind, value, causes, reason, position, applied_at)"
        " VALUES (%(w)s, %(id)s, 'agent', 'a', false, 'r', 1, now())",
        "INSERT INTO taint_node VALUES (%(w)s, %(id)s, %(id)s, 'active', NULL, 1)",
        "INSERT INTO forgetting (workspace_id, id, subject_id, kind, mark, keyed, reason,"
        " principal_id, status, position, begun_at) VALUES (%(w)s, %(id)s, %(id)s, 'client',"
        " sha256('x'), true, 'other', %(id)s, 'done', 1, %(t)s)",
        "INSERT INTO rebuild (workspace_id, id, only_check, state, created_at, updated_at)"
        " VALUES (%(w)s, %(id)s, false, 'running', %(t)s, %(t)s)",
        "INSERT INTO llm_call VALUES (%(w)s, %(id)s, %(id)s, 'rewrite', 'anthropic', 'm', 1, 1, 0,"
        " 0, NULL, 1, 'answered', %(t)s)",
        "INSERT INTO llm_spend VALUES (%(w)s, '2026-03-10', 1, 2, 0, 1)",
        "INSERT INTO webhook VALUES (%(w)s, %(id)s, 'https://example.org', '{memory_superseded}',"
        " '\\x00', %(t)s)",
        "INSERT INTO agent (workspace_id, slug, id, name, scopes, registered_at, changed_at)"
        " VALUES (%(w)s, 'scout', %(id)s, 'Scout', '{public}', %(t)s, %(t)s)",
        "INSERT INTO incoming_webhook VALUES (%(w)s, %(id)s, 'sensor', NULL, 'admin', 'x', %(t)s)",
        "INSERT INTO webhook_delivery VALUES (%(w)s, %(id)s, %(id)s, 'memory_superseded', %(id)s,"
        " 1, %(t)s, '{}', 'waiting', 0, NULL, NULL, %(t)s, %(t)s)",
        "INSERT INTO investigation (workspace_id, id, ticket_id, persona, state, snapshot,"
        " created_at, moved_at) VALUES (%(w)s, %(id)s, %(id)s, 'p', 'CREATED', '\\x00', %(t)s,"
        " %(t)s)",
        "INSERT INTO investigation_step VALUES (%(w)s, %(id)s, 1, 'CREATED', 's', 'a', 'plan', 1,"
        " 1, 0, %(t)s)",
        "INSERT INTO approval (workspace_id, id, investigation_id, ticket_id, action_id, tool,"
        " binding, policy_version, content, state, asked_at, expires_at, task_token) VALUES"
        " (%(w)s, %(id)s, %(id)s, %(id)s, %(id)s, 't', 'b', 'v', '\\x00', 'granted', %(t)s, %(t)s,"
        " 'token')",
        "INSERT INTO tool_call (workspace_id, id, investigation_id, connector, tool, lane, digest,"
        " state, dry_run, is_error, input, output, proposed_at) VALUES (%(w)s, %(id)s, %(id)s, 'c',"
        " 't', 'read', 'd', 'proposed', false, false, '\\x00', '\\x00', %(t)s)",
        "INSERT INTO investigation_slot VALUES (%(w)s, 1, %(id)s, %(t)s)",
        "INSERT INTO standing_grant (workspace_id, id, tool, declaration, content, expires_at,"
        " max_uses, made_by, made_at) VALUES (%(w)s, %(id)s, 'c.t', 'd', '\\x00', %(t)s, 1,"
        " %(id)s, %(t)s)",
        "INSERT INTO standing_grant_use VALUES (%(w)s, %(id)s, %(id)s, %(t)s)",
        "INSERT INTO escalation (workspace_id, id, investigation_id, ticket_id, verdict, channel,"
        " state, why, queued_at, updated_at) VALUES (%(w)s, %(id)s, %(id)s, %(id)s, 'failed',"
        " 'ticket-note', 'queued', '\\x00', %(t)s, %(t)s)",
        "INSERT INTO escalation_channel VALUES (%(w)s, 'ops', 'slack', '\\x00', %(t)s, %(id)s)",
        "INSERT INTO investigation_opinion (workspace_id, investigation_id, principal_id, id,"
        " content, said_at) VALUES (%(w)s, %(id)s, %(id)s, %(id)s, '\\x00', %(t)s)",
        "INSERT INTO kb_candidate (workspace_id, id, investigation_id, ticket_id, cause, state,"
        " content, staged_at) VALUES (%(w)s, %(id)s, %(id)s, %(id)s, 'rated', 'staged', '\\x00',"
        " %(t)s)",
        "INSERT INTO ticket (workspace_id, id, source, external_id, status, rank, persona, sealed,"
        " mark, position, received_at) VALUES (%(w)s, %(id)s, 's', 'e', 'queued', 1, 'default',"
        " '\\x00', '\\x00', 1, %(t)s)",
        "INSERT INTO source (workspace_id, id, name, kind, config, secrets, client_id,"
        " document_scope, data_subjects, state, sync_seconds, max_items, max_bytes, created_at,"
        " next_sync_at) VALUES (%(w)s, %(id)s, 's', 'git', '{}', '\\x00', 'global', 'admin', '{}',"
        " 'active', 300, 1, 1, %(t)s, %(t)s)",
        "INSERT INTO source_item VALUES (%(w)s, %(id)s, 'k', 'm', %(id)s, 1, NULL, %(id)s)",
        "INSERT INTO oauth_sign_in (workspace_id, holder_id, bound_to, changed_at)"
        " VALUES (%(w)s, %(id)s, '\\x00', %(t)s)",
        "INSERT INTO ticket_source (workspace_id, id, name, kind, config, secrets, persona, state,"
        " poll_seconds, created_at, next_poll_at) VALUES (%(w)s, %(id)s, 's', 'zoho-desk', '{}',"
        " '\\x00', 'default', 'active', 60, %(t)s, %(t)s)",
        "INSERT INTO ticket_delivery VALUES (%(w)s, %(id)s, 'd', %(t)s)",
        "INSERT INTO ticket_write_back VALUES (%(w)s, %(id)s, 'reply', %(id)s, true, 'r', %(t)s,"
        " %(t)s)",
        "INSERT INTO ticket_message VALUES (%(w)s, %(id)s, %(id)s, 'e', '\\x00', '{}', 1, %(t)s,"
        " %(t)s)",
        "INSERT INTO ticket_reply VALUES (%(w)s, %(id)s, %(id)s, %(id)s, true, '\\x00', '{}',"
        " %(t)s)",
        "INSERT INTO chat_turn (workspace_id, id, principal_id, session, state, question, digest,"
        " created_at, deadline) VALUES (%(w)s, %(id)s, %(id)s, 's', 'running', '\\x00', 'd', %(t)s,"
        " %(t)s)",
        "INSERT INTO chat_event VALUES (%(w)s, %(id)s, 1, 'graph_start', '{}', NULL, %(t)s)",
        "INSERT INTO chat_action (workspace_id, id, turn_id, principal_id, session, tool,"
        " arguments, arguments_hash, state, created_at, expires_at) VALUES (%(w)s, %(id)s, %(id)s,"
        " %(id)s, 's', 't', '\\x00', repeat('a', 64), 'pending', %(t)s, %(t)s)",
        "INSERT INTO widget (workspace_id, id, settings, created_at, changed_at)"
        " VALUES (%(w)s, %(id)s, '{}', %(t)s, %(t)s)",
        "INSERT INTO chat_session (workspace_id, id, token_hash, kind, state, counted, created_at,"
        " seen_at) VALUES (%(w)s, %(id)s, decode(repeat('00', 32), 'hex'), 'anonymous', 'created',"
        " '\\x00', %(t)s, %(t)s)",
        "INSERT INTO handoff (workspace_id, id, session, principal_id, state, cause, sealed,"
        " wait_seconds, away_seconds, requested_at, moved_at, heard_at) VALUES (%(w)s, %(id)s,"
        " decode(repeat('00', 32), 'hex'), %(id)s, 'pending', 'customer', '\\x00', 60, 60, %(t)s,"
        " %(t)s, %(t)s)",
        "INSERT INTO handoff_line VALUES (%(w)s, %(id)s, 1, %(id)s, 'said', 'customer', NULL,"
        " '\\x00', false, %(t)s)",
        "INSERT INTO publication (workspace_id, id, site, name, state, kind, title, shown,"
        " data_subjects, files, published_by, published_at) VALUES (%(w)s, %(id)s,"
        " repeat('a', 26), 'n', 'pending', 'files', 't', '{}', '{}',"
        " '{}', %(id)s, %(t)s)",
        "INSERT INTO person (workspace_id, id, login, name, role, created_at, changed_at)"
        " VALUES (%(w)s, %(id)s, 'ada', 'Ada', 'owner', %(t)s, %(t)s)",
        "INSERT INTO channel (workspace_id, id, name, kind, config, settings, secrets, created_at,"
        " changed_at) VALUES (%(w)s, %(id)s, 'c', 'slack', '{}', '{}', '\\x00', %(t)s, %(t)s)",
        "INSERT INTO channel_inbound (workspace_id, id, channel_id, known_as, thread, client_id,"
        " data_subjects, sealed, state, received_at) VALUES (%(w)s, %(id)s, %(id)s, 'k',"
        " decode(repeat('00', 32), 'hex'), 'c', '{}', '\\x00', 'pending', %(t)s)",
        "INSERT INTO channel_post (workspace_id, channel_id, about, role, place, posted_at)"
        " VALUES (%(w)s, %(id)s, %(id)s, 'approval', '{}', %(t)s)",
        "INSERT INTO channel_tie VALUES (%(w)s, %(id)s, 'u', %(id)s, %(t)s)",
        "INSERT INTO channel_code VALUES (%(w)s, %(id)s, %(id)s,"
        " decode(repeat('00', 32), 'hex'), %(t)s)",
        "INSERT INTO person_link VALUES (%(w)s, decode(repeat('00', 32), 'hex'), %(id)s, %(t)s,"
        " %(t)s)",
        "INSERT INTO person_session (workspace_id, id, person_id, token_hash, csrf, created_at,"
        " seen_at, expires_at) VALUES (%(w)s, %(id)s, %(id)s, decode(repeat('00', 32), 'hex'), 'c',"
        " %(t)s, %(t)s, %(t)s)",
        "INSERT INTO person_passkey VALUES (%(w)s, %(id)s, %(id)s, '\\x00', '\\x00', 0, 'p',"
        " %(t)s)",
        "INSERT INTO person_identity VALUES (%(w)s, %(id)s, 'i', 's', %(t)s)",
        "INSERT INTO scim_token VALUES (%(w)s, %(id)s, 'd', sha256('x'), %(t)s)",
        "INSERT INTO scim_user VALUES (%(w)s, %(id)s, 'e', NULL, %(t)s)",
        "INSERT INTO scim_group VALUES (%(w)s, %(id)s, 'g', NULL, NULL, %(t)s, %(t)s)",
        "INSERT INTO scim_member VALUES (%(w)s, %(id)s, %(id)s)",
        "INSERT INTO person_member VALUES (%(w)s, %(id)s, %(id)s, 'c', %(t)s)",
        "INSERT INTO sign_in_attempt VALUES (%(id)s, 'p', '{}', %(t)s)",
        "INSERT INTO checkpoint (workspace_id, id, thread, namespace, checkpoint_id, body,"
        " created_at) VALUES (%(w)s, %(id)s, 't', '', 'c', '\\x00', %(t)s)",
        "INSERT INTO checkpoint_write (workspace_id, id, thread, namespace, checkpoint_id, task_id,"
        " idx, body, created_at) VALUES (%(w)s, %(id)s, 't', '', 'c', 'k', 0, '\\x00', %(t)s)",
        "INSERT INTO checkpoint_usage VALUES (%(w)s, 'u', 1)",
        "INSERT INTO agent_snapshot VALUES (%(w)s, 'g', 1, '{}', false, 500, 1, %(t)s, %(t)s)",
        "INSERT INTO workflow VALUES (%(w)s, 'f', 1, %(id)s, '{}', %(t)s, %(id)s, true)",
        "INSERT INTO workflow_run (workspace_id, id, workflow_id, workflow, version, state,"
        " trigger, principal_id, input, traceparent, created_at, moved_at) VALUES (%(w)s, %(id)s,"
        " %(id)s, 'f', 1, 'running', 'request', %(id)s, '\\x00', 't', %(t)s, %(t)s)",
        "INSERT INTO member VALUES (%(w)s, %(id)s, 'm', false, %(t)s)",
        "INSERT INTO network (workspace_id, id, name, created_at, changed_at)"
        " VALUES (%(w)s, %(id)s, 'n', %(t)s, %(t)s)",
        "INSERT INTO network_member (workspace_id, network_id, member_id, joined_at)"
        " VALUES (%(w)s, %(id)s, %(id)s, %(t)s)",
        "INSERT INTO network_invite (workspace_id, id, network_id, token_hash, created_at,"
        " expires_at) VALUES (%(w)s, %(id)s, %(id)s, sha256('t'), %(t)s, %(t)s)",
        "INSERT INTO intent (workspace_id, id, member_id, side, state, created_at, changed_at)"
        " VALUES (%(w)s, %(id)s, %(id)s, 'both', 'active', %(t)s, %(t)s)",
        "INSERT INTO intent_network VALUES (%(w)s, %(id)s, %(id)s, %(id)s, 1, true, %(t)s)",
        "INSERT INTO opportunity (workspace_id, id, pair, network_id, source_id, target_id,"
        " source_role, target_role, score, trigger, state, data_subjects, body, created_at,"
        " changed_at, expires_at) VALUES (%(w)s, %(id)s, 'p', %(id)s, %(id)s, gen_random_uuid(),"
        " 'peer', 'peer', 80, 'caller', 'latent', '{}', '\\x00', %(t)s, %(t)s, %(t)s)",
        "INSERT INTO opportunity_change VALUES (%(w)s, %(id)s, 1, 'latent', NULL, 1, %(t)s)",
        "INSERT INTO hyde_document VALUES (%(w)s, %(id)s, %(id)s, 1, 'intents', '\\x00', 'rules',"
        " '\\x00', %(t)s)",
        "INSERT INTO feed_wording VALUES (%(w)s, %(id)s, %(id)s, %(id)s, repeat('a', 64), '{}',"
        " '\\x00', %(t)s)",
        "INSERT INTO feed_health VALUES (%(w)s, %(id)s, 0.5, 1, 0, 0, %(t)s)",
        "INSERT INTO contact (workspace_id, id, member_id, person_id, data_subjects, body,"
        " created_at, changed_at) VALUES (%(w)s, %(id)s, %(id)s, %(id)s, '{}', '\\x00', %(t)s,"
        " %(t)s)",
        "INSERT INTO contact_integration (workspace_id, id, member_id, kind, data_subjects, body,"
        " created_at) VALUES (%(w)s, %(id)s, %(id)s, 'calendar', '{}', '\\x00', %(t)s)",
        "INSERT INTO negotiation (workspace_id, id, opportunity_id, network_id, source_role,"
        " candidate_role, score, trigger, state, speaker, head, data_subjects, begun_at,"
        " changed_at) VALUES (%(w)s, %(id)s, %(id)s, %(id)s, 'peer', 'peer', 80, 'ambient',"
        " 'open', 'source', sha256('x'), '{}', %(t)s, %(t)s)",
        "INSERT INTO negotiation_turn VALUES (%(w)s, %(id)s, 1, %(id)s, '{}',"
        " sha256('x') || sha256('x'), sha256('x'), 1, '{}', '\\x00', %(t)s)",
        "INSERT INTO negotiation_private VALUES (%(w)s, %(id)s, %(id)s, %(id)s, 1, 'input', '{}',"
        " '\\x00', %(t)s, NULL)",
        "INSERT INTO negotiator VALUES (%(w)s, %(id)s, 'a', NULL, true, NULL)",
        "INSERT INTO persona VALUES (%(w)s, 'p', 1, %(id)s, '', 'ticket-note', 'off', 1, 1, 1, 1,"
        " 'pii', %(t)s, %(id)s, true)",
        "INSERT INTO connector (workspace_id, id, name, transport, builtin, config, secrets,"
        " autonomy, criticality, created_at, changed_at) VALUES (%(w)s, %(id)s, 'c', 'stdio',"
        " 'postgres', '{}', '\\x00', 'propose', 'skip', %(t)s, %(t)s)",
        "INSERT INTO connector_state (workspace_id, connector_id) VALUES (%(w)s, %(id)s)",
        "INSERT INTO claim VALUES (%(id)s, sha256('token'), %(t)s, %(t)s, NULL)",
    ):
        root.execute(statement.encode(), given)


def tables(root: Connection, *, partitions: bool = False) -> list[str]:
    rows = root.execute(TABLES).fetchall()
    return [name for name, is_partition in rows if partitions or not is_partition]


def count(connection: Connection, table: str) -> int | None:
    """How many rows are seen; None when the table may not be read at all."""
    return number(connection, sql.SQL("SELECT count(*) FROM {}").format(Name(table)))


def test_every_table_holds_a_row_of_ours_or_this_module_proves_nothing(
    root: Connection, ours: World
) -> None:
    assert not {table for table in tables(root) if not seen_of(root, table, ours)}


def seen_of(connection: Connection, table: str, world: World) -> int | None:
    """How many rows of a world are seen; None when the table may not be read at all."""
    column = WORKSPACE_COLUMN.get(table, "workspace_id")
    if column is None:
        return count(connection, table)
    query = sql.SQL("SELECT count(*) FROM {} WHERE {} = {}").format(
        Name(table), Name(column), sql.Literal(world.workspace_id)
    )
    return number(connection, query)


def number(connection: Connection, query: sql.Composed) -> int | None:
    try:
        row = connection.execute(query).fetchone()
    except errors.InsufficientPrivilege:
        return None
    return row[0] if row else None


def test_every_table_and_partition_is_forced(root: Connection) -> None:
    query = """SELECT relname FROM pg_class WHERE relname = ANY (%s)
        AND NOT (relrowsecurity AND relforcerowsecurity)"""
    loose = {name for (name,) in root.execute(query, [tables(root, partitions=True)])}
    assert loose == SHARED_BY_ALL


def test_a_stranger_sees_no_row_of_any_table(
    stranger: Connection, root: Connection, ours: World
) -> None:
    asked = set(tables(root, partitions=True)) - SHARED_BY_ALL
    assert not {table for table in asked if seen_of(stranger, table, ours)}


def test_a_stranger_changes_and_deletes_none_of_our_rows(
    stranger: Connection, root: Connection, ours: World
) -> None:
    us = sql.Literal(str(ours.workspace_id))
    for table in set(tables(root, partitions=True)) - SHARED_BY_ALL:
        column = Name(WORKSPACE_COLUMN.get(table, "workspace_id") or "id")
        for text in ("UPDATE {0} SET {1} = {1} WHERE {1} = {2}", "DELETE FROM {0} WHERE {1} = {2}"):
            try:
                changed = stranger.execute(sql.SQL(text).format(Name(table), column, us)).rowcount
            except errors.InsufficientPrivilege:
                continue
            assert changed == 0, (table, text)


def test_a_stranger_writes_no_row_into_our_workspace(
    stranger: Connection, root: Connection, ours: World
) -> None:
    for table in set(tables(root)) - SHARED_BY_ALL - {"claim", "sign_in_attempt"}:
        column = Name(WORKSPACE_COLUMN.get(table) or "workspace_id")
        query = sql.SQL("SELECT to_jsonb(t) FROM {} t WHERE {} = {} LIMIT 1").format(
            Name(table), column, sql.Literal(ours.workspace_id)
        )
        row = root.execute(query).fetchone()
        assert row is not None
        with pytest.raises(errors.InsufficientPrivilege):
            stranger.execute(copy_of(root, table), [Jsonb(row[0])])


def copy_of(root: Connection, table: str) -> sql.Composed:
    """A statement that writes a row given as JSON; generated columns are left to the table."""
    written = """SELECT attname FROM pg_attribute WHERE attrelid = %s::regclass
        AND attnum > 0 AND NOT attisdropped AND attgenerated = ''"""
    columns = sql.SQL(", ").join(Name(name) for (name,) in root.execute(written, [table]))
    return sql.SQL(
        "INSERT INTO {0} ({1}) SELECT {1} FROM jsonb_populate_record(NULL::{0}, %s)"
    ).format(Name(table), columns)


def test_a_narrower_scope_sees_and_writes_nothing_beyond_it(
    app: Connection, root: Connection, ours: World
) -> None:
    bind(app, workspace_id=str(ours.workspace_id), scopes="public,shared", sees_deleted="on")
    guarded = "SELECT attrelid::regclass::text FROM pg_attribute WHERE attname = 'scope'"
    scoped = {name for (name,) in root.execute(guarded)} & set(tables(root))
    assert scoped == {"node", "node_version", "embedding", "entity_alias"}
    for table in scoped:
        assert count(app, table) == 0, table
        row = root.execute(
            sql.SQL("SELECT to_jsonb(t) FROM {} t WHERE scope = 'admin' LIMIT 1").format(
                Name(table)
            )
        ).fetchone()
        assert row is not None
        with pytest.raises(errors.InsufficientPrivilege):
            app.execute(copy_of(root, table), [Jsonb(row[0])])


@pytest.mark.parametrize(
    ("settings", "found"),
    [
        ({"scopes": ALL}, 2),
        ({"scopes": ALL, "agent": "bot"}, 2),
        ({"scopes": ALL, "agent": "intruder"}, 0),
        ({"scopes": "public"}, 0),
        ({}, 0),
    ],
    ids=["all scopes", "its agent", "another agent", "another scope", "no scope"],
)
def test_candidate_functions_find_only_what_the_settings_allow(
    app: Connection, ours: World, settings: dict[str, str], found: int
) -> None:
    bind(app, local=False, workspace_id=str(ours.workspace_id), **settings)
    assert [len(rows) for rows in search(app)] == [found] * 4


def test_candidate_functions_find_nothing_for_a_stranger(stranger: Connection) -> None:
    assert search(stranger) == [[], [], [], []]


@pytest.mark.parametrize(
    ("settings", "found"),
    [
        ({"scopes": ALL}, 2),
        ({"scopes": ALL, "agent": "bot"}, 2),
        ({"scopes": ALL, "agent": "intruder"}, 0),
        ({"scopes": "public"}, 0),
        ({}, 0),
    ],
    ids=["all scopes", "its agent", "another agent", "another scope", "no scope"],
)
def test_likeness_is_found_only_among_what_the_settings_allow(
    app: Connection, root: Connection, ours: World, settings: dict[str, str], found: int
) -> None:
    bind(app, local=False, workspace_id=str(ours.workspace_id), **settings)
    assert len(alike(app, root, ours)) == found


def test_no_likeness_is_found_for_a_stranger(
    stranger: Connection, root: Connection, ours: World
) -> None:
    assert alike(stranger, root, ours) == []


def alike(connection: Connection, root: Connection, ours: World) -> list[Any]:
    """Every pair of our nodes that have vectors, asked for as whoever holds the connection."""
    ids = root.execute(
        "SELECT array_agg(DISTINCT node_id) FROM embedding WHERE workspace_id = %s",
        [ours.workspace_id],
    ).fetchone()
    assert ids is not None
    vector = "[" + ",".join(["1"] * 384) + "]"
    query = "SELECT * FROM find_similar(%s, %s::halfvec[], 1::smallint, -1, 50)"
    return connection.execute(query, [ids[0], [vector] * len(ids[0])]).fetchall()


def search(connection: Connection) -> list[list[Any]]:
    vector = "[" + ",".join(["1"] * 384) + "]"
    calls = (
        b"SELECT * FROM find_by_keyword('{tide}', 50, "
        b"NULL, NULL, NULL, NULL, NULL, NULL, NULL, true)",
        b"SELECT * FROM find_by_keyword_as_of(99, '{tide}', 50, "
        b"NULL, NULL, NULL, NULL, NULL, NULL, NULL, true)",
        b"SELECT * FROM find_by_vector(%(v)s, 1::smallint, -1, 50, "
        b"NULL, NULL, NULL, NULL, NULL, NULL, NULL, true)",
        b"SELECT * FROM find_by_vector_as_of(99, %(v)s, 1::smallint, -1, 50, "
        b"NULL, NULL, NULL, NULL, NULL, NULL, NULL, true)",
    )
    return [connection.execute(call, {"v": vector}).fetchall() for call in calls]


def test_a_key_of_no_agent_finds_untagged_nodes_only(
    app: Connection, root: Connection, ours: World
) -> None:
    bind(app, workspace_id=str(ours.workspace_id), scopes=ALL, agent="-")
    assert search(app) == [[], [], [], []]
    assert alike(app, root, ours) == []
    with root.transaction(force_rollback=True):
        for table in ("node", "node_version", "embedding"):
            statement = sql.SQL("UPDATE {} SET agents = NULL WHERE workspace_id = %s")
            root.execute(statement.format(Name(table)), [ours.workspace_id])
        root.execute("SET LOCAL ROLE cairn_app")
        bind(root, local=True, workspace_id=str(ours.workspace_id), scopes=ALL, agent="-")
        assert [len(rows) for rows in search(root)] == [2] * 4
        bind(root, local=True, workspace_id=str(ours.workspace_id), scopes=ALL, agent="bot")
        assert search(root) == [[], [], [], []]


def test_every_function_and_policy_that_asks_for_the_agent_lets_nobody_pass_without_one(
    root: Connection,
) -> None:
    policies = "SELECT polname, pg_get_expr(polqual, polrelid) FROM pg_policy"
    functions = "SELECT proname, prosrc FROM pg_proc WHERE pronamespace = 'public'::regnamespace"
    asking = {
        name: source
        for name, source in [*root.execute(policies), *root.execute(functions)]
        if source and "current_agent" in source and name != "current_agent"
    }
    assert {"find_by_keyword", "find_by_vector", "find_entities", "find_similar"} <= set(asking)
    unguarded = {
        name
        for name, source in asking.items()
        if (
            "agent IS NULL THEN\n    RETURN" not in source
            and not re.search(r"= ANY \(coalesce\(\w\.agents, '\{\"\"\}'\)\)", source)
            and "COALESCE(agent, ''::text) = ( SELECT current_agent()" not in source
        )
        or re.search(r"= ANY \(\w+\.agents\)", source)
    }
    assert not unguarded


def test_every_finder_keeps_to_the_client_that_a_key_is_bound_to(root: Connection) -> None:
    finders = "SELECT proname, prosrc FROM pg_proc WHERE proname ~ '^find_by_'"
    found = dict(root.execute(finders).fetchall())
    assert {"find_by_keyword", "find_by_vector", "find_by_subscription"} <= found.keys()
    assert [name for name, source in found.items() if "current_client()" not in source] == []


def test_a_public_key_names_its_agent(root: Connection, ours: World) -> None:
    for slug in (None, "", "-", "Bot"):
        with pytest.raises(errors.CheckViolation):
            root.execute(
                "INSERT INTO principal VALUES (%s, %s, 'p', 'public', %s, '{public}', NULL, now())",
                [ours.workspace_id, new_id(), slug],
            )


def test_functions_are_the_known_ones_and_only_finders_run_as_someone_else(
    root: Connection,
) -> None:
    rows = root.execute(FUNCTIONS).fetchall()
    assert {name for _, _, name, definer, *_ in rows if definer} == FINDERS
    assert {name for _, _, name, definer, *_ in rows if not definer} == HELPERS
    for _, signature, _, definer, owner, settings, open_to_all in rows:
        if not definer:
            continue
        assert owner == "cairn_finder", signature
        assert "search_path=pg_catalog, public, pg_temp" in settings, signature
        assert not open_to_all, signature


def test_the_finder_and_the_migrator_cannot_sign_in_or_pass_the_policies(root: Connection) -> None:
    query = """SELECT rolname, rolcanlogin, rolsuper, rolbypassrls, rolcreaterole FROM pg_roles
        WHERE rolname IN ('cairn_app', 'cairn_finder', 'cairn_migrator') ORDER BY 1"""
    assert root.execute(query).fetchall() == [
        ("cairn_app", True, False, False, False),
        ("cairn_finder", False, False, False, False),
        ("cairn_migrator", False, False, False, False),
    ]


@pytest.mark.parametrize(
    "statement",
    [
        "SET ROLE cairn_finder",
        "SET ROLE cairn_migrator",
        "SET SESSION AUTHORIZATION cairn_owner",
        "SET session_replication_role = replica",
        "SELECT secret_hash FROM api_key",
        "SELECT * FROM claim",
        "SELECT * FROM sign_in_attempt",
        "INSERT INTO sign_in_attempt VALUES (gen_random_uuid(), 'p', '{}', now())",
        "UPDATE ledger SET meta = '{}'",
        "DELETE FROM ledger",
        "TRUNCATE ledger",
        "UPDATE principal SET role = 'admin'",
        "UPDATE api_key SET secret_hash = sha256('x')",
        "INSERT INTO workspace VALUES (gen_random_uuid(), 'x', '{}', now())",
        "CREATE TABLE mine (id int)",
        "CREATE FUNCTION mine() RETURNS int LANGUAGE sql RETURN 1",
        "CREATE SCHEMA mine",
        "ALTER TABLE node DISABLE ROW LEVEL SECURITY",
        "ALTER TABLE ledger DISABLE TRIGGER ALL",
        "DROP POLICY tenant ON node",
        "SELECT * FROM node_p0",
        "SELECT task_token FROM approval",
        "DELETE FROM investigation_step",
        "UPDATE investigation_step SET action = 'other'",
        "DELETE FROM embedding_model",
    ],
)
def test_the_functions_role_is_refused(app: Connection, ours: World, statement: str) -> None:
    bind(app, workspace_id=str(ours.workspace_id), scopes=ALL)
    with pytest.raises(errors.InsufficientPrivilege):
        app.execute(statement.encode())


def test_the_owner_itself_sees_nothing(database: "Database", root: Connection, ours: World) -> None:
    with psycopg.connect(database.owner_url, autocommit=True) as owner:
        seen = {table: count(owner, table) for table in tables(root, partitions=True)}
    assert {table for table, rows in seen.items() if rows} == SHARED_BY_ALL


@pytest.mark.parametrize(
    "statement", ["UPDATE ledger SET meta = '{}'", "DELETE FROM ledger", "TRUNCATE ledger"]
)
def test_the_ledger_refuses_change_whoever_asks(
    database: "Database", root: Connection, ours: World, statement: str
) -> None:
    with pytest.raises(errors.RestrictViolation):
        root.execute(statement.encode())
    if statement.startswith("TRUNCATE"):
        with (
            psycopg.connect(database.owner_url, autocommit=True) as owner,
            pytest.raises(errors.RestrictViolation),
        ):
            owner.execute(statement.encode())


def test_the_migrator_may_not_rewrite_the_ledger(database: "Database", ours: World) -> None:
    for statement in (b"UPDATE ledger SET meta = '{}'", b"DELETE FROM ledger"):
        with (
            psycopg.connect(database.owner_url, autocommit=True) as owner,
            pytest.raises(errors.InsufficientPrivilege),
        ):
            owner.execute("SET ROLE cairn_migrator")
            owner.execute(statement)
