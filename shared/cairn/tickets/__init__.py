"""Tickets, where they come from and go back to, and the people behind them."""
