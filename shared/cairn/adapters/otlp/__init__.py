"""Spans to an OpenTelemetry collector: OTLP over HTTP. Not what is measured: `kernel.spans`."""
