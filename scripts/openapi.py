"""Print the OpenAPI document of the API, without a deployment."""

import json
import sys
from unittest.mock import Mock

from cairn.api.app import create_app


def main() -> None:
    """Print it as JSON."""
    json.dump(create_app(Mock(), log=Mock()).openapi(), sys.stdout)


if __name__ == "__main__":
    main()
