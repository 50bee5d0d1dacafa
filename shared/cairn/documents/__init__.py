"""Documents: bytes to blocks, blocks to sections and chunks, old chunks to new ones. Pure domain.

Not here: scrubbing, summaries, embeddings and storage, which the ingestion use case adds.
"""
