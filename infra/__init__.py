"""How Cairn is deployed: to AWS (`cdk`), and to a laptop (`local`)."""
