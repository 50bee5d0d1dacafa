"""What the API's use cases share, each part imported and made when one of them first needs it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from cairn.bootstrap.lazy import part
from cairn.bootstrap.parts import CONNECTIONS, database, registered, warn
from cairn.kernel.clock import monotonic
from cairn.writing.ports import Topic

if TYPE_CHECKING:
    from aws_lambda_powertools import Logger

    from cairn.adapters.aws.objects import S3Objects
    from cairn.adapters.postgres.database import Database
    from cairn.adapters.postgres.group_commit import GroupCommit
    from cairn.adapters.postgres.workspaces import PostgresWorkspaceSettings
    from cairn.bootstrap.investigations import InvestigationParts
    from cairn.embedding.port import Embedder
    from cairn.forgetting.forget import Forget
    from cairn.llm.gateway import Gateway
    from cairn.memories.remember import Remember
    from cairn.reading.browse import Browse
    from cairn.recall.recall import Recall
    from cairn.recall.searches.recorder import RunRecorder
    from cairn.settings import ApiSettings, ServerSettings
    from cairn.writing.platform import Platform
    from cairn.writing.ports import Dispatcher


@dataclass(frozen=True)
class ApiParts:
    """Adapters and use cases that others are made of. Nothing connects when they are made.

    `server` is how much one process does at once; None for a function, which may be frozen as soon
    as it has answered.
    """

    settings: ApiSettings
    log: Logger
    model: Embedder
    server: ServerSettings | None = None

    @part
    def opened(self) -> Database:
        """The functions' database."""
        size = self.server.database_connections if self.server else CONNECTIONS
        return database(self.settings, size=size)

    @part
    def embedder(self) -> Embedder:
        """What embeds, once the database knows its model."""
        return registered(self.model, self.opened)

    @part
    def browse(self) -> Browse:
        """Reading what was written."""
        from cairn.reading.browse import Browse

        return Browse(transactions=self.platform.transactions)

    @part
    def objects(self) -> S3Objects:
        """Where the bytes of documents wait."""
        from cairn.adapters.aws.objects import S3Objects

        return S3Objects(self.settings.uploads_bucket)

    @property
    def wake(self) -> Dispatcher:
        """What sends committed work on."""
        return self.investigation_parts.wake

    @part
    def investigation_parts(self) -> InvestigationParts:
        """What investigations are made of; their steps run elsewhere."""
        from cairn.bootstrap.dispatch import machines_of
        from cairn.bootstrap.investigations import InvestigationParts

        return InvestigationParts(
            settings=self.settings,
            opened=self.opened,
            log=self.log,
            steps={},
            leads=self.settings.webhooks,
            machines=machines_of(self.settings),
            queues={Topic.SOURCE: self.settings.source_queue_url},
            bucket=self.settings.uploads_bucket,
        )

    @part
    def remember(self) -> Remember:
        """Writing memories."""
        from cairn.memories.remember import Remember

        return Remember(self.platform, commit=self._group_commit() if self.server else None)

    @part
    def platform(self) -> Platform:
        """What use cases share; a server sends what several requests committed at once."""
        platform = self.investigation_parts.platform
        if self.server is None:
            return platform
        from cairn.writing.sending import SendTogether

        return replace(platform, dispatcher=SendTogether(platform.dispatcher))

    def _group_commit(self) -> GroupCommit:
        from cairn.adapters.postgres.group_commit import GroupCommit

        return GroupCommit(self.opened)

    @part
    def forget(self) -> Forget:
        """Forgetting; whoever verifies tombstones after a restore goes through it too."""
        from cairn.bootstrap.forgetting import forget_use_case
        from cairn.bootstrap.parts import signing_key

        return forget_use_case(
            self.settings, self.opened, self.platform, signing_key(self.settings)
        )

    @part
    def gateway(self) -> Gateway | None:
        """Chat models, beside those that understand questions; none without a provider."""
        from cairn.bootstrap.models import gateway

        return gateway(self.settings, self.opened, report=warn(self.log))

    @part
    def recalled(self) -> Recall:
        """Searching."""
        from cairn.adapters.aws.metrics import measured
        from cairn.bootstrap.models import over
        from cairn.bootstrap.parts import deployment_document
        from cairn.bootstrap.recall import asking_parts, recall
        from cairn.bootstrap.search_index import keyword_leg

        return recall(
            self.opened,
            self.embedder,
            self.log,
            keyword_leg(self.settings, self.opened),
            parts=asking_parts(
                self.settings,
                partial(over, settings=self.settings, opened=self.opened, report=warn(self.log)),
            ),
            measure=partial(measured, "api", self.settings.stage),
            runs=self.search_runs,
            deployment=deployment_document(self.settings),
        )

    @part
    def workspace_settings(self) -> PostgresWorkspaceSettings:
        """What a workspace has set, read again when it changed."""
        from cairn.adapters.postgres.workspaces import PostgresWorkspaceSettings
        from cairn.bootstrap.parts import deployment_document

        return PostgresWorkspaceSettings(self.opened, monotonic, deployment_document(self.settings))

    @part
    def search_runs(self) -> RunRecorder:
        """Keeping what searches did."""
        from cairn.adapters.aws.search_runs import QueuedSearchRuns
        from cairn.bootstrap.recall import recorder

        return recorder(
            self.opened,
            QueuedSearchRuns(self.settings.embed_queue_url),
            warn(self.log),
            outlives_answers=self.server is not None,
        )
