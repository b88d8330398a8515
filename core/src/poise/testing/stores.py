"""What every storage backend promises: repositories, artifacts, and stores apart by tenant.

The suite of session stores and its machine stand in modules of their own and are named here too.
"""

from __future__ import annotations

import anyio
import pytest

from poise.errors import ConflictError, NotFoundError
from poise.ports.stores import ArtifactStore, Repository, Stores
from poise.testing.clock import START
from poise.testing.events import said
from poise.testing.session_machine import SessionStoreMachine
from poise.testing.session_store import TTL, SessionStoreConformance, header_of
from poise.values.customers import Customer, Tag
from poise.values.ids import CustomerId, GroupId, TagId, VariableId
from poise.values.scope import Scope
from poise.values.variables import VariableValue

__all__ = [
    "ArtifactStoreConformance",
    "RepositoryConformance",
    "SessionStoreConformance",
    "SessionStoreMachine",
    "StoresConformance",
]


def customer_of(key: str, name: str = "Ada") -> Customer:
    """Return a customer under that key."""
    return Customer(
        CustomerId(key), name, groups=[GroupId("gold"), GroupId("beta")], metadata={"plan": "pro"}
    )


class RepositoryConformance:
    """Fill `subject` with an empty repository of customers."""

    pytestmark = pytest.mark.anyio

    @pytest.fixture
    def subject(self) -> Repository[Customer]:
        raise NotImplementedError("fill the fixture 'subject' with your repository")

    async def test_what_is_put_can_be_got(self, subject: Repository[Customer]) -> None:
        ada = customer_of("a")

        written = await subject.put(ada)
        read = await subject.get("a")

        assert written == read
        assert read.value == ada
        assert dict(read.value.metadata) == {"plan": "pro"}
        assert read.version == 1, "versions count from 1"

    async def test_what_is_not_there_is_not_found(self, subject: Repository[Customer]) -> None:
        with pytest.raises(NotFoundError, match="customer 'a'"):
            await subject.get("a")
        with pytest.raises(NotFoundError, match="customer 'a'"):
            await subject.delete("a")

    async def test_creating_twice_is_a_conflict_and_putting_is_not(
        self, subject: Repository[Customer]
    ) -> None:
        await subject.create(customer_of("a"))

        with pytest.raises(ConflictError) as caught:
            await subject.create(customer_of("a", "Eve"))
        for _ in range(3):
            await subject.put(customer_of("a"))

        assert caught.value.actual == 1
        found = await subject.find()
        assert [each.name for each in found.items] == ["Ada"], "one record, and the first one's"
        assert (await subject.get("a")).version == 4

    async def test_expected_version_guards_a_change(self, subject: Repository[Customer]) -> None:
        first = await subject.put(customer_of("a"))
        await subject.put(customer_of("a", "Bea"), expected_version=first.version)

        with pytest.raises(ConflictError):
            await subject.put(customer_of("a", "Eve"), expected_version=first.version)
        with pytest.raises(ConflictError):
            await subject.put(customer_of("b"), expected_version=1)

        assert (await subject.get("a")).value.name == "Bea"

    async def test_only_one_of_many_changes_of_a_version_succeeds(
        self, subject: Repository[Customer]
    ) -> None:
        first = await subject.put(customer_of("a"))
        won: list[str] = []

        async def change(name: str) -> None:
            try:
                await subject.put(customer_of("a", name), expected_version=first.version)
            except ConflictError:
                return
            won.append(name)

        async with anyio.create_task_group() as group:
            for place in range(10):
                group.start_soon(change, f"name {place}")

        assert [(await subject.get("a")).value.name] == won, "one wins, and it is what is stored"

    async def test_parallel_writes_and_deletes_leave_what_they_should(
        self, subject: Repository[Customer]
    ) -> None:
        async def write(place: int) -> None:
            await subject.put(customer_of(f"c{place:02}"))
            if place % 2:
                await subject.delete(f"c{place:02}")

        async with anyio.create_task_group() as group:
            for place in range(40):
                group.start_soon(write, place)

        found = await subject.find(limit=100)
        assert [each.id for each in found.items] == [f"c{place:02}" for place in range(0, 40, 2)]

    async def test_deleted_entity_can_be_created_again(self, subject: Repository[Customer]) -> None:
        await subject.put(customer_of("a"))
        await subject.put(customer_of("a"))
        await subject.delete("a")

        again = await subject.create(customer_of("a"))

        assert again.version == 1

    async def test_find_gives_each_entity_once_over_all_pages(
        self, subject: Repository[Customer]
    ) -> None:
        for place in (3, 1, 4, 0, 2):
            await subject.put(customer_of(f"c{place}", "even" if place % 2 == 0 else "odd"))

        found: list[str] = []
        cursor: str | None = None
        for _ in range(10):
            page = await subject.find(lambda each: each.name == "even", cursor=cursor, limit=2)
            found.extend(each.id for each in page.items)
            cursor = page.cursor
            if cursor is None:
                break

        assert found == ["c0", "c2", "c4"], "by key, filtered, each once"

    async def test_finding_nothing_gives_an_empty_page(self, subject: Repository[Customer]) -> None:
        nothing = await subject.find()
        await subject.put(customer_of("a"))
        none_of_these = await subject.find(lambda each: each.name == "Zoe")

        assert (nothing.items, nothing.cursor) == ((), None), "no hits are a result, not an error"
        assert (none_of_these.items, none_of_these.cursor) == ((), None)

    async def test_odd_characters_pass_unharmed(self, subject: Repository[Customer]) -> None:
        name = "Zoë \x00 {} {{x}} '; DROP TABLE records; -- \ud83d"

        await subject.put(customer_of("ключ/%_'\"", name))

        assert (await subject.get("ключ/%_'\"")).value.name == name


class ArtifactStoreConformance:
    """Fill `subject` with an empty artifact store."""

    pytestmark = pytest.mark.anyio

    @pytest.fixture
    def subject(self) -> ArtifactStore:
        raise NotImplementedError("fill the fixture 'subject' with your artifact store")

    async def test_unknown_key_gives_none(self, subject: ArtifactStore) -> None:
        assert await subject.load("nothing") is None

    async def test_what_is_saved_can_be_loaded_whole(self, subject: ArtifactStore) -> None:
        data = bytes(range(256)) * 4096

        await subject.save("index", data)
        await subject.save("empty", b"")

        assert await subject.load("index") == data
        assert await subject.load("empty") == b"", "an empty artifact is there all the same"

    async def test_saving_again_replaces(self, subject: ArtifactStore) -> None:
        await subject.save("index", b"old")
        await subject.save("index", b"new")

        assert await subject.load("index") == b"new"

    async def test_reader_never_sees_half_of_an_artifact(self, subject: ArtifactStore) -> None:
        whole = [bytes([fill]) * 200_000 for fill in range(8)]
        await subject.save("index", whole[0])
        seen: list[bytes | None] = []

        async def load() -> None:
            for _ in range(10):
                seen.append(await subject.load("index"))

        async with anyio.create_task_group() as group:
            for data in whole:
                group.start_soon(subject.save, "index", data)
            group.start_soon(load)

        assert all(each in whole for each in seen)


class StoresConformance:
    """Fill `subject` with started stores that are empty."""

    pytestmark = pytest.mark.anyio

    @pytest.fixture
    def subject(self) -> Stores:
        raise NotImplementedError("fill the fixture 'subject' with your started stores")

    async def test_a_scope_sees_what_its_tenant_stored(self, subject: Stores) -> None:
        await subject.scope(Scope("acme", "ada")).customers.put(customer_of("a"))

        again = subject.scope(Scope("acme", "bob"))

        assert (await again.customers.get("a")).value == customer_of("a")

    async def test_another_tenants_ids_do_not_resolve(self, subject: Stores) -> None:
        ours, theirs = subject.scope(Scope("acme", "ada")), subject.scope(Scope("other", "eve"))
        session = (await ours.sessions.open(header_of("one"))).header.id
        await ours.sessions.append(session, [said("secret")])
        fence = await ours.sessions.claim(session, "owner", TTL)
        assert fence is not None
        await ours.customers.put(customer_of("a"))

        with pytest.raises(NotFoundError):
            await theirs.sessions.get(session)
        with pytest.raises(NotFoundError):
            await theirs.sessions.read(session)
        with pytest.raises(NotFoundError):
            await theirs.sessions.append(session, [said("forged")])
        with pytest.raises(NotFoundError):
            await theirs.sessions.claim(session, "eve", TTL)
        with pytest.raises(NotFoundError):
            await anext(theirs.sessions.follow(session, 0))
        with pytest.raises(NotFoundError):
            await theirs.customers.get("a")
        with pytest.raises(NotFoundError):
            await theirs.customers.delete("a")
        await theirs.sessions.release(fence)

        assert (await theirs.sessions.find()).items == ()
        assert (await theirs.customers.find()).items == ()
        assert len(await ours.sessions.append(session, [said("still ours")], fence=fence)) == 1

    async def test_tenants_may_use_the_same_ids(self, subject: Stores) -> None:
        ours, theirs = subject.scope(Scope("acme", "ada")), subject.scope(Scope("other", "eve"))
        session = (await ours.sessions.open(header_of("one"))).header.id
        await theirs.sessions.open(header_of("one"))
        await ours.sessions.append(session, [said("ours")])
        await theirs.sessions.append(session, [said("theirs")])
        await ours.customers.put(customer_of("a", "Ours"))
        await theirs.customers.put(customer_of("a", "Theirs"))
        await theirs.customers.delete("a")

        assert [each.text for each in (await ours.sessions.read(session)).events] == ["ours"]
        assert [each.text for each in (await theirs.sessions.read(session)).events] == ["theirs"]
        assert (await ours.customers.get("a")).value.name == "Ours"

    async def test_repositories_do_not_share_keys(self, subject: Stores) -> None:
        stores = subject.scope(Scope.local())
        value = VariableValue(VariableId("plan"), CustomerId("a"), {"tier": [1, None]}, START)
        await stores.customers.put(customer_of("a"))
        await stores.tags.put(Tag(TagId("a"), "Beta"))
        await stores.values.put(value)

        await stores.customers.delete("a")

        assert (await stores.tags.get("a")).value == Tag(TagId("a"), "Beta")
        assert (await stores.values.get(value.key)).value == value

    async def test_artifacts_are_everybodys(self, subject: Stores) -> None:
        await subject.artifacts.save("index", b"vectors")

        assert await subject.artifacts.load("index") == b"vectors"

    async def test_appending_old_events_starts_nothing(self, subject: Stores) -> None:
        sessions = subject.scope(Scope.local()).sessions
        session = (await sessions.open(header_of("imported"))).header.id

        await sessions.append(session, [said(f"from long ago {place}") for place in range(200)])

        assert (await sessions.get(session)).length == 200, "a store stores: turns are dispatched"
