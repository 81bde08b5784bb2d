"""Pictures of results. Nothing is solved here."""
