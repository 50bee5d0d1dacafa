"""Stores of agents' work, in PostgreSQL: investigations, tickets, approvals, people, costs."""
