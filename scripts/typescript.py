"""Make the types of the TypeScript client, or build it, with the node that the project brings.

`types DOCUMENT` writes src/schema.ts; `build` compiles and packs, and prints the archive's path.
"""

import argparse
import json
import os
import subprocess
from pathlib import Path

from infra.local.layout import node_folder

CLIENT = Path(__file__).resolve().parents[1] / "clients" / "typescript"
HEADER = "// The types of the API. Made by `make clients`: do not edit.\n"


def main() -> None:
    """Do one of both in the client's folder, or in a copy of it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder", type=Path, default=CLIENT)
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("types").add_argument("document", type=Path)
    commands.add_parser("build")
    given = parser.parse_args()
    if not (given.folder / "node_modules").exists():
        install = ("install", "--no-audit", "--no-fund", "--no-package-lock", "--ignore-scripts")
        npm(*install, folder=given.folder)
    if given.command == "types":
        types(given.folder, given.document.resolve())
    else:
        run("node_modules/typescript/bin/tsc", folder=given.folder)
        npm("pack", "--ignore-scripts", folder=given.folder)


def types(folder: Path, document: Path) -> None:
    """Write the types of the document's schemas; operations.ts has the operations."""
    described = json.loads(document.read_text(encoding="utf-8"))
    schemas = {"components": {"schemas": described["components"]["schemas"]}, "paths": {}}
    plain = folder / "node_modules" / "schemas.json"
    plain.write_text(json.dumps(described | schemas), encoding="utf-8")
    script, target = "node_modules/openapi-typescript/bin/cli.js", folder / "src" / "schema.ts"
    run(
        script,
        str(plain),
        *("--default-non-nullable=false", "--output", str(target)),
        folder=folder,
    )
    target.write_text(HEADER + target.read_text(encoding="utf-8"), encoding="utf-8")


def npm(*arguments: str, folder: Path) -> None:
    """Run npm."""
    script = node_folder().parent / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"
    run(str(script), "--silent", *arguments, folder=folder)


def run(script: str, *arguments: str, folder: Path) -> None:
    """Run a script of node in the folder."""
    path = f"{node_folder()}{os.pathsep}{os.environ['PATH']}"
    command = [str(node_folder() / "node"), script, *arguments]
    subprocess.run(command, cwd=folder, check=True, env={**os.environ, "PATH": path})


if __name__ == "__main__":
    main()
