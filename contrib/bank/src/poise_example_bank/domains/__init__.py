"""What the agent can do, one package per domain, each with its `install(agent)`."""
