"""Work beside a running application, which ends with it and never with an error of its own."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from types import TracebackType
from typing import Self

import anyio
from anyio.abc import TaskGroup

logger = logging.getLogger(__name__)


class Background:
    """An async context manager that owns tasks; leaving it cancels them."""

    def __init__(self) -> None:
        self._group: TaskGroup | None = None

    async def __aenter__(self) -> Self:
        group = anyio.create_task_group()
        await group.__aenter__()
        self._group = group
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        exc: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        group, self._group = self._group, None
        if group is None:
            return
        group.cancel_scope.cancel()
        if isinstance(exc, anyio.get_cancelled_exc_class()):
            await group.__aexit__(kind, exc, traceback)
        else:
            # Without the error, which would come out wrapped in a group; it goes on from here.
            await group.__aexit__(None, None, None)

    def start(self, what: str, work: Callable[[], Awaitable[object]]) -> None:
        """Start `work`; what it raises is logged under the name `what`."""

        async def run() -> None:
            try:
                await work()
            except Exception as exc:
                logger.warning("%s failed: %s", what, exc)

        if self._group is not None:
            self._group.start_soon(run)
