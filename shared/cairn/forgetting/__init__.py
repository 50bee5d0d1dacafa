"""Forgetting: keys destroyed, rows purged, tombstones, and the proof of it. Deletion only hides."""
