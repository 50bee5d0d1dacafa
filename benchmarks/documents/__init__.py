"""`cairn bench documents`: how well documents are found, through the real ingestion."""
