"""Places that are told and not searched: nothing of them can be read from here. Pure.

docs/operate/forgetting.md has a row for each place there is, these too; a test holds both equal.
"""

from cairn.forgetting.prove import Looked

KEYS = ("keys", "keys")
UPLOADS = ("uploads", ("ingestions/", "uploads/"))
OPENSEARCH = ("opensearch", "cairn-nodes-v*")
OPERATOR = (
    ("queues", "messages"),
    ("queues", "dead letters"),
    ("step-functions", "histories"),
    ("logs", "CloudWatch"),
    ("logs", "laptop files"),
)
"""What only an operator's credentials reach; `cairn forget --prove` looks there."""

NOT_SEARCHED = tuple(
    Looked(store=store, place=place, searched=False, note=note)
    for store, place, note in (
        ("memory", "result cache", "not given once the ledger grew; gone after 10 minutes"),
        ("memory", "key cache", "other processes may hold the key for 60 seconds"),
        ("database files", "dead rows", "until autovacuum has been at the table"),
        ("database files", "write-ahead log", "until it is recycled, as the server is set"),
        ("backups", "database", "as long as they are kept; a restore follows the tombstones"),
        ("backups", "key file", "only on a laptop, and only if somebody made one"),
        ("opensearch", "deleted documents", "words stay in a segment until it is merged"),
        ("anchors", "tombstones", "ids, a position and a time, signed; kept on purpose"),
        ("exports", "files", "what was exported before is where it was taken to"),
        ("webhooks", "receivers", "what was sent is the receiver's; events carry ids only"),
        ("model providers", "requests", "texts sent to a chat or embedding server are theirs"),
    )
)
