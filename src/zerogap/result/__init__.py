"""What comes out: status, certificate, history, result."""
