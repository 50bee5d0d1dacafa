"""What dashboards call the metrics, in CloudWatch and in Grafana."""

from __future__ import annotations

from cairn.kernel.metrics import Metric

TITLES = {
    Metric.INVESTIGATIONS: "Investigations closed",
    Metric.INVESTIGATION_SECONDS: "Investigations, seconds of work",
    Metric.VERDICTS: "Verdicts",
    Metric.LLM_TOKENS: "Tokens",
    Metric.LLM_USD: "Models, US dollars",
    Metric.CONNECTOR_CALLS: "Calls of tools",
    Metric.CONNECTOR_HEALTH: "Connectors that are up, share",
    Metric.SAFETY_DENIALS: "Actions denied",
    Metric.APPROVALS_PENDING: "Questions waiting for people",
    Metric.CHAT_SESSIONS: "Chat sessions",
    Metric.CHAT_HANDOFFS: "Chats handed over",
    Metric.RATE_LIMIT_REJECTIONS: "Requests above a limit",
    Metric.TICKET_QUEUE_DEPTH: "Tickets waiting",
    Metric.RETRIEVAL_HIT_RATE: "Evidence that was cited, share",
    Metric.TOOL_SEARCHES: "Searches for tools in chats",
}
