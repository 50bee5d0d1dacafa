"""Transcripts that grew too long, made shorter. Not the recording of their messages."""
