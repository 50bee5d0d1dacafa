"""Workflows: what they are made of, their runs, step by step. Not investigations, nor chat."""
