"""The web server: gunicorn's event loop holds the sockets, and a few threads run the application (docs/adr/0036)."""
