"""The settings file: mistakes in it are named, and what a person wrote stays."""

import argparse
from pathlib import Path

import pytest

from agent.record.alarm_settings import AlarmSettings
from agent.record.home import Home
from mlrb_tui.commands.house import config
from mlrb_tui.control.settings import Settings, may_be, read_settings, remember, schema
from tasks.errors import UsageError


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path / "home").ensure()


def test_without_a_file_the_defaults_hold(home: Home) -> None:
    assert read_settings(home) == Settings()


def test_what_stands_in_the_file_holds(home: Home) -> None:
    home.settings.write_text('model = "openai:gpt-5.2"\nmouse = false\nglyphs = "ascii"\n')
    settings = read_settings(home)
    assert (settings.model, settings.mouse, settings.glyphs) == ("openai:gpt-5.2", False, "ascii")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('modell = "x"', "modell"),
        ("mouse = 'yes'", "mouse"),
        ("glyphs = 'emoji'", "glyphs"),
        ("theme = ''", "theme"),
        ("theme = 'banana'", "theme"),
        ("model = ", "not TOML"),
        ("[model]\nname = 'x'", "model"),
        ("on_limit = 'stop'", "on_limit"),
        ("[approve]\nlet_trough = ['ls']", "let_trough"),
        ("[approve]\nlet_through = ['ls; rm x']", "no single simple command"),
        ("[approve]\nalways_ask = ['']", "empty"),
        ("[alarms]\ngpu_idle_s = -1", "alarms.gpu_idle_s"),
        ("[alarms]\noff = ['gpu']", "alarms.off"),
        ("[notify]\nquiet = ['gpu']", "notify.quiet"),
    ],
)
def test_a_mistake_is_named_with_its_file_and_what_may_stand_there(home: Home, text: str, said: str) -> None:
    home.settings.write_text(text)
    with pytest.raises(UsageError) as caught:
        read_settings(home)
    assert said in caught.value.message
    assert "config.toml" in caught.value.message
    assert caught.value.hint
    assert caught.value.exit_code == 2


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ('modell = "x"', "did you mean model?"),
        ("theme = 'banana'", "mlrb-light, monokai, nord"),
        ("[notify]\non = ['end']", "notify.on: what is told of: alert, ended"),
        ("[approve]\nlet_trough = ['ls']", "did you mean approve.let_through?"),
        ("mouse = 'yes'", "true or false"),
        ("[alarms]\ngpu_idle = 60", "did you mean alarms.gpu_idle_s?"),
        ("[alarms]\nmemory_percent = 120", "alarms.memory_percent: of the memory limit, so much is used: a number at"),
        ("[alarms]\nsame_action = 1.5", "a whole number at least 1"),
        ("[alarms]\nremind = ['nan']", "diverged, gpu_idle"),
        ("gpu_usd_per_hour = 'much'", "a number at least 0"),
    ],
)
def test_a_mistake_says_what_may_stand_there(home: Home, text: str, hint: str) -> None:
    home.settings.write_text(text)
    with pytest.raises(UsageError) as caught:
        read_settings(home)
    assert hint in caught.value.hint


def test_a_file_that_is_not_text_is_a_mistake_not_a_crash(home: Home) -> None:
    home.settings.write_bytes(b"\xff\xfe\x00m")
    with pytest.raises(UsageError):
        read_settings(home)


def test_a_remembered_setting_leaves_comments_and_others_alone(home: Home) -> None:
    home.settings.write_text('# mine\nmodel = "scripted"  # for now\ntheme = "nord"\n')
    remember(home, "theme", "mlrb-light")
    assert home.settings.read_text() == '# mine\nmodel = "scripted"  # for now\ntheme = "mlrb-light"\n'
    assert read_settings(home).theme == "mlrb-light"


def test_a_first_remembered_setting_makes_a_file_for_its_owner_alone(home: Home) -> None:
    remember(home, "theme", "mlrb-dark")
    assert read_settings(home).theme == "mlrb-dark"
    assert home.settings.stat().st_mode & 0o077 == 0


def test_every_setting_says_what_it_is_for() -> None:
    properties = schema()["properties"]
    assert isinstance(properties, dict)
    assert set(properties) == set(Settings.__struct_fields__)
    assert all(each.get("description") for each in properties.values())


def test_config_shows_every_setting_of_every_table(
    home: Home, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MLRB_HOME", str(home.path))
    home.settings.write_text("[alarms]\ngpu_idle_s = 61.5\n")
    assert config(argparse.Namespace(what="", test=False, json=False)) == 0
    shown = {line.split()[0]: line for line in capsys.readouterr().out.splitlines()[2:]}
    assert set(shown) == set(may_be())
    assert {f"alarms.{name}" for name in AlarmSettings.__struct_fields__} <= set(shown)
    assert "61.5" in shown["alarms.gpu_idle_s"]
    assert "its GPUs do nothing for so long" in shown["alarms.gpu_idle_s"]
