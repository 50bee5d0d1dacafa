"""What people put on the web for everybody: snapshots, their addresses, who reads them. No HTTP."""
