"""What the agent can do, one package per domain.

Each has `install(agent)`; one whose tools need the bank's systems has `install(agent, bank)`.
"""
