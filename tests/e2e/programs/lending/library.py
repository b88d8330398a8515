"""One agent, one domain installed into it."""

from __future__ import annotations

import asyncio

import loans

import poise as p


async def main() -> None:
    async with p.Server() as server:
        agent = await server.create_agent(
            name="Librarian",
            description="Helps readers with what they have borrowed.",
        )
        await loans.install(agent)


if __name__ == "__main__":
    asyncio.run(main())
