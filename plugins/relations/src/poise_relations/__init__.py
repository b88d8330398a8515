"""Relations between rules, settled per turn: what depends on, outranks, excludes, implies what."""

from poise_relations.resolver import WellFoundedResolver

__all__ = ["WellFoundedResolver"]
