"""A first agent: guidelines that depend on an observation, a tool, an approved response."""

from __future__ import annotations

import asyncio

import poise as p

JOBS = {"1204": {"status": "on the press"}}


class Jobs:
    """Stands for a database."""

    async def find_one(self, number: str) -> dict[str, str] | None:
        return JOBS.get(number)


async def main() -> None:
    jobs = Jobs()

    async with p.Server() as server:
        agent = await server.create_agent(
            name="Inky",
            description="Front desk of a print shop",
        )

        is_regular = await agent.create_observation(
            condition="the customer says that they have printed here before",
        )

        greet_regular = await agent.create_guideline(
            condition="saying hello to the customer",
            action="welcome them back and ask how the last job turned out",
            dependencies=[is_regular],
        )
        greet_new = await agent.create_guideline(
            condition="saying hello to the customer",
            action="introduce the shop and ask what they want printed",
        )
        await greet_new.prioritize_over(greet_regular)

        @p.tool
        async def lookup_job(context: p.ToolContext, job_number: str) -> p.ToolResult:
            """Look up a print job.

            Args:
                job_number: Four digits.
            """
            job = await jobs.find_one(job_number)
            if not job:
                return p.ToolResult(f"There is no job {job_number}")
            return p.ToolResult(
                f"Job {job_number} is {job['status']}", fields={"job_number": job_number}
            )

        await agent.create_observation(
            condition="the customer names a print job or asks about the status of one",
            tools=[lookup_job],
        )

        brevity = await agent.create_guideline(
            matcher=p.MATCH_ALWAYS,
            action="keep it to two sentences",
        )
        await agent.create_guideline(
            condition="the customer talks about something other than printing",
            action="say that this is a print shop",
            composition_mode=p.CompositionMode.CANNED_STRICT,
            canned_responses=[
                await agent.create_canned_response("Sorry, we only print."),
            ],
            priority=100,
            criticality="high",
            dependencies=[brevity],
        )

        await agent.create_canned_response(
            template="Thanks for asking about job {job_number}. Let me look.",
        )


if __name__ == "__main__":
    asyncio.run(main())
