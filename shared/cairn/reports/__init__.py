"""Reports that agents write about something, and the catalogue of them."""
