"""The client with `await`. `_sync.py` is made of this module by scripts/clients.py."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from datetime import datetime
from hashlib import sha256
from pathlib import Path
from types import TracebackType
from typing import Any, Literal, TypeVar, cast
from uuid import UUID, uuid4

import httpx

from cairn_memory import models, operations
from cairn_memory._call import Call, problem_of, wait_before_retry
from cairn_memory._deadline import awithin
from cairn_memory._given import (
    BATCH,
    DEFAULT_URL,
    INLINE_BYTES,
    UPLOAD_AGAIN,
    UPLOADED,
    Importance,
    Kind,
    Scope,
    Wait,
    content_of,
    document_of,
    given,
    given_by,
    memory_of,
    subject_of,
)
from cairn_memory._streams import Event, Lines
from cairn_memory.errors import ConnectionFailed, TimedOut

T = TypeVar("T")
Self = TypeVar("Self", bound="AsyncMemory")


class AsyncMemory:
    """One key on one deployment of Cairn.

    `url` and `key` default to CAIRN_URL and CAIRN_API_KEY. `client_id` is whose memories these are,
    an end user or a customer, where a call names no other. `session_id` is the conversation that
    what is remembered came about in; it defaults to CAIRN_SESSION_ID, which `environment` hands on
    to whatever works on its behalf. `timeout` is seconds for one answer.
    What was refused for now, or lost and may be repeated, is sent again up to `retries` times, and
    writes carry an Idempotency-Key so that a repeated one is done once. Every method raises
    `errors.CairnError`. Close it, or use it in a `with` block.
    """

    def __init__(
        self,
        url: str | None = None,
        key: str | None = None,
        *,
        client_id: str | None = None,
        session_id: str | None = None,
        timeout: float = 60.0,
        retries: int = 3,
        http: httpx.AsyncClient | None = None,
    ) -> None:
        self.url = url or os.environ.get("CAIRN_URL") or DEFAULT_URL
        self.client_id = client_id
        self.session_id = session_id or os.environ.get("CAIRN_SESSION_ID")
        self.retries = retries
        self._http = http or httpx.AsyncClient(base_url=self.url, timeout=timeout)
        key = key or os.environ.get("CAIRN_API_KEY")
        if key:
            self._http.headers["authorization"] = f"Bearer {key}"

    async def __aenter__(self: Self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self.close()

    async def close(self) -> None:
        """Close the connections."""
        await self._http.aclose()

    def environment(self, session_id: str | None = None) -> dict[str, str]:
        """Return the environment of a delegated run: a child process that remembers for this one.

        What it remembers comes of this conversation. Lay it over the child's own environment.
        """
        session = session_id or self.session_id
        key = self._http.headers.get("authorization", "").removeprefix("Bearer ")
        found = {"CAIRN_URL": self.url, "CAIRN_API_KEY": key, "CAIRN_SESSION_ID": session or ""}
        return {name: value for name, value in found.items() if value}

    # Remembering

    async def remember(
        self,
        text: str,
        *,
        type: Kind = "fact",
        key: str | None = None,
        subject: str | None = None,
        client_id: str | None = None,
        session_id: str | None = None,
        importance: Importance | None = None,
        occurred_at: datetime | None = None,
        valid_from: datetime | None = None,
        valid_to: datetime | None = None,
        scope: Scope | None = None,
        agents: Sequence[str] = (),
        data_subjects: Sequence[str] = (),
        confidence: float | None = None,
        metadata: Mapping[str, Any] | None = None,
        namespace: str | None = None,
        ttl_seconds: int | None = None,
        idempotency_key: str | None = None,
        wait: Wait | None = None,
        wait_seconds: float = 60.0,
    ) -> models.MemoryResult:
        """Remember a text; one with the same `key` takes the place of the one before it.

        It is found by its words at once, and by meaning when it is embedded: `wait="embedded"`
        returns then, or raises TimedOut after `wait_seconds`.
        """
        body = memory_of(
            text,
            type=type,
            key=key,
            subject=subject,
            client_id=client_id or self.client_id,
            session_id=session_id or self.session_id,
            importance=importance,
            occurred_at=occurred_at,
            valid_from=valid_from,
            valid_to=valid_to,
            scope=scope,
            agents=agents,
            data_subjects=data_subjects,
            confidence=confidence,
            metadata=metadata,
            namespace=namespace,
            ttl_seconds=ttl_seconds,
        )
        result = cast(
            "models.MemoryResult",
            await self.call(operations.remember(body, idempotency_key=idempotency_key)),
        )
        if wait == "embedded":
            await self.wait_until_embedded(result.id, seconds=wait_seconds)
        return result

    async def remember_all(
        self, memories: Iterable[str | models.MemoryIn]
    ) -> list[models.MemoryItemResult | models.RejectedItem]:
        """Remember many, 500 in a request; one that is refused does not stop the others."""
        results: list[models.MemoryItemResult | models.RejectedItem] = []
        batch: list[dict[str, Any]] = []
        for memory in memories:
            batch.append(given_by(memory, self.client_id, self.session_id))
            if len(batch) == BATCH:
                results += await self._remember_batch(batch, len(results))
                batch = []
        return results + (await self._remember_batch(batch, len(results)) if batch else [])

    async def _remember_batch(
        self, batch: list[dict[str, Any]], before: int
    ) -> list[models.MemoryItemResult | models.RejectedItem]:
        body = models.MemoryBatch.model_validate({"items": batch})
        answer = await self.call(operations.remember(body))
        results = cast("models.MemoryBatchResult", answer).results
        for result in results:
            result.index += before
        return results

    async def wait_until_embedded(self, memory_id: UUID | str, *, seconds: float = 60.0) -> None:
        """Return when a memory is found by meaning too; TimedOut when that takes longer."""
        pause = 0.05
        while not (await self.get(memory_id)).embedded:
            if seconds <= 0:
                raise TimedOut(f"The memory {memory_id} is stored and not embedded yet.")
            await asyncio.sleep(pause)
            seconds -= pause
            pause = min(1.0, pause * 1.5)

    async def say(
        self,
        session_id: str,
        text: str,
        *,
        role: Literal["user", "assistant", "system", "tool"] = "user",
        sender: str | None = None,
        channel: str = "api",
        client_id: str | None = None,
        occurred_at: datetime | None = None,
        infer: bool | None = None,
        metadata: Mapping[str, Any] | None = None,
        idempotency_key: str | None = None,
    ) -> models.MessageRecorded:
        """Record a message; memories are drawn from it unless `infer` is False."""
        body = given(
            session_id=session_id,
            text=text,
            role=role,
            sender=sender,
            channel=channel,
            client_id=client_id or self.client_id,
            occurred_at=occurred_at,
            infer=infer,
            metadata=metadata,
        )
        call = operations.record_message(
            models.MessageIn.model_validate(body), idempotency_key=idempotency_key
        )
        return await self.call(call)

    async def ingest(
        self,
        document: Path | str,
        *,
        source_uri: str | None = None,
        title: str | None = None,
        client_id: str | None = None,
        scope: Scope | None = None,
        metadata: Mapping[str, Any] | None = None,
        wait: bool = False,
        wait_seconds: float = 300.0,
    ) -> models.DocumentTaken:
        """Ingest a file, or a text under a `source_uri`; `wait` returns when it can be recalled."""
        content = content_of(document)
        upload_id = await self._upload(content) if content and len(content) > INLINE_BYTES else None
        body = document_of(
            document,
            content,
            upload_id=upload_id,
            source_uri=source_uri,
            title=title,
            client_id=client_id or self.client_id,
            scope=scope,
            metadata=metadata,
        )
        taken = await self.call(operations.ingest_document(body))
        pause = 0.2
        while wait:
            state = await self.call(operations.get_ingestion(taken.ingestion_id))
            if state.status in ("ready", "failed"):
                return taken.model_copy(update={"status": state.status})
            if wait_seconds <= 0:
                raise TimedOut(f"The document {taken.document_id} is {state.status} still.")
            await asyncio.sleep(pause)
            wait_seconds -= pause
            pause = min(2.0, pause * 1.5)
        return taken

    async def _upload(self, content: bytes) -> UUID:
        """Put bytes that are too large for a request where the API finds them."""
        announced = {"size": len(content), "sha256": sha256(content).hexdigest()}
        ticket = await self.call(
            operations.create_upload(models.UploadIn.model_validate(announced))
        )
        put = httpx.Request("PUT", ticket.url, content=content, headers=ticket.headers)
        pause = 0.5
        for left in reversed(range(self.retries + 1)):
            try:
                answer = await self._http.send(put)
            except httpx.HTTPError as error:
                if not left:
                    lost = f"The upload failed ({type(error).__name__})."
                    raise ConnectionFailed(lost) from error
            else:
                if answer.is_success or answer.status_code == UPLOADED:
                    break
                if not left or answer.status_code not in UPLOAD_AGAIN:
                    raise ConnectionFailed(f"The upload was refused with {answer.status_code}.")
            await asyncio.sleep(pause)
            pause *= 2
        return ticket.upload_id

    # Recalling

    async def recall(
        self,
        query: str,
        *,
        limit: int | None = None,
        client_id: str | None = None,
        kinds: Sequence[Kind] = (),
        labels: Sequence[str] = (),
        scopes: Sequence[Scope] = (),
        occurred_from: datetime | None = None,
        occurred_to: datetime | None = None,
        valid_at: datetime | None = None,
        as_of: datetime | int | None = None,
        min_relevance: float | None = None,
        session_id: str | None = None,
        recipe: str | None = None,
        namespace: str | None = None,
        namespace_prefix: str | None = None,
        where: Sequence[Mapping[str, Any]] = (),
        personalize_for: str | None = None,
    ) -> models.SearchAnswer:
        """Return what bears on a question, the best first; nothing is an answer, too.

        `as_of` is a time or a ledger position: what was known then. `personalize_for` is a client:
        what is known of them moves results up.
        """
        body = given(
            query=query,
            limit=limit,
            client_id=client_id or self.client_id,
            kinds=kinds,
            labels=labels,
            scopes=scopes,
            occurred_from=occurred_from,
            occurred_to=occurred_to,
            valid_at=valid_at,
            as_of=as_of,
            min_relevance=min_relevance,
            session_id=session_id,
            recipe=recipe,
            namespace=namespace,
            namespace_prefix=namespace_prefix,
            where=where,
            personalize_for=personalize_for,
        )
        answer = await self.call(operations.search(models.SearchIn.model_validate(body)))
        return cast("models.SearchAnswer", answer)  # text is for who asks for a stream

    async def context(
        self,
        query: str,
        *,
        max_tokens: int | None = None,
        limit: int | None = None,
        client_id: str | None = None,
        labels: Sequence[str] = (),
        scopes: Sequence[Scope] = (),
        session_id: str | None = None,
    ) -> models.ContextAnswer:
        """Return what bears on a question as one cited text for a prompt."""
        body = given(
            query=query,
            max_tokens=max_tokens,
            limit=limit,
            client_id=client_id or self.client_id,
            labels=labels,
            scopes=scopes,
            session_id=session_id,
        )
        return await self.call(operations.context(models.ContextIn.model_validate(body)))

    async def compact(
        self,
        session_id: str,
        messages: Sequence[Mapping[str, Any]],
        *,
        target_tokens: int | None = None,
        share: float | None = None,
        channel: str = "api",
        client_id: str | None = None,
        keep: bool = False,
    ) -> models.CompactedAnswer:
        """Record a conversation that grew too long, and return it shorter.

        Each message has `role`, `text`, and if known `sender`, `occurred_at` and `tool_calls`. The
        same messages again are recorded once.
        """
        body = given(
            session_id=session_id,
            messages=list(messages),
            target_tokens=target_tokens,
            share=share,
            channel=channel,
            client_id=client_id or self.client_id,
            keep=keep,
        )
        return await self.call(operations.compact(models.CompactIn.model_validate(body)))

    async def bridge(
        self,
        query: str,
        *,
        seconds: float = 8.0,
        max_tokens: int | None = None,
        client_id: str | None = None,
        session_id: str | None = None,
    ) -> str | None:
        """Return the text of `context` for a host's prompt; None on any failure, or after 8 s.

        For a host that puts memory before each turn: the turn goes on without it, and never waits
        longer. Nothing is raised.
        """
        found = await awithin(
            seconds,
            lambda: self.context(
                query,
                max_tokens=max_tokens,
                client_id=client_id,
                session_id=session_id or self.session_id,
            ),
        )
        return found.context if found else None

    async def feedback(
        self, search_id: UUID | str, node_id: UUID | str, *, useful: bool
    ) -> models.Feedback:
        """Say whether a result of a search was of use."""
        body = models.FeedbackIn.model_validate({"node_id": str(node_id), "useful": useful})
        return await self.call(operations.give_feedback(search_id, body))

    # What is held

    async def query_nodes(
        self,
        *labels: str,
        where: Sequence[Mapping[str, Any]] = (),
        kind: str | None = None,
        client_id: str | None = None,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> models.NodeQueryAnswer:
        """Return a page of the nodes that have all the labels and meet all conditions.

        A condition is such as `{"path": ["cost"], "op": "gte", "value": 5}`; `warnings` of the page
        names properties that no node has. The next page is asked for with its `next_cursor`.
        """
        body = given(
            labels=list(labels),
            where=list(where),
            kind=kind,
            client_id=client_id or self.client_id,
            limit=limit,
            cursor=cursor,
        )
        return await self.call(operations.query_nodes(models.NodeQueryIn.model_validate(body)))

    def memories(
        self,
        *,
        client_id: str | None = None,
        type: Kind | None = None,
        key: str | None = None,
        subject: str | None = None,
        session_id: str | None = None,
        state: str | None = None,
        namespace: str | None = None,
        namespace_prefix: str | None = None,
        where: Sequence[Mapping[str, Any]] = (),
    ) -> AsyncIterator[models.MemoryView]:
        """Return the memories, the newest first, page by page as they are read."""
        return self.pages(
            operations.list_memories,
            client_id=client_id or self.client_id,
            type=type,
            key=key,
            subject=subject,
            session_id=session_id,
            state=state,
            namespace=namespace,
            namespace_prefix=namespace_prefix,
            where=json.dumps(list(where)) if where else None,
        )

    async def get(self, memory_id: UUID | str) -> models.MemoryView:
        """Return a memory."""
        return await self.call(operations.get_memory(memory_id))

    async def history(self, memory_id: UUID | str) -> models.MemoryHistory:
        """Return the versions of a memory."""
        return await self.call(operations.get_memory_history(memory_id))

    async def correct(
        self, memory_id: UUID | str, text: str | None = None, *, reason: str, **fields: Any
    ) -> models.EditResult:
        """Put a new version in the place of a memory. `fields` are those of MemoryCorrection."""
        body = models.MemoryCorrection.model_validate(given(reason=reason, text=text) | fields)
        return await self.call(operations.correct_memory(memory_id, body))

    async def delete(self, memory_id: UUID | str) -> models.Deleted:
        """Hide a memory from recall and lists. `forget` destroys what is known of somebody."""
        return await self.call(operations.delete_memory(memory_id))

    async def pin(self, memory_id: UUID | str) -> models.EditResult:
        """Keep a memory from ageing and fading, and rank it higher."""
        return await self.call(operations.pin_memory(memory_id))

    async def unpin(self, memory_id: UUID | str) -> models.EditResult:
        """Let a memory age and fade again."""
        return await self.call(operations.unpin_memory(memory_id))

    async def never_recall(self, memory_id: UUID | str, *, reason: str) -> models.EditResult:
        """Keep a memory, and let no search or context find it."""
        body = models.NeverRecall.model_validate({"reason": reason})
        return await self.call(operations.keep_memory_from_recall(memory_id, body))

    async def let_be_recalled(self, memory_id: UUID | str) -> models.EditResult:
        """Let a memory be found again."""
        return await self.call(operations.let_memory_be_recalled(memory_id))

    async def forget(
        self,
        subject: str,
        *,
        reason: Literal["request", "retention", "mistake", "other"] = "request",
        prove: bool = False,
    ) -> Any:
        """Destroy what is known of somebody: `client:acme` or `person:dana`. It cannot be undone.

        Only an admin's key may. `prove` looks in every place afterwards and says what it found.
        """
        body = given(subject=subject_of(subject), reason=reason, prove=prove or None)
        return await self.call(operations.forget(models.ForgetIn.model_validate(body)))

    # Everything else

    async def call(self, call: Call[T]) -> T:
        """Make any call of `operations` and return its answer by its type."""
        return call.read(await self._send(call.with_key()))

    async def pages(
        self, listed: Callable[..., Call[Any]], *parts: Any, **filters: Any
    ) -> AsyncIterator[Any]:
        """Yield what a list of `operations` has, over all its pages."""
        cursor: str | None = None
        while True:
            page = await self.call(listed(*parts, **filters, cursor=cursor))
            for item in page.items:
                yield item
            cursor = page.next_cursor
            if cursor is None:
                return

    def follow(
        self, investigation_id: UUID | str, *, after: str | None = None
    ) -> AsyncIterator[Event]:
        """Yield the events of an investigation as they happen, until it ends.

        A connection that is lost is taken up again after the last event that came.
        """

        def call(last: str | None) -> Call[Any]:
            return operations.follow_investigation(investigation_id, last_event_id=last)

        return self._events(call, after)

    def chat(
        self,
        message: str,
        *,
        session_id: str | None = None,
        client_id: str | None = None,
        suggest: bool | None = None,
        turn_id: UUID | None = None,
    ) -> AsyncIterator[Event]:
        """Say something and yield the trace events of the answer as they happen.

        `text_chunk` carries what is said, `tool_activity` with `phase` pending what waits for the
        person, `graph_end` the whole answer with its citations. A connection that is lost is taken
        up again after the last event that came; the turn is not answered twice.
        """
        turn = turn_id or uuid4()
        asked = given(
            message=message,
            session_id=session_id,
            client_id=client_id or self.client_id,
            suggest=suggest,
            turn_id=turn,
        )
        body = models.ChatIn.model_validate(asked)

        def call(last: str | None) -> Call[Any]:
            if last is None:
                return operations.chat(body)
            return operations.follow_chat_turn(turn, last_event_id=last)

        return self._events(call, None)

    async def decide(
        self, action_id: UUID | str, *, confirm: bool, arguments_hash: str
    ) -> models.ActionView:
        """Confirm what waits in a chat, or cancel it; `arguments_hash` is of what was shown."""
        decision = "confirm" if confirm else "cancel"
        asked = {"decision": decision, "arguments_hash": arguments_hash}
        body = models.DecisionIn.model_validate(asked)
        return await self.call(operations.decide_chat_action(action_id, body))

    async def _events(
        self, of: Callable[[str | None], Call[Any]], after: str | None
    ) -> AsyncIterator[Event]:
        """Yield the events of a stream, taken up again after the last one that came."""
        last, attempt = after, 0
        while True:
            lines, call = Lines(last), of(last)
            try:
                request = call.request(self._http)
                request.headers["accept"] = "text/event-stream"
                answer = await self._http.send(request, stream=True)
                try:
                    if answer.is_error:
                        await answer.aread()
                        raise problem_of(answer)
                    async for line in answer.aiter_lines():
                        for event in lines.take(line):
                            last, attempt = event.id, 0
                            yield event
                finally:
                    await answer.aclose()
                return
            except httpx.HTTPError as error:
                await self._pause(of(last), attempt, error)
                attempt += 1

    async def _send(self, call: Call[Any]) -> httpx.Response:
        for attempt in range(self.retries + 1):
            try:
                response = await self._http.send(call.request(self._http))
            except httpx.HTTPError as error:
                await self._pause(call, attempt, error)
                continue
            wait = wait_before_retry(call, attempt, response)
            if wait is None or attempt == self.retries:
                return response
            await asyncio.sleep(wait)
        raise AssertionError("the last attempt returns or raises")

    async def _pause(self, call: Call[Any], attempt: int, error: httpx.HTTPError) -> None:
        wait = wait_before_retry(call, attempt, error)
        if wait is None or attempt >= self.retries:
            raise ConnectionFailed(
                f"{self.url} did not answer ({type(error).__name__}): "
                "is it running, and CAIRN_URL right?"
            ) from error
        await asyncio.sleep(wait)
