"""The plugin's offer, made as an application makes it."""

from poise import Offers, Resolver
from poise_relations import WellFoundedResolver, plugin


class Nothing:
    def supply(self, kind):
        raise LookupError(kind)


def test_the_default_resolver_is_ours():
    offers = Offers()
    plugin.poise_provide(offers.of_plugin("relations"))

    made = offers.make(Resolver, None, Nothing())

    assert isinstance(made, WellFoundedResolver)
