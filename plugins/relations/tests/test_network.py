"""The gates below the resolver: three values, circles, and chains of any depth."""

from poise_relations.network import ALWAYS, FALSE, NEVER, TRUE, UNDEFINED, Network, components


def test_gates_without_a_circle_are_plain_logic():
    network = Network()
    both = network.all_of([ALWAYS, ~NEVER])
    neither = network.any_of([NEVER, ~both])

    values = network.solve()

    assert (values[both], values[neither]) == (TRUE, FALSE)


def test_a_circle_that_supports_only_itself_is_false():
    network = Network()
    first, second = network.reserve(), network.reserve()
    network.connect(first, [second])
    network.connect(second, [first])

    values = network.solve()

    assert (values[first], values[second]) == (FALSE, FALSE)


def test_a_circle_with_support_from_outside_is_true():
    network = Network()
    first, second = network.reserve(), network.reserve()
    network.connect(first, [network.any_of([second, ALWAYS])])
    network.connect(second, [first])

    values = network.solve()

    assert (values[first], values[second]) == (TRUE, TRUE)


def test_what_hangs_on_its_own_negation_is_undefined_and_so_is_what_hangs_on_it():
    network = Network()
    liar, follower, unaffected = network.reserve(), network.reserve(), network.reserve()
    network.connect(liar, [~liar])
    network.connect(follower, [liar, ALWAYS])
    network.connect(unaffected, [liar, NEVER])

    values = network.solve()

    assert (values[liar], values[follower], values[unaffected]) == (UNDEFINED, UNDEFINED, FALSE)


def test_two_that_block_each_other_stay_undefined_until_a_third_blocks_one():
    network = Network()
    first, second, third = network.reserve(), network.reserve(), network.reserve()
    network.connect(first, [~second, ~third])
    network.connect(second, [~first])
    network.connect(third, [])

    values = network.solve()

    assert (values[first], values[second], values[third]) == (FALSE, TRUE, TRUE)


def test_a_positive_circle_below_an_undefined_gate_inherits_it():
    network = Network()
    liar, first, second = network.reserve(), network.reserve(), network.reserve()
    network.connect(liar, [~liar])
    network.connect(first, [network.any_of([second, liar])])
    network.connect(second, [first])

    values = network.solve()

    assert (values[first], values[second]) == (UNDEFINED, UNDEFINED)


def test_a_chain_of_a_hundred_thousand_is_solved_without_recursion():
    network = Network()
    gate = ALWAYS
    for _ in range(100_000):
        gate = network.all_of([~gate])

    assert network.solve()[gate] == TRUE


def test_components_come_after_what_they_lead_to():
    graph = [[1], [2, 3], [1], [], [0]]

    found = [sorted(component) for component in components(graph)]

    assert found == [[3], [1, 2], [0], [4]]
