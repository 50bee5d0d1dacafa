"""`cairn bench scale`: how recall and its legs hold as a database grows. Not recall quality."""
