"""Fakes and fixtures the tests share. Nothing here ships."""
