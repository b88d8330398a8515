"""`poise lint` over programs in each form: what it reports, in which form, and how it ends."""

from __future__ import annotations

import json
from importlib.metadata import EntryPoint
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from click.testing import CliRunner, Result

from poise.cli.main import CommandGroup

SHOP = """
import poise

@poise.tool
async def pay(order: str) -> str:
    "Pay an order back."
    return "paid"

async def main():
    async with poise.Application() as app:
        mia = await app.create_agent("Mia")
        await mia.create_policy(title="Refund", when="it broke", then="pay", signals=["broke"])
        await mia.create_policy(title="Voucher", when="It broke.", then="offer a voucher")
        await mia.create_policy(
            title="Quick", when="now", then="go", weight="low", always_judged=True
        )
        await mia.create_policy(title="Pay", when="due", then="pay", tools=[pay], enabled=False)
        zoe = await app.create_agent("Zoe")
        await zoe.create_policy(title="Greet", when="they greet", then="greet", signals=["hello"])
"""

CLEAN = """
async def install(agent):
    await agent.create_policy(title="Greet", when="they greet", then="greet", signals=["hello"])
"""

CYCLE = """
async def install(agent):
    first = await agent.create_policy("First", "do this")
    second = await agent.create_policy("Second", "do that")
    await first.depend_on(second)
    await second.depend_on(first)
"""

TAGGED = """
import poise

async def main():
    async with poise.Application() as app:
        agent = await app.create_agent("Mia")
        ours = await agent.create_policy("Ours", "do this", tags=["a"])
        other = await agent.create_policy("Other", "do that", tags=["b"])
        await ours.depend_on(poise.any_of("b"))
        await other.depend_on(poise.any_of("a"))
"""

PLUGIN = """
import poise
from poise import Finding, Severity

class Doubter:
    @poise.hookimpl
    def poise_lint(self, catalog):
        return [Finding("doubter.name", rule, "an odd name") for rule in catalog.rules]

    @poise.hookimpl
    async def poise_examine(self, examination):
        rules = examination.catalog.rules
        (hits,) = await examination.discoverer.score(["hello"], examination.catalog)
        return [
            Finding("doubter.hello", hit.rule, "says hello", Severity.ERROR, place="notes.txt:7")
            for hit in hits
        ]

class Failing:
    @poise.hookimpl
    async def poise_examine(self, examination):
        raise RuntimeError("no luck")

async def main():
    async with poise.Application(plugins=[Doubter(), Failing()]) as app:
        agent = await app.create_agent("Mia")
        await agent.create_policy(title="Greet", when="they greet", then="greet", signals=["hello"])
"""

TALKS = """
import poise

async def main():
    try:
        async with poise.Application() as app:
            agent = await app.create_agent("Mia")
            await agent.create_policy(title="Quick", then="go", weight="low", always_judged=True)
            session = await app.open_session(agent)
            print("said", await session.say("hello"))
    except Exception:
        print("failed")
    print("over")
"""


def write(folder: Path, text: str, name: str = "shop.py") -> str:
    (folder / name).write_text(text)
    return name


def run(*arguments: str) -> Result:
    point = EntryPoint("lint", "poise.cli.lint:lint", "poise.commands")
    vars(point).update(dist=SimpleNamespace(name="poise", version="1"))
    return CliRunner().invoke(CommandGroup("poise", points=[point]), ["lint", *arguments])


def found(*arguments: str) -> list[tuple[str, str, str, str]]:
    read = json.loads(run(*arguments, "--format", "json").stdout)
    return [
        (each["agent"], each["severity"], each["check"], each["name"]) for each in read["findings"]
    ]


# -- what it reports --


def test_text_groups_findings_by_agent_with_name_place_and_counts(scripted: Path) -> None:
    result = run(write(scripted, SHOP))

    assert result.exit_code == 0, result.output
    assert result.stdout.splitlines() == [
        "Mia",
        "  warning  rules.overlap  Voucher  shop.py:13",
        "    'Voucher' has the condition of 'Refund' and another action, so both are acted on at "
        "once: join them, let one outrank the other, or tell their conditions apart",
        "  warning  tools.unreached  pay  shop.py:17",
        "    'pay' is never called: 'Pay', which offers it, is switched off; give it to a rule, or "
        "drop it",
        "  note  rules.unread_weight  Quick  shop.py:14",
        "    'Quick' has a low weight, which lets a rule be shown unjudged, and is always judged: "
        "drop one of the two",
        "2 warnings, 1 note in 2 agents",
    ]


def test_findings_are_not_logged_beside_the_report(
    scripted: Path, caplog: pytest.LogCaptureFixture
) -> None:
    run(write(scripted, SHOP))

    assert "rules.overlap" not in caplog.text


def test_catalog_without_doubts_says_so(scripted: Path) -> None:
    result = run(write(scripted, CLEAN))

    assert result.exit_code == 0
    assert result.stdout == "nothing found in 1 agent\n"


def test_json_has_a_line_per_finding_and_all_counts(scripted: Path) -> None:
    read = json.loads(run(write(scripted, SHOP), "--format", "json").stdout)

    assert read["program"] == "shop.py"
    assert read["agents"] == ["Mia", "Zoe"]
    assert read["counts"] == {"error": 0, "warning": 2, "note": 1}
    assert read["findings"][0] | {"subject": "", "message": ""} == {
        "agent": "Mia",
        "severity": "warning",
        "check": "rules.overlap",
        "checker": "poise",
        "subject": "",
        "name": "Voucher",
        "message": "",
        "place": "shop.py:13",
    }


def test_report_is_the_same_every_time(scripted: Path) -> None:
    program = write(scripted, SHOP)

    texts = {run(program, "--format", form).stdout for form in ("json",) * 3}

    assert len(texts) == 1


def test_output_is_written_to_a_file(scripted: Path) -> None:
    result = run(write(scripted, SHOP), "--output", "report.txt")

    assert result.stdout == ""
    assert (scripted / "report.txt").read_text().startswith("Mia\n  warning  rules.overlap")


# -- SARIF --


def test_sarif_is_a_log_with_rules_results_and_places(scripted: Path) -> None:
    log = json.loads(run(write(scripted, SHOP), "--format", "sarif").stdout)

    (run_,) = log["runs"]
    driver = run_["tool"]["driver"]
    assert log["version"] == "2.1.0"
    assert log["$schema"].endswith("sarif-2.1.0.json")
    assert driver["name"] == "poise"
    ids = [rule["id"] for rule in driver["rules"]]
    assert ids == ["rules.overlap", "rules.unread_weight", "tools.unreached"]
    assert all(rule["shortDescription"]["text"] for rule in driver["rules"])
    results: list[Any] = run_["results"]
    assert [each["level"] for each in results] == ["warning", "warning", "note"]
    for each in results:
        assert ids[each["ruleIndex"]] == each["ruleId"]
        assert each["message"]["text"]
        assert set(each["partialFingerprints"]) == {"finding/v1"}
    assert len({each["partialFingerprints"]["finding/v1"] for each in results}) == 3
    assert results[0]["locations"] == [
        {
            "logicalLocations": [{"name": "Voucher", "fullyQualifiedName": "Mia/Voucher"}],
            "physicalLocation": {
                "artifactLocation": {"uri": "shop.py"},
                "region": {"startLine": 13},
            },
        }
    ]


def test_sarif_of_a_clean_catalog_has_no_results(scripted: Path) -> None:
    log = json.loads(run(write(scripted, CLEAN), "--format", "sarif").stdout)

    assert log["runs"][0]["results"] == log["runs"][0]["tool"]["driver"]["rules"] == []


def test_sarif_places_are_addresses(scripted: Path) -> None:
    elsewhere = scripted.parent / "else where"
    elsewhere.mkdir()
    program = elsewhere / "my shop.py"
    program.write_text(SHOP)
    (scripted / "my shop.py").write_text(SHOP)

    def address(name: str) -> str:
        result = json.loads(run(name, "--format", "sarif").stdout)["runs"][0]["results"][0]
        return str(result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"])

    assert address("my shop.py") == "my%20shop.py"
    assert address(str(program)) == program.as_uri()


# -- how it ends --


@pytest.mark.parametrize(("fail_on", "code"), [("note", 1), ("warning", 1), ("error", 0)])
def test_code_says_whether_a_finding_is_grave_enough(
    scripted: Path, fail_on: str, code: int
) -> None:
    assert run(write(scripted, SHOP), "--fail-on", fail_on).exit_code == code
    assert run(write(scripted, CLEAN, "clean.py"), "--fail-on", fail_on).exit_code == 0


def test_checks_that_are_not_asked_for_count_for_nothing(scripted: Path) -> None:
    program = write(scripted, SHOP)

    assert found(program, "--check", "rules", "--ignore", "rules.overlap") == [
        ("Mia", "note", "rules.unread_weight", "Quick")
    ]
    assert run(program, "--check", "tools", "--fail-on", "warning").exit_code == 1
    assert run(program, "--ignore", "tools", "--ignore", "rules.overlap").exit_code == 0
    quiet = run(program, "--check", "rules.unread_weight", "--fail-on", "warning")
    assert quiet.exit_code == 0


def test_name_of_no_check_is_warned_of(scripted: Path) -> None:
    result = run(write(scripted, SHOP), "--check", "ruels")
    known = run(write(scripted, SHOP), "--check", "rules", "--ignore", "scripted.thing")

    assert "poise: there is no check 'ruels'" in result.stderr
    assert "there is no check" not in known.stderr


@pytest.mark.parametrize("wrong", [["--format", "xml"], ["--fail-on", "never"], []])
def test_wrong_call_ends_with_2(scripted: Path, wrong: list[str]) -> None:
    program = [write(scripted, CLEAN)] if wrong else []

    assert run(*program, *wrong).exit_code == 2


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("async def main():\n    raise RuntimeError('oops')\n", "RuntimeError: oops"),
        ("async def main():\n    pass\n", "without opening an application"),
        ("x = 1\n", "has no entry function"),
    ],
)
def test_program_that_fails_ends_with_2_and_no_report(scripted: Path, text: str, said: str) -> None:
    result = run(write(scripted, text))

    assert result.exit_code == 2
    assert said in result.stderr
    assert result.stdout == ""


def test_program_that_is_not_there_ends_with_2(scripted: Path) -> None:
    assert run("nowhere.py").exit_code == 2


# -- what can't be compiled --


def test_refused_cycle_is_a_finding_where_it_was_written(scripted: Path) -> None:
    result = run(write(scripted, CYCLE))

    assert result.exit_code == 1
    assert "Traceback" not in result.output
    assert result.stdout.splitlines()[:2] == [
        "shop.py",
        "  error  catalog.invalid  shop.py  shop.py:6",
    ]
    assert "form a cycle: " in result.stdout
    assert result.stdout.endswith("1 error in 0 agents\n")


def test_cycle_through_tags_is_a_finding_too(scripted: Path) -> None:
    log = json.loads(run(write(scripted, TAGGED), "--format", "sarif").stdout)

    (result,) = log["runs"][0]["results"]
    assert (result["ruleId"], result["level"]) == ("catalog.invalid", "error")
    assert "form a cycle" in result["message"]["text"]


def test_rule_that_can_not_be_is_a_finding(scripted: Path) -> None:
    empty = CLEAN.replace('then="greet"', 'then=""')

    assert found(write(scripted, empty)) == [("", "error", "catalog.invalid", "shop.py")]
    assert run("shop.py").exit_code == 1


# -- plugins --


def test_plugins_add_checks_by_both_hooks_and_failures_are_findings(scripted: Path) -> None:
    result = run(write(scripted, PLUGIN))

    assert result.exit_code == 1
    assert found("shop.py") == [
        ("Mia", "error", "doubter.hello", "Greet"),
        ("Mia", "error", "lint.failed", "Mia"),
        ("Mia", "warning", "doubter.name", "Greet"),
    ]
    assert "doubter.hello  Greet  notes.txt:7" in result.stdout
    assert "'Failing' could not make its checks: poise_examine raised RuntimeError: no luck" in (
        result.stdout
    )


# -- the program --


def test_no_turn_is_run_and_the_program_ends_where_its_first_session_would(
    scripted: Path,
) -> None:
    result = run(write(scripted, TALKS))

    assert result.exit_code == 0, result.output
    assert "said" not in result.stdout
    assert "failed" not in result.stdout
    assert "over" not in result.stdout
    assert result.stdout.splitlines()[-1] == "1 note in 1 agent"


def test_program_that_runs_itself_when_imported_is_not_left_to_talk(scripted: Path) -> None:
    program = write(scripted, f"{TALKS}\nimport asyncio\nasyncio.run(main())\n")

    result = run(program)

    assert result.exit_code == 0, result.output
    assert result.stdout.splitlines()[-1] == "1 note in 1 agent"
    assert "said" not in result.stdout


def test_program_in_a_task_group_ends_there_too(scripted: Path) -> None:
    text = TALKS.replace("async def main", "async def talk") + (
        "\nimport anyio\nasync def main():\n    async with anyio.create_task_group() as group:\n"
        "        group.start_soon(talk)\n"
    )

    result = run(write(scripted, text))

    assert result.exit_code == 0, result.output
    assert "said" not in result.stdout


def test_module_is_linted_as_a_file_is(scripted: Path) -> None:
    (scripted / "desk").mkdir()
    (scripted / "desk" / "__init__.py").write_text("")
    write(scripted / "desk", CLEAN, "cards.py")

    assert run("desk.cards").exit_code == 0
