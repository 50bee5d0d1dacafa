"""How one process asks what may fail: circuit breakers and retries. Not which errors are faults."""
