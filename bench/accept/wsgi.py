"""The application itself, with one endpoint more (bench/accept/bare.py)."""

from app.server.application import bridged
from app.web import create_app
from bench.accept.bare import bare

flask = create_app()
flask.extensions["csrf"].exempt(bare)  # as the API, whose callers send a token
flask.register_blueprint(bare)
app = bridged(flask)
