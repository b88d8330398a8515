"""`poise chat`: talk to the agent of a program, line by line."""

from __future__ import annotations

import click

from poise.cli.output import json_option

DEFAULT_PROGRAM = "main.py"


@click.command()
@click.argument("program", metavar="[FILE|MODULE]", default=DEFAULT_PROGRAM)
@click.option("--session", metavar="ID", help="Go on with this conversation, or begin it.")
@click.option("--agent", metavar="NAME", help="Whom to talk to, where there are several.")
@click.option("--customer", metavar="NAME", help="Who you are; default: a guest.")
@click.option("--why", "with_why", is_flag=True, help="Print what became of each rule.")
@json_option
def chat(
    program: str,
    *,
    session: str | None,
    agent: str | None,
    customer: str | None,
    with_why: bool,
    as_json: bool,
) -> None:
    """Talk to an agent on the terminal; Ctrl-D ends.

    The program is a Python file (default: main.py) or a dotted module with `async def main()`,
    `async def build(app)` or `async def install(agent)`.
    """
    from poise.cli.programs import run_program
    from poise.cli.progress import TerminalProgress
    from poise.cli.talking import Talk
    from poise.sdk.hosting import HostedApplication

    async def serve(application: HostedApplication) -> None:
        talk = await Talk.open(application, session=session, agent=agent, customer=customer)
        await talk.run(with_why=with_why, as_json=as_json)

    run_program(program, serve, TerminalProgress())
