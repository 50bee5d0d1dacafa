"""In-memory adapters for tests. They forget everything with the process.

Each has a reason to stand beside PostgreSQL, whose own modules test what is stored:

- `stores`: one write ledger and its nodes; crash tests stop a transaction between any two steps.
- `agent`, `people`, `tickets`: parts of `stores` for crash tests of the agent loop and help desks.
- `documents`, `embeddings`, `events`, `graph_nodes`, `ageing`, `grants`, `connectors`,
  `webhooks`, `taints`: the other parts of `stores`, which unit tests of the API and CLI write to.
- `graph`: graphs of a chosen shape, for the walks of recall; in the same contract as PostgreSQL.
- `keys`: a key store that destroys keys without AWS; in the same contract as the real ones.
- `anchors`, `search_index`: S3 and OpenSearch in the same contracts as the real ones.
- `costs`, `model_calls`: the log of model calls, for gateways and planners without a database.
"""
