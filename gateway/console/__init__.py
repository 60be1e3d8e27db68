"""The browser Control UI: its pages, its WebSocket, what it reads and what it does."""
