"""The commands with their arguments and options, from the command line itself."""

from __future__ import annotations

import inspect
from typing import Any

from typer.main import get_command

from simengine2d import cli
from simengine2d.cli.commands.app import EXIT_CODES

from .markdown import escaped, table

HEAD = """\
# Command line

`simengine2d COMMAND --help` says what is written here. Every command answers in JSON with `--json`, and prints only
errors with `--quiet`. `simengine2d --install-completion` lets the shell complete commands, mechanisms, files and
methods.
"""


def page_text() -> str:
    group = get_command(cli.app)
    commands = {name: group.commands[name] for name in group.list_commands(None)}
    rows = [[f"[`{name}`](#command-{name})", escaped(_short(command))] for name, command in commands.items()]
    parts = [HEAD, table(["command", ""], rows), "## Exit codes", escaped(EXIT_CODES)]
    return "\n\n".join([*parts, *(_command(name, command) for name, command in commands.items())]) + "\n"


def _short(command: Any) -> str:
    return inspect.cleandoc(command.help or "").split("\n\n")[0]


def _command(name: str, command: Any) -> str:
    arguments = [
        _metavar(p) if p.required else f"[{_metavar(p)}]"
        for p in command.params
        if p.param_type_name == "argument"
    ]
    usage = " ".join([f"simengine2d {name}", "[OPTIONS]", *arguments])
    rows = [_row(parameter) for parameter in command.params if parameter.name != "help"]
    options = table(["argument or option", ""], rows) if rows else ""
    words = escaped(inspect.cleandoc(command.help or ""))
    return f"(command-{name})=\n## {name}\n\n```text\n{usage}\n```\n\n{words}\n\n{options}"


def _row(parameter: Any) -> list[str]:
    words = getattr(parameter, "help", None) or ""
    if parameter.param_type_name == "option":
        spelled = ", ".join(f"`{opt}`" for opt in (*parameter.opts, *parameter.secondary_opts))
        metavar = "" if parameter.is_flag else f" `{_metavar(parameter)}`"
        default = parameter.default
        shown = not parameter.is_flag and isinstance(default, str | int | float) and default != ""
        return [spelled + metavar, escaped(words) + (f" Default: `{default}`." if shown else "")]
    return [f"`{_metavar(parameter)}`", escaped(words)]


def _metavar(parameter: Any) -> str:
    if parameter.metavar:
        return parameter.metavar
    choices = getattr(getattr(parameter, "type", None), "choices", None)
    if choices:
        return " or ".join(str(getattr(choice, "value", choice)) for choice in choices)
    return (
        (parameter.name or "").upper() if parameter.param_type_name == "argument" else _type_name(parameter)
    )


def _type_name(parameter: Any) -> str:
    return str(getattr(getattr(parameter, "type", None), "name", "value")).upper()
