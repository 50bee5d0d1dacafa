"""The ASGI app that uvicorn serves (`cairn.api.asgi:app`), configured by the environment."""

import sys

from cairn.api.entry import create_asgi_app
from cairn.settings import ServerSettings

TURN_SECONDS = 0.001
"""How long a thread may compute while others wait; a search takes dozens of turns, a batch one."""

sys.setswitchinterval(TURN_SECONDS)
app = create_asgi_app(ServerSettings.read())
