"""`poise chat`, `why` and `sessions` over programs in each form, with a scripted agent."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from poise.cli.main import main

MAIN = """
from poise.sdk.application import Application

async def main():
    async with Application() as app:
        agent = await app.create_agent(name="Anna")
        cards = await agent.create_observation(
            title="About cards", when="the customer talks about a card", signals=["card"]
        )
        await agent.create_policy(
            title="Lost card", when="a card is lost", then="freeze it", signals=["lost"],
            dependencies=[cards],
        )
        await agent.create_policy(
            title="Stolen card", when="a card is stolen", then="call the police",
            signals=["stolen"],
        )
        await agent.create_policy(
            title="Gold only", when="it shines", then="bow", signals=["gold"], groups=["gold"]
        )
"""

INSTALL = """
async def install(agent):
    await agent.create_policy(title="Greet", when="they greet", then="greet", signals=["hello"])
"""

BUILD = """
async def build(app):
    await app.create_agent(name="First")
    await app.create_agent(name="Second")
"""


def write(folder: Path, text: str, name: str = "bank.py") -> str:
    (folder / name).write_text(text)
    return name


def run(*arguments: str, said: str = "") -> Result:
    return CliRunner().invoke(main, list(arguments), input=said)


# -- the three forms --


def test_program_with_main_is_talked_to(scripted: Path) -> None:
    program = write(scripted, MAIN)

    result = run("chat", program, said="hello\n\nsomething else\n")

    assert result.exit_code == 0, result.output
    assert result.stdout.splitlines()[:2] == ["> hello", "Anna: Good morning!"]
    assert result.stdout.count("Anna: ") == 2
    assert "indexing rules" in result.stderr


def test_program_with_install_gets_an_agent_named_after_it(scripted: Path) -> None:
    program = write(scripted, INSTALL, "card_desk.py")

    result = run("chat", program, said="hello\n")

    assert "Card desk: Good morning!" in result.stdout


def test_program_with_build_gets_an_application(scripted: Path) -> None:
    program = write(scripted, BUILD)

    first = run("chat", program, said="hello\n")
    second = run("chat", program, "--agent", "Second", said="hello\n")
    nobody = run("chat", program, "--agent", "Third", said="hello\n")

    assert "First: Good morning!" in first.stdout
    assert "Second: Good morning!" in second.stdout
    assert nobody.exit_code == 2
    assert "no agent 'Third'; there are: 'First', 'Second'" in nobody.stderr


def test_program_may_be_a_module(scripted: Path) -> None:
    (scripted / "desk").mkdir()
    (scripted / "desk" / "__init__.py").write_text("")
    write(scripted / "desk", INSTALL, "cards.py")

    result = run("chat", "desk.cards", said="hello\n")

    assert "Cards: Good morning!" in result.stdout


def test_program_that_runs_itself_when_imported_is_talked_to_once(scripted: Path) -> None:
    program = write(scripted, f"{MAIN}\nimport asyncio\nasyncio.run(main())\n")

    result = run("chat", program, said="hello\n")

    assert result.stdout.splitlines() == ["> hello", "Anna: Good morning!"]


def test_program_with_a_plain_main_is_talked_to(scripted: Path) -> None:
    text = MAIN.replace("async def main", "async def start") + (
        "\nimport asyncio\ndef main():\n    asyncio.run(start())\n"
    )

    result = run("chat", write(scripted, text), said="hello\n")

    assert "Anna: Good morning!" in result.stdout


# -- talking --


def test_json_is_one_object_per_turn(scripted: Path) -> None:
    program = write(scripted, MAIN)

    result = run("chat", program, "--json", said="my card is lost\nhello\n")

    turns = [json.loads(line) for line in result.stdout.splitlines()]
    assert [turn["number"] for turn in turns] == [1, 2]
    assert turns[0]["said"] == ["my card is lost"]
    assert turns[1]["replies"] == ["Good morning!"]
    assert {line["name"] for line in turns[0]["lines"]} == {"About cards", "Lost card"}


def test_why_prints_what_became_of_each_rule_after_the_reply(scripted: Path) -> None:
    result = run("chat", write(scripted, MAIN), "--why", said="my card is lost\n")

    assert "Lost card" in result.stdout
    assert "matched" in result.stdout
    assert "ms" in result.stdout


def test_session_goes_on_with_its_turns_counted_on(scripted: Path) -> None:
    program = write(scripted, MAIN)

    first = run("chat", program, "--session", "s1", "--json", said="hello\n")
    second = run("chat", program, "--session", "s1", "--json", said="hello\n")

    assert json.loads(first.stdout)["session"] == "s1"
    assert json.loads(second.stdout)["number"] == 2
    assert "(new)" in first.stderr
    assert "continuing" in second.stderr


def test_session_of_another_agent_is_refused(scripted: Path) -> None:
    run("chat", write(scripted, MAIN), "--session", "s2", said="hello\n")

    result = run("chat", write(scripted, BUILD, "other.py"), "--session", "s2", said="hello\n")

    assert result.exit_code == 2
    assert "belongs to the agent" in result.stderr


def test_customer_is_made_once_and_found_again(scripted: Path) -> None:
    program = write(scripted, MAIN)

    for session in ("c1", "c2"):
        run("chat", program, "--session", session, "--customer", "Zoe", said="hello\n")

    shown = [json.loads(run("sessions", "show", each, "--json").stdout) for each in ("c1", "c2")]
    assert shown[0]["customer"] == shown[1]["customer"]
    assert shown[0]["customer"] != "guest"


def test_words_can_not_steer_the_terminal(scripted: Path) -> None:
    result = run("chat", write(scripted, MAIN), said="escape\nwith a null \x00 byte\n")

    assert result.exit_code == 0
    assert "Anna: a�[31mb" in result.stdout
    assert "\x1b[31m" not in result.stdout
    assert "\x00" not in result.stdout


def test_turn_that_a_hook_ends_unseen_does_not_hang(scripted: Path) -> None:
    text = MAIN.replace("Application()", "Application(hooks=[on_acknowledging])").replace(
        "async def main",
        "from poise.turn.control import Bail\n"
        "async def on_acknowledging(turn):\n    return Bail('not now')\n\n"
        "async def main",
    )

    result = run("chat", write(scripted, text), said="hello\nhello\n")

    assert result.exit_code == 0
    assert result.stderr.count("Anna says nothing") == 2


def test_message_that_a_hook_refuses_ends_nothing(scripted: Path) -> None:
    text = MAIN.replace("Application()", "Application(hooks=[on_event])").replace(
        "async def main",
        "from poise.turn.control import Bail\n"
        "async def on_event(event):\n"
        "    return Bail('rude') if 'fool' in event.data.get('text', '') else None\n\n"
        "async def main",
    )

    result = run("chat", write(scripted, text), said="you fool\nhello\n")

    assert result.exit_code == 0
    assert "poise: event: message was refused: rude" in result.stderr
    assert "Anna: Good morning!" in result.stdout


def test_end_of_input_from_a_pipe_ends_it(scripted: Path) -> None:
    program = write(scripted, MAIN)

    done = subprocess.run(
        [sys.executable, "-c", "from poise.cli.main import main; main()", "chat", program],
        input="hello\nhello",
        capture_output=True,
        text=True,
        timeout=60,
    )

    assert done.returncode == 0, done.stderr
    assert done.stdout.count("Anna: Good morning!") == 2


def test_interrupt_while_it_waits_for_a_line_ends_it_with_130(scripted: Path) -> None:
    process = subprocess.Popen(
        [
            sys.executable,
            "-c",
            "from poise.cli.main import main; main()",
            "chat",
            write(scripted, MAIN),
        ],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write("hello\n")
    process.stdin.flush()
    while "Good morning" not in process.stdout.readline():
        pass

    process.send_signal(signal.SIGINT)

    _, error = process.communicate(timeout=30)
    assert process.returncode == 130
    assert "Traceback" not in error


# -- programs that can't be run --


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("x = 1\n", "bank.py has no entry function; write `async def main()`"),
        ("def install(agent): ...\n", "bank.py: write `async def install`"),
        ("async def main(): ...\n", "bank.py: the program ended without opening an application"),
        ("def broken(:\n", "SyntaxError"),
        ("import no_such_library\n", "bank.py:1: ModuleNotFoundError: No module named 'no_such"),
    ],
)
def test_program_that_is_none_says_so(scripted: Path, text: str, message: str) -> None:
    result = run("chat", write(scripted, text), said="hello\n")

    assert result.exit_code == 2
    assert message in result.stderr.splitlines()[-1]


@pytest.mark.parametrize(
    ("named", "message"),
    [
        ("gone.py", "poise: there is no file gone.py"),
        ("gone.module", "poise: there is no file and no module 'gone.module'"),
        (".", "poise: . is a folder; give a Python file within it, or a module"),
    ],
)
def test_program_that_is_not_there_says_so(scripted: Path, named: str, message: str) -> None:
    result = run("chat", named, said="hello\n")

    assert result.exit_code == 2
    assert result.stderr == f"{message}\n"


FAILING = {
    "while it is imported": "raise RuntimeError('no disk')\n",
    "before the application": "async def main():\n    raise RuntimeError('no disk')\n",
    "within the application": MAIN + "        raise RuntimeError('no disk')\n",
    "in install": "async def install(agent):\n    raise RuntimeError('no disk')\n",
}


@pytest.mark.parametrize("text", FAILING.values(), ids=FAILING.keys())
def test_error_in_the_program_shows_its_own_lines_and_ends_at_once(
    scripted: Path, text: str
) -> None:
    program = write(scripted, text)
    started = time.monotonic()

    result = run("chat", program, said="hello\n")

    assert time.monotonic() - started < 5.0
    assert result.exit_code == 2
    lines = result.stderr.splitlines()
    assert lines[-1].startswith("poise: bank.py:")
    assert lines[-1].endswith("RuntimeError: no disk")
    files = [line for line in lines if line.lstrip().startswith("File ")]
    assert files
    assert all("bank.py" in line for line in files)


def test_wrong_rule_names_its_line_without_a_traceback(scripted: Path) -> None:
    text = "async def install(agent):\n    await agent.create_policy(title=' ', then='x')\n"

    result = run("chat", write(scripted, text), said="hello\n")

    assert result.exit_code == 2
    assert result.stderr.startswith("poise: bank.py:2: ")
    assert "Traceback" not in result.stderr


def test_missing_part_of_the_application_is_the_operators_matter(
    scripted: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("POISE_PLANNER", "grand")

    result = run("chat", write(scripted, INSTALL), said="hello\n")

    assert result.exit_code == 2
    assert result.stderr == (
        "poise: no Planner named 'grand'; on offer: scripted; pip install poise-grand\n"
    )


def test_hanging_set_up_can_be_interrupted(scripted: Path) -> None:
    program = write(
        scripted,
        "import anyio\nasync def main():\n    print('up', flush=True)\n"
        "    await anyio.sleep_forever()\n",
    )
    process = subprocess.Popen(
        [sys.executable, "-c", "from poise.cli.main import main; main()", "chat", program],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=dict(os.environ),
        text=True,
    )
    assert process.stdout is not None
    process.stdout.readline()

    process.send_signal(signal.SIGINT)

    process.communicate(timeout=30)
    assert process.returncode == 130


# -- afterwards --


def test_sessions_are_listed_newest_first_and_shown_in_full(scripted: Path) -> None:
    program = write(scripted, MAIN)
    run("chat", program, "--session", "old", said="hello\n")
    run("chat", program, "--session", "new", said="hello\nmy \x1b[2J card\n")

    listed = json.loads(run("sessions", "--json").stdout)
    shown = json.loads(run("sessions", "show", "new", "--json").stdout)
    text = run("sessions", "show", "last")

    assert [each["id"] for each in listed][:2] == ["new", "old"]
    assert [each["messages"] for each in listed][:2] == [4, 2]
    assert shown["messages"][0]["text"] == "hello"
    assert "customer: hello" in text.stdout
    assert "\x1b" not in text.stdout


def test_session_that_does_not_exist_is_one_line(scripted: Path) -> None:
    for command in (["sessions", "show", "ghost"], ["why", "ghost"]):
        result = run(*command)

        assert result.exit_code == 2
        assert result.stderr == "poise: no session 'ghost' in this scope\n"


def test_why_answers_for_the_last_turn_a_number_and_an_id(scripted: Path) -> None:
    run("chat", write(scripted, MAIN), "--session", "w1", said="my card is lost\nhello\n")

    last = json.loads(run("why", "w1", "--json").stdout)
    first = json.loads(run("why", "w1", "1", "--json").stdout)
    by_id = json.loads(run("why", "w1", first["turn"], "--json").stdout)
    text = run("why", "w1", "1").stdout

    assert last["number"] == 2
    assert first["said"] == ["my card is lost"]
    assert by_id == first
    assert "> my card is lost" in text
    assert "Lost card" in text


def test_why_of_a_turn_that_is_not_there_says_how_many_there_are(scripted: Path) -> None:
    run("chat", write(scripted, MAIN), "--session", "w2", said="hello\n")

    result = run("why", "w2", "7")

    assert result.exit_code == 2
    assert "no turn '7'; give a number from 1 to 1" in result.stderr


def test_why_of_a_rule_explains_it_by_part_of_its_title(scripted: Path) -> None:
    run("chat", write(scripted, MAIN), "--session", "w3", said="my card is lost\n")

    result = run("why", "w3", "1", "lost")
    without_turn = json.loads(run("why", "w3", "Lost card", "--json").stdout)

    assert "yes found that it applies" in result.stdout
    assert without_turn["fate"] == "matched"
    assert without_turn["figures"]["signal"] == "lost"


def test_why_of_a_rule_that_never_came_up_asks_for_the_program(scripted: Path) -> None:
    run("chat", write(scripted, MAIN), "--session", "w4", said="my card is lost\n")

    result = run("why", "w4", "Stolen card")

    assert result.exit_code == 2
    assert "'Stolen card' was no candidate on turn 1" in result.stderr
    assert "--app FILE|MODULE" in result.stderr


def test_why_with_the_program_says_how_near_a_rule_was(scripted: Path) -> None:
    program = write(scripted, MAIN)
    run("chat", program, "--session", "w5", said="my card is lost\n")

    found = json.loads(run("why", "w5", "1", "stolen", "--app", program, "--json").stdout)
    nobody = run("why", "w5", "1", "no such rule", "--app", program)

    assert found["fate"] == "not_discovered"
    assert found["figures"]["threshold"] == 0.5
    assert found["figures"]["signal"] == "stolen"
    assert found["notes"] == []
    assert nobody.exit_code == 2
    assert "no rule 'no such rule'" in nobody.stderr


def test_why_with_the_program_says_what_would_have_been_and_counts_every_rule(
    scripted: Path,
) -> None:
    program = write(scripted, MAIN)
    run("chat", program, "--session", "w7", said="my card is lost\n")

    absent = run("why", "w7", "1", "stolen", "--app", program)
    matched = json.loads(run("why", "w7", "1", "lost", "--app", program, "--json").stdout)
    whole = run("why", "w7", "1", "--app", program)
    counts = json.loads(run("why", "w7", "1", "--app", program, "--json").stdout)["counts"]

    assert "Had its threshold been 0.000 instead of 0.500, it would have been" in absent.stdout
    assert matched["counterfactuals"] == []
    assert sum(counts["fates"].values()) == counts["rules"]
    assert f"{counts['rules']} rules in the catalog: " in whole.stdout


def test_why_says_when_a_rule_is_for_other_customers(scripted: Path) -> None:
    program = write(scripted, MAIN)
    run("chat", program, "--session", "w6", said="all that is gold\n")

    found = json.loads(run("why", "w6", "gold only", "--app", program, "--json").stdout)

    assert found["fate"] == "not_for_this_agent_or_customer"


def test_why_says_when_the_catalog_has_changed_since(scripted: Path) -> None:
    program = write(scripted, MAIN)
    run("chat", program, "--session", "w7", said="hello\n")
    write(scripted, MAIN.replace("call the police", "call somebody"))

    result = run("why", "w7", "stolen", "--app", program)

    assert "Note: the catalog has changed since that turn" in result.stdout
