"""The ASGI app that uvicorn serves (`cairn.bootstrap.asgi:app`), configured by the environment."""

from cairn.bootstrap.api import create_asgi_app
from cairn.settings import ServerSettings

app = create_asgi_app(ServerSettings.read())
