"""The whole laptop cloud: up, down, status, logs, reset. Each is safe to repeat.

`up` looks at what runs and mends the rest: stale pid files, a killed PostgreSQL, an emulator that
lost its state, a port taken by somebody else, a folder that was moved.
"""

import http.client
import shutil
import signal
import urllib.error
import urllib.request
from collections.abc import Callable, Generator, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial
from typing import Any

import psutil

from infra.local import environment, state
from infra.local.cloud import CDK_APP, Cloud, start_anchoring, start_resuming
from infra.local.emulator import Emulator
from infra.local.front_door import ASGI_APP, START_SECONDS, FrontDoor
from infra.local.layout import Layout, default_layout
from infra.local.model import build_model
from infra.local.opensearch.node import FIRST_PORT as FIRST_SEARCH_PORT
from infra.local.opensearch.node import SearchNode, find_tools
from infra.local.postgres import APP_ROLE, DATABASE, OWNER, Cluster, database_url
from infra.local.processes import Daemon, StartFailed
from infra.local.progress import Progress
from infra.local.state import State
from infra.local.watch import log_lines, service_state, state_of_all

SERVICES = ("postgres", "aws", "api", "opensearch")
KEPT_AT_RESET = {"uv", "python", "cache", "lock"}


@dataclass(frozen=True, kw_only=True)
class Stack:
    """One laptop cloud below one folder. The defaults are the user's own.

    `opensearch` says whether `up` starts a search node too; without it PostgreSQL finds words.
    """

    layout: Layout = field(default_factory=default_layout)
    progress: Progress = field(default_factory=Progress)
    enforce_roles: bool = False
    opensearch: bool = False
    asgi_app: str = ASGI_APP
    first_api_port: int = state.FIRST_API_PORT
    first_emulator_port: int = state.FIRST_EMULATOR_PORT

    def up(self) -> dict[str, str]:
        """Bring everything up and return the values of `cairn.env`."""
        self.layout.make()
        with self._lock():
            self._make_signing_key()
            saved = self._claim_ports(self._settle())
            cloud, had_data = self.cloud(saved), (self.layout.postgres / "PG_VERSION").exists()
            with ThreadPoolExecutor(1) as aside:
                fingerprint = cloud.fingerprint()
                synthesis = (
                    aside.submit(cloud.synthesise) if fingerprint != saved.deployed else None
                )
                build_model(self.layout, self.progress)
                self.start_postgres(saved)
                self._migrate(saved)
                self._start_or_stop_search(saved)
                restarted = self._start_emulator(saved)
                outputs = self._deploy(saved, fingerprint, synthesis)
            self._start_front_door(saved, outputs)
            values = self._write_env(saved, outputs)
            self._fill_search_index(saved)
            self._anchor(saved)
            if restarted and had_data:
                self._resume(saved, restarted)
            return values

    def use_embedder(self, values: Mapping[str, str]) -> dict[str, str]:
        """Keep which embedder the functions use from now on, and start them with it."""
        with self._lock():
            saved = state.save(self.layout, replace(self._load(), embedder=dict(values)))
        return replace(self, opensearch=saved.opensearch).up()

    def down(self) -> list[str]:
        """Stop what runs and return its names; data stays."""
        if not self.layout.base.is_dir():
            return []
        with self._lock():
            return self._stop(self._load())

    def reset(self) -> None:
        """Stop everything and delete all data: memories, ledger, keys, files. Nothing is kept."""
        self.down()
        for path in self.layout.base.iterdir() if self.layout.base.is_dir() else ():
            if path.name in KEPT_AT_RESET:
                continue
            shutil.rmtree(path) if path.is_dir() else path.unlink()
        shutil.rmtree(self.layout.socket_folder, ignore_errors=True)

    def status(self) -> dict[str, Any]:
        """What runs, where, and since when; never raises because a part is down."""
        saved = self._load()
        emulator, door, cluster = (
            self.emulator(saved),
            self.front_door(saved, {}),
            self.cluster(saved),
        )
        services = {
            "postgres": service_state(
                cluster.daemon, cluster.is_running(), str(self.layout.socket_folder)
            ),
            "aws": service_state(emulator.daemon, emulator.is_running(), emulator.url),
            "api": service_state(door.daemon, door.is_running(), door.url),
        }
        if saved.opensearch:
            node = self.search_node(saved)
            services["opensearch"] = service_state(node.daemon, node.is_running(), node.address)
        return {
            "state": state_of_all(services),
            "oldest_waiting_seconds": door.oldest_waiting(),
            "url": door.url if saved.api_port else None,
            "env_file": str(self.layout.env_file) if self.layout.env_file.exists() else None,
            "services": services,
            "stacks": self._stack_states(saved) if emulator.is_running() else {},
        }

    def logs(self, service: str = "", *, follow: bool = False, lines: int = 40) -> Iterator[str]:
        """Lines of one service's log, or of all with the service's name in front."""
        names = [service] if service else list(SERVICES)
        if not set(names) <= set(SERVICES):
            raise ValueError(f"{service} is none of {', '.join(SERVICES)}")
        files = {name: self.layout.logs / f"{name}.log" for name in names}
        return log_lines(files, follow=follow, lines=lines)

    def start_postgres(self, saved: State | None = None) -> None:
        """Start PostgreSQL alone, with its roles and database."""
        saved = saved or self._load()
        with self.progress.step("PostgreSQL 18 with pgvector") as line:
            cluster = self.cluster(saved)
            line.says("started" if cluster.start() else "was up")
            cluster.prepare(owner_password=saved.owner_password)

    def migrate(self) -> None:
        """Start PostgreSQL if it is down and apply the migrations."""
        self.layout.make()
        with self._lock():
            saved = self._claim_ports(self._settle())
            self.start_postgres(saved)
            self._migrate(saved)

    def stop_postgres(self) -> None:
        """Stop PostgreSQL alone."""
        self.cluster(self._load()).stop()

    def kill_postgres(self) -> None:
        """Kill PostgreSQL with -9, as a crash would."""
        server = self.cluster(self._load()).daemon.process()
        if server is not None:
            with suppress(psutil.NoSuchProcess):
                server.send_signal(signal.SIGKILL)
            server.wait(timeout=10)

    def kill_api(self) -> None:
        """Kill the API with -9: what it was doing stays half done."""
        process = self._daemon("api").process()
        if process is not None:
            process.kill()
            process.wait(timeout=10)

    def start_api(self) -> None:
        """Start the API again, as it was deployed."""
        saved = self.saved()
        self._start_front_door(saved, self.cloud(saved).outputs())

    def worker_pids(self, function: str = "") -> list[int]:
        """Pids of the Lambda workers, of one function when part of its name is given."""
        return self.emulator(self._load()).worker_pids(function)

    def owner_url(self, database: str = DATABASE) -> str:
        """The owner's URL."""
        return self._url(OWNER, self._load().owner_password, database)

    def app_url(self, database: str = DATABASE) -> str:
        """The functions' role's URL."""
        return self._url(APP_ROLE, self._load().app_password, database)

    def saved(self) -> State:
        """Ports and secrets as they are kept now."""
        return self._load()

    def cluster(self, saved: State) -> Cluster:
        """The PostgreSQL cluster of this stack."""
        return Cluster(
            data=self.layout.postgres,
            socket_folder=self.layout.socket_folder,
            superuser_password=saved.superuser_password,
            daemon=self._daemon("postgres"),
        )

    def emulator(self, saved: State) -> Emulator:
        """The AWS emulator of this stack."""
        return Emulator(
            base=self.layout.emulator,
            port=saved.emulator_port,
            secret=saved.emulator_secret,
            upload_origin=f"http://127.0.0.1:{saved.api_port}",
            daemon=self._daemon("aws"),
            enforce_roles=self.enforce_roles,
            env=environment.metrics_env(self.layout),
        )

    def cloud(self, saved: State) -> Cloud:
        """What is deployed into the emulator."""
        app_url = self._url(APP_ROLE, saved.app_password, DATABASE)
        return Cloud(
            layout=self.layout,
            endpoint=self.emulator(saved).endpoint,
            app=CDK_APP,
            app_env=environment.synthesis_env(
                self.layout,
                app_url,
                self._search_url(saved),
                saved.embedder,
                environment.sites_url(saved.api_port),
            ),
        )

    def front_door(self, saved: State, outputs: Mapping[str, str]) -> FrontDoor:
        """The API process of this stack."""
        return FrontDoor(
            project=self.layout.project,
            port=saved.api_port,
            daemon=self._daemon("api"),
            app=self.asgi_app,
            env=environment.metrics_env(self.layout, saved.metrics_token)
            | environment.front_door_env(
                self.layout,
                app_database_url=self._url(APP_ROLE, saved.app_password, DATABASE),
                outputs=outputs,
                endpoint=self.emulator(saved).endpoint,
                opensearch_url=self._search_url(saved),
                embedder=saved.embedder,
                sites_url=environment.sites_url(saved.api_port),
            ),
        )

    def search_node(self, saved: State) -> SearchNode:
        """The OpenSearch node of this stack, wanted or not."""
        return SearchNode(
            libraries=self.layout.search_libraries,
            data=self.layout.opensearch,
            port=saved.opensearch_port,
            password=saved.opensearch_password,
            daemon=self._daemon("opensearch"),
        )

    def _make_signing_key(self) -> None:
        from cairn.adapters.files.signing import make_signing_key

        make_signing_key(self.layout.signing_key)

    def _search_url(self, saved: State) -> str:
        return self.search_node(saved).url if saved.opensearch else ""

    def _start_or_stop_search(self, saved: State) -> None:
        node = self.search_node(saved)
        if not saved.opensearch:
            node.stop()
            return
        with self.progress.step("OpenSearch") as line:
            line.says(f"{'started' if node.start() else 'was up'}, {node.address}")

    def _fill_search_index(self, saved: State) -> None:
        """Index what was written while there was no index."""
        if not saved.opensearch:
            return
        from infra.local.workspace import fill_search_index

        with self.progress.step("search index") as line:
            app_url = self._url(APP_ROLE, saved.app_password, DATABASE)
            line.says(f"{fill_search_index(app_url, self._search_url(saved))} nodes indexed")

    def _anchor(self, saved: State) -> None:
        """Have the chains verified and anchored: a laptop is off when the schedule comes."""
        with self.progress.step("ledger anchors") as line:
            started = start_anchoring(self.emulator(saved).endpoint)
            line.says("being written" if started else "not now; see `cairn ledger anchor`")

    def _resume(self, saved: State, restarted: datetime) -> None:
        """Have open investigations taken up: their executions ended with the last emulator."""
        with self.progress.step("open investigations") as line:
            started = start_resuming(self.emulator(saved).endpoint, restarted)
            line.says("being resumed" if started else "not now; see `cairn investigations resume`")

    def _migrate(self, saved: State) -> None:
        from infra.local.workspace import migrate_database

        with self.progress.step("database migrations, as the owner") as line:
            owner_url = self._url(OWNER, saved.owner_password, DATABASE)
            applied = migrate_database(owner_url, saved.app_password)
            line.says(f"{len(applied)} applied" if applied else "nothing new")
        with self.progress.step("embedding model, in the database") as line:
            line.says(self._register_model(owner_url, saved))

    def _register_model(self, owner_url: str, saved: State) -> str:
        from cairn.kernel.errors import CairnError
        from infra.local.workspace import register_embedding_model

        try:
            return register_embedding_model(owner_url, self.cloud(saved).app_env)
        except CairnError as refused:
            raise StartFailed(refused.detail) from refused

    def _start_emulator(self, saved: State) -> datetime | None:
        """Return when it was started: no execution of before goes on. None when it was up."""
        from cairn.kernel.clock import utc_now

        emulator = self.emulator(saved)
        with self.progress.step("AWS emulator") as line:
            if not emulator.is_running():
                shutil.rmtree(self.layout.metrics, ignore_errors=True)
            self.layout.metrics.mkdir(mode=0o700, exist_ok=True)
            started = emulator.start()
            line.says(f"{'started' if started else 'was up'}, {emulator.url}")
        return utc_now() if started else None

    def _deploy(
        self, saved: State, fingerprint: str, synthesis: Future[None] | None
    ) -> dict[str, str]:
        cloud = self.cloud(saved)
        if synthesis is None and cloud.is_deployed():
            with self.progress.step("CDK app") as line:
                line.says("deployed, unchanged")
            return cloud.outputs()
        with self._unguarded_emulator(saved):
            with self.progress.step("CDK app: bootstrap") as line:
                line.says("done" if cloud.bootstrap() else "was there")
            with self.progress.step("CDK app: synthesise"):
                synthesis.result() if synthesis else cloud.synthesise()
            with self.progress.step("CDK app: deploy") as line:
                cloud.deploy()
                line.says(f"{len(cloud.stacks()) - 1} stacks")
            self.emulator(saved).save()
        state.save(self.layout, replace(saved, deployed=fingerprint))
        return cloud.outputs()

    @contextmanager
    def _unguarded_emulator(self, saved: State) -> Generator[None]:
        """Lift the enforcement of roles: CDK's own publishing roles do not pass the emulator's."""
        emulator = self.emulator(saved)
        if not self.enforce_roles:
            yield
            return
        emulator.stop()
        replace(emulator, enforce_roles=False).start()
        yield
        emulator.stop()
        emulator.start()

    def _start_front_door(self, saved: State, outputs: Mapping[str, str]) -> None:
        door = self.front_door(saved, outputs)
        with self.progress.step("API") as line:
            line.says(f"{'started' if door.start() else 'was up'}, {door.url}")

    def _write_env(self, saved: State, outputs: Mapping[str, str]) -> dict[str, str]:
        from infra.local.workspace import create_first_workspace

        door = self.front_door(saved, outputs)
        owner_url = self._url(OWNER, saved.owner_password, DATABASE)
        saved_values = environment.read_env_file(self.layout.env_file)
        workspace, key = (
            saved_values.get("CAIRN_WORKSPACE", ""),
            saved_values.get("CAIRN_API_KEY", ""),
        )
        if not key_works(door.url, key, partial(door.daemon.wait_until, seconds=START_SECONDS)):
            with self.progress.step("workspace and first admin key") as line:
                created, key = create_first_workspace(owner_url)
                workspace = str(created)
                line.says("shown below, once")
            self.progress.say(f"\n  [bold]{key}[/]\n")
        values = {
            "CAIRN_URL": door.url,
            "CAIRN_API_KEY": key,
            "CAIRN_WORKSPACE": workspace,
            "CAIRN_GATEWAY_URL": environment.gateway_url(outputs, self.emulator(saved).url),
            "CAIRN_DATABASE_URL": owner_url,
            **door.env,
        }
        values.pop(environment.METRICS_FOLDER)  # of our processes, not of those of the shell
        environment.write_env_file(self.layout.env_file, values)
        return values

    def _stop(self, saved: State) -> list[str]:
        parts = (
            ("api", self.front_door(saved, {}).stop),
            ("aws", self.emulator(saved).stop),
            ("opensearch", self.search_node(saved).stop),
            ("postgres", self.cluster(saved).stop),
        )
        return [name for name, stop in parts if stop()]

    def _settle(self) -> State:
        """The saved state; after a move everything is stopped, since it runs with old paths."""
        saved = self._load()
        if not saved.emulator_port and (self.layout.postgres / "PG_VERSION").exists():
            raise StartFailed(
                f"{self.layout.base / 'state.json'} is missing or damaged, and with it the "
                "database's passwords. Restore it, or delete all data with `make reset`."
            )
        if saved.root != str(self.layout.base):
            self._stop(saved)
            saved = replace(saved, root=str(self.layout.base), deployed="")
        return state.save(self.layout, saved)

    def _claim_ports(self, saved: State) -> State:
        """Keep the ports of before where they are ours or free, else take the next free ones."""
        emulator, door = self._daemon("aws").process(), self._daemon("api").process()
        emulator_port, api_port = saved.emulator_port, saved.api_port
        if emulator is None:
            emulator_port = state.free_port(emulator_port, self.first_emulator_port)
        if door is None:
            api_port = state.free_port(api_port, self.first_api_port)
        claimed = replace(saved, emulator_port=emulator_port, api_port=api_port)
        return state.save(self.layout, self._claim_search_ports(claimed))

    def _claim_search_ports(self, saved: State) -> State:
        """Keep whether there is a search node, and its port as the others."""
        claimed = replace(saved, opensearch=self.opensearch)
        if not self.opensearch or self._daemon("opensearch").process():
            return claimed
        return replace(
            claimed,
            opensearch_port=state.free_port(saved.opensearch_port, FIRST_SEARCH_PORT),
        )

    def _load(self) -> State:
        return state.load(self.layout)

    def _stack_states(self, saved: State) -> dict[str, str]:
        return {stack["StackName"]: stack["StackStatus"] for stack in self.cloud(saved).stacks()}

    def _daemon(self, name: str) -> Daemon:
        return Daemon(
            name=name,
            pid_file=self.layout.run / f"{name}.json",
            log_file=self.layout.logs / f"{name}.log",
        )

    def _url(self, user: str, password: str, database: str) -> str:
        return database_url(user, password, self.layout.socket_folder, database)

    def _lock(self) -> AbstractContextManager[None]:
        """One `up` or `down` at a time; a second one waits."""
        return state.locked(self.layout.base / "lock")


def up(*, opensearch: bool = False) -> dict[str, str]:
    """Bring up the user's own stack; the values of `.local/cairn.env`."""
    return Stack(opensearch=opensearch).up()


def use_embedder(values: Mapping[str, str]) -> dict[str, str]:
    """Have the user's own stack embed with another model from now on."""
    return Stack().use_embedder(values)


def down() -> list[str]:
    """Stop the user's own stack; the names of what was running."""
    return Stack().down()


def status() -> dict[str, Any]:
    """The state of the user's own stack."""
    return Stack().status()


def logs(service: str = "", *, follow: bool = False) -> Iterator[str]:
    """Log lines of the user's own stack."""
    return Stack().logs(service, follow=follow)


def reset() -> None:
    """Delete the user's own stack with all its data."""
    Stack().reset()


def opensearch_needs() -> str:
    """What this machine lacks to run OpenSearch; empty when it lacks nothing."""
    return find_tools().missing


def key_works(url: str, key: str, wait_until: Callable[[Callable[[], bool]], None]) -> bool:
    """True when the API at `url` knows this key, False when it says that it does not.

    It is asked until it can tell: just after its database came back it cannot, for some seconds.
    """
    request = urllib.request.Request(f"{url}/v1/whoami", headers={"Authorization": f"Bearer {key}"})
    statuses: list[int] = []

    def has_answered() -> bool:
        try:
            with urllib.request.urlopen(request, timeout=30) as response:
                statuses.append(response.status)
        except urllib.error.HTTPError as problem:
            with problem:
                statuses.append(problem.code)
        except OSError:
            return False
        return statuses[-1] < http.client.INTERNAL_SERVER_ERROR

    if not key:
        return False
    wait_until(has_answered)
    return statuses[-1] == http.client.OK
