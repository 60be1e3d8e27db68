"""Work that nobody waits for at a keyboard: scheduled jobs, background tasks, permitted targets."""
