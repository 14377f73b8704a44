"""The project as a whole: `recollect init`, `status`, `cycle`, and `host` for the programs that use its memory."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path

import click

from recollect.cli.command import HELD, Group, Output, answers, common, emit, listing, table
from recollect.cli.printing import actor_of, find_project
from recollect.core.clock import iso
from recollect.core.errors import Forbidden, Refused
from recollect.core.token import TOKEN_CHANNELS, TRUST_OF, Token, TokenChannel
from recollect.hosts import install
from recollect.hosts.hook import HOSTS, PAUSED, SILENT
from recollect.memory import Memory
from recollect.models.configured import KINDS
from recollect.store import init as store_init
from recollect.store import project as projects
from recollect.store.files import write_path
from recollect.store.project import Project
from recollect.tend.status import ModelsStatus, Status
from recollect.text.sentences import counted, how_long, named


@click.command()
@click.option("--space", help="Name of the project in the store (made from the folder's name when not given).")
@click.option("--timezone", help="IANA time zone that decides which day it is (the machine's when not given).")
@click.option("--nested", is_flag=True, help="Begin a memory of its own inside another project.")
@click.option("--merge-driver", is_flag=True, help="Have git merge the staging file entry by entry.")
@click.option("--host", "hosts", multiple=True, type=click.Choice(list(HOSTS)), help="Have this agent program use it.")
@click.option("--dry-run", is_flag=True, help="Show what would change in hosts' files, as a diff; change nothing.")
@common
def init(
    space: str | None,
    timezone: str | None,
    nested: bool,
    merge_driver: bool,
    hosts: tuple[str, ...],
    dry_run: bool,
    project: str | None,
    as_json: bool,
) -> None:
    """Begin a memory in this folder. Run again, it only fills in what is missing."""
    from recollect.hosts.install import remember_interpreter

    root = Path(project or ".").resolve()
    above = store_init.enclosing(root)
    if above is not None and not nested:
        raise Refused(f"{root} belongs to the project in {above}, whose memory serves it; for one of its own: --nested")
    # For a real run, too: what a host's file refuses is known before anything is made.
    planned = projects.planned(root, os.environ)
    diffs, notes = tell_hosts(planned, hosts, dry_run=True)
    if dry_run:
        emit({"diffs": diffs}, "".join(diffs) + "\n".join(notes), as_json=as_json)
        return
    if store_init.is_foreign(planned) and actor_of(os.environ).trust != "human":
        raise Forbidden(f"{planned.data} came with the folder; only a person may take what it says for their memory")
    made = Memory.begin(root, actor=actor_of(os.environ), space=space, timezone=timezone)
    if merge_driver:
        from recollect.store import git as driver

        made += driver.install_merge_driver(root, projects.load(root, os.environ).settings.staging.file)
    found = projects.load(root, os.environ)
    remember_interpreter(found, sys.executable)
    told, notes = tell_hosts(found, hosts, dry_run=False)
    made += told
    if not projects.is_begun(found):
        notes.append(f"hooks stay silent here: {found.state} cannot be written")
    lines = [f"made {line}" for line in made] or ["nothing to do: this folder already has a memory"]
    emit({"made": made, "notes": notes}, "\n".join([*lines, *notes]), as_json=as_json)


@click.command()
@answers
def status(memory: Memory) -> Output:
    """Say what is remembered, what waits, and what works on words alone."""
    found = memory.status()
    now = memory.context.clock.now()
    lines = [
        f"space       {found.space} ({found.engine}: {found.store})",
        f"learnings   {', '.join(f'{count} {name}' for name, count in found.learnings.items())}",
        f"injections  {found.injections}, of them {found.verdicts['helpful']} helpful, "
        f"{found.verdicts['not_helpful']} not helpful",
        f"discoveries {found.discoveries}",
        f"decisions   {found.decisions['total']}, {found.decisions['unreviewed']} not reviewed",
        f"findings    {found.findings['findings']} in {counted(found.findings['files'], 'raw file')}, "
        f"{counted(found.findings['themes'], 'theme')}",
        *(f"skipped     {skipped.path}: {skipped.reason}" for skipped in found.skipped_findings),
        f"tree        fixed: {found.tree['fixed']:,}; "
        + "; ".join(f"{name}: {named(nodes)}" for name, nodes in _unsettled(found).items()),
        *([f"unreadable  {named(found.unreadable)}"] if found.unreadable else []),
        f"inbox       {found.inbox} waiting" + (" (see: recollect inbox)" if found.inbox else ""),
        f"spool       {found.spooled} waiting" + _since(", the oldest for", found.spooled_oldest_at, now),
        *([f"set aside   {_set_aside(found, now)}"] if found.set_aside else []),
        f"models      {_models(found.models)}",
        f"embedder    {found.embedder}",
        f"vectors     {found.vectors['passages']} passages, {found.vectors['waiting']} waiting",
        *([f"hosts       {SILENT}"] if (memory.project.data / PAUSED).exists() else []),
        f"you are     {found.actor.name} ({found.actor.trust})",
    ]
    return Output(found, "\n".join(lines))


def _since(words: str, at: int | None, now: int) -> str:
    return "" if at is None else f"{words} {how_long(now - at)}"


def _set_aside(found: Status, now: int) -> str:
    age = _since(", the oldest", found.set_aside_oldest_at, now)
    return f"{counted(found.set_aside, 'write')} failed{age} ago; try again with: recollect doctor --fix"


def _models(found: ModelsStatus) -> str:
    """Who answers, and what that used today and since the beginning."""
    by_name: dict[str, list[str]] = {}
    for kind, name in found.configured.items():
        by_name.setdefault(name, []).append(kind)
    said = "; ".join(
        name if len(kinds) == len(KINDS) else f"{name} for {', '.join(kinds)}" for name, kinds in by_name.items()
    )
    parts = [said or "offline"]
    if found.all_time.calls or found.all_time.fallbacks:
        today, ever = found.today, found.all_time
        parts.append(
            f"today {counted(today.calls, 'call')}, {today.tokens:,} of {found.daily_tokens:,} tokens, "
            f"{counted(today.fallbacks, 'fall-back')}; ever {counted(ever.calls, 'call')}, {ever.tokens:,} tokens, "
            f"{counted(ever.fallbacks, 'fall-back')}" + (f", cost {ever.cost:.4f}" if ever.cost else "")
        )
    if found.pending:
        parts.append(f"{counted(found.pending, 'question')} for an agent (see: recollect model pending)")
    return "; ".join(parts)


def _unsettled(found: Status) -> dict[str, tuple[str, ...]]:
    return {"tentative": found.tentative, "waiting": found.waiting, "incomplete": found.incomplete}


@click.command()
@click.option("--dry-run", is_flag=True, help="Say what would be done, change nothing.")
@answers
def cycle(memory: Memory, dry_run: bool) -> Output:
    """Do everything that is due. Nothing due is fine; run it as often as you like."""
    report = memory.cycle(dry_run=dry_run)
    text = HELD if report.held else "\n".join(f"{name}: {did}" for name, did in report.steps)
    return Output(report, text)


def tell_hosts(project: Project, hosts: Sequence[str], *, dry_run: bool) -> tuple[list[str], list[str]]:
    """Have hosts call us. Gives what was made or, for a dry run, the diffs; and what there is to say."""
    made, notes = [], []
    for host in hosts or install.detected(project.root, os.environ):
        if host == "claude-code" and install.has_plugin(project.root, os.environ):
            notes.append("claude-code has the plugin, which brings its own hooks: no file of the project is needed")
            doubled = install.uninstalling(project, [host], os.environ)
            if dry_run:
                made += [change.diff() for change in doubled]
                continue
            install.undo(project, [host], doubled)
            notes += [f"took our hooks and server out of {change.file}" for change in doubled]
            continue
        changes = install.installing(project, host, os.environ, sys.executable)
        if dry_run:
            made += [change.diff() for change in changes]
            continue
        install.apply(project, host, changes)
        made += [f"{change.file} ({host})" for change in changes]
    return made, notes


@click.group(cls=Group)
def host() -> None:
    """Agent programs and other callers: their hooks, their settings, their tokens."""


@host.command()
@click.option("--dry-run", is_flag=True, help="Show what would change, as a diff.")
@common
def uninstall(dry_run: bool, project: str | None, as_json: bool) -> None:
    """Take our hooks and servers out of every host's files. What is remembered stays."""
    found = find_project(project)
    changes = install.uninstalling(found, HOSTS, os.environ)
    if dry_run:
        text = "".join(change.diff() for change in changes)
    else:
        install.undo(found, HOSTS, changes)
        lines = [f"{'removed' if change.after is None else 'restored'} {change.file}" for change in changes]
        text = "\n".join([*(lines or ["nothing to do: no host was told about this memory"]), _STAYS])
    emit({"restored": [change.file for change in changes]}, text, as_json=as_json)


_STAYS = "what is remembered stays: recollect.toml, memory/ and .recollect/"


@host.command()
@click.option("--off", is_flag=True, help="Go on.")
@common
def pause(off: bool, project: str | None, as_json: bool) -> None:
    """Keep the hooks of this project silent: nothing is put in front of an agent, nothing is kept."""
    found = find_project(project)
    mark = found.data / PAUSED
    if off:
        mark.unlink(missing_ok=True)
    else:
        write_path(mark, "hooks are silent while this file is here; recollect host pause --off removes it\n")
    text = "hooks answer again" if off else "hooks are silent; go on with: recollect host pause --off"
    emit({"paused": not off}, text, as_json=as_json)


@host.command()
@common
def trust(project: str | None, as_json: bool) -> None:
    """Allow this repository's recollect.toml, as it is now, to choose commands, endpoints and outside places."""
    if actor_of(os.environ).trust != "human":
        raise Forbidden("only a person may trust a repository's settings; read the file and run this yourself")
    file = projects.trust(projects.root_of(Path(project or ".")), os.environ)
    emit({"trusted": str(file)}, f"trusted {file} as it is now; a change to it asks again", as_json=as_json)


@host.group(cls=Group)
def token() -> None:
    """Make, list and revoke the tokens that programs show the server."""


@token.command()
@click.argument("name")
@click.option(
    "--channel",
    type=click.Choice(TOKEN_CHANNELS),
    default="api",
    show_default=True,
    help="What the holder is: api for agents, person for a program only you use, import for text from outside.",
)
@click.option("--read-only", is_flag=True, help="Refuse everything that would change the memory.")
@answers
def new(memory: Memory, name: str, channel: TokenChannel, read_only: bool) -> Output:
    """Make a token. Its secret is shown now and never again."""
    made, secret = memory.tokens.new(name, channel=channel, read_only=read_only)
    text = f"made {made.name} ({_terms(made)}). Keep it secret; it is not shown again:\n{secret}"
    return Output({**vars(made), "secret": secret}, text)


@token.command("list")
@answers
def list_(memory: Memory) -> Output:
    """List tokens, newest first. Secrets are not kept."""
    found = memory.tokens.list()
    rows = [
        (one.id, one.name, _terms(one), iso(one.created_at), iso(one.revoked_at) if one.revoked_at else "")
        for one in found
    ]
    text = (
        table(("id", "name", "may", "made", "revoked"), rows)
        if rows
        else "no tokens; make one: recollect host token new"
    )
    return Output(listing("tokens", found), text)


@token.command()
@click.argument("name")
@answers
def revoke(memory: Memory, name: str) -> Output:
    """Refuse a token from now on, named by its name or id."""
    gone = memory.tokens.revoke(name)
    return Output(gone, f"revoked {gone.name}")


def _terms(one: Token) -> str:
    return f"{'read' if one.read_only else 'read and write'} as {one.channel} ({TRUST_OF[one.channel]})"
