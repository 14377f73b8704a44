"""`recollect init`, `open`, `status`, `cycle`, and `host` for the programs that use the memory."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from recollect.cli.command import HELD, Group, Output, answers, common, emit, listing, table
from recollect.cli.printing import actor_of, find_project
from recollect.core.clock import iso
from recollect.core.context import Actor
from recollect.core.errors import Forbidden, RecollectError, Refused, Trouble
from recollect.core.records import replace
from recollect.core.settings import in_ci
from recollect.hosts.hook import PAUSED, SILENT
from recollect.hosts.host_files import HOOKS
from recollect.memory import Memory
from recollect.memory.open import held_by_others
from recollect.models.configured import KINDS
from recollect.store import project as projects
from recollect.store import register
from recollect.store.files import write_path
from recollect.tend.status import ModelsStatus
from recollect.tend.tokens import SCOPES, TOKEN_CHANNELS, TRUST_OF, Token, TokenChannel, TokenScope
from recollect.text.sentences import counted, how_long, named

if TYPE_CHECKING:
    from recollect.hosts.host_files import HostFiles


@click.command()
@click.option("--space", help="Name of the memory in the store; by default derived from the folder's name.")
@click.option("--timezone", help="IANA time zone that decides when a day begins; by default the machine's.")
@click.option("--join", is_flag=True, help="Use a space that another place began, without a question.")
@click.option("--nested", is_flag=True, help="Begin a separate memory inside another project.")
@click.option("--share", is_flag=True, help="Keep logs and findings in the repository, for a team without a server.")
@click.option("--merge-driver", is_flag=True, help="Have git merge the staging file entry by entry.")
@click.option(
    "--all-projects", is_flag=True, help="Set up agent programs once for all your projects; begins no memory."
)
@click.option(
    "--host", "hosts", multiple=True, type=click.Choice(list(HOOKS)), help="Set up this agent program; may be repeated."
)
@click.option("--dry-run", is_flag=True, help="Show what would change in agent programs' files.")
@common
def init(
    space: str | None,
    timezone: str | None,
    join: bool,
    nested: bool,
    merge_driver: bool,
    share: bool,
    all_projects: bool,
    hosts: tuple[str, ...],
    dry_run: bool,
    project: str | None,
    as_json: bool,
) -> None:
    """Begin a memory in this folder. A second run adds only what is missing."""
    from recollect.hosts.install import project_target, users_target

    if in_ci(os.environ) and not dry_run:
        raise Refused("CI is set, so nothing was written. To begin a memory in this job, run: CI= recollect init")
    root, state = Path(project or ".").resolve(), projects.state_folder(os.environ)
    if all_projects:
        target = users_target(state, os.environ)
        made, notes = tell_hosts(target, hosts, dry_run=dry_run)
        lines = made if dry_run else [f"made {line}" for line in made]
        notes += [] if dry_run else _from_now_on(target, hosts)
        emit({"made": made, "notes": notes}, "\n".join([*lines, *notes]), as_json=as_json)
        return
    above = projects.enclosing(root, os.environ)
    if above is not None and not nested:
        raise Refused(f"{root} is part of the project in {above} and uses its memory. For a separate one: --nested")
    if share and actor_of(os.environ).trust != "human":
        raise Forbidden("only a person may share the logs with everyone who has the repository")
    if share and not dry_run:
        projects.trust(root, os.environ)  # the clone may have the setting already; the user confirms it here
    # Also in a real run: a host's file that cannot be edited is refused before anything is made.
    found = projects.read(root, os.environ)
    settings = replace(found.settings, space=projects.chosen(root, os.environ, space) or "NEW-SPACE")
    diffs, notes = tell_hosts(project_target(replace(found, settings=settings), os.environ), hosts, dry_run=True)
    if dry_run:
        if not join and (held := held_by_others(root, os.environ, space)):
            notes.append(f"{held.told} recollect init would ask whether {root} should use it too")
        emit({"diffs": diffs, "notes": notes}, "".join(diffs) + "\n".join(notes), as_json=as_json)
        return
    actor = actor_of(os.environ)
    space, join = _agreed(root, space, join=join, actor=actor)
    made = Memory.begin(root, actor=actor, space=space, timezone=timezone, join=join)
    if share:
        made += projects.share(root, os.environ)
    if merge_driver:
        from recollect.store import git as driver

        made += driver.install_merge_driver(root, projects.load(root, os.environ).settings.staging.file)
    found = projects.load(root, os.environ)
    target = project_target(found, os.environ)
    told, notes = tell_hosts(target, hosts, dry_run=False, shared=found.settings.vault.share)
    made += told
    notes += _from_now_on(target, hosts) if made else []
    lines = [f"made {line}" for line in made] or ["nothing to do: this folder already has a memory"]
    emit({"made": made, "notes": notes}, "\n".join([*lines, *notes]), as_json=as_json)


def _agreed(root: Path, space: str | None, *, join: bool, actor: Actor) -> tuple[str | None, bool]:
    """The space to use here, and whether a person agreed to join one that other places use."""
    held = held_by_others(root, os.environ, space)
    kin = None
    if held is None and projects.chosen(root, os.environ, space) is None:  # a new name: is it a clone of a known one?
        kin = next(iter(register.kin(projects.home_folder(os.environ), root)), None)
        held = held_by_others(root, os.environ, kin.space) if kin else None
    if held is None:
        return space, False
    asked = sys.stdin is not None and sys.stdin.isatty() and not join
    if kin and not asked and (not join or actor.trust != "human"):
        print(
            f"note: {kin.shown} is a clone of the same repository and uses space {kin.space}. To use it here, delete "
            f"{projects.SETTINGS_FILE} and run: recollect init --join",
            file=sys.stderr,
        )
        return space, False
    if actor.trust != "human":
        raise Forbidden(f"{held.told} Only a person may add {root} to its places; run there: recollect init")
    if asked and not join:
        click.echo(held.told, err=True)
        join = click.confirm(f"Use it in {root} too?", err=True)
        if not join and kin:
            return space, False
    if not join:
        file = root / projects.SETTINGS_FILE
        other = f"change the space in {file.name}" if file.is_file() else "choose another --space"
        raise Refused(
            f"{held.told} {root} is not one of its places. To add it: recollect init --join. "
            f"For a separate memory, {other}"
        )
    return held.space, True


@click.command("open")
@click.option("--show", is_flag=True, help="Open the folder in the file manager.")
@common
def open_(show: bool, project: str | None, as_json: bool) -> None:
    """Print the folder that holds everything remembered here."""
    folder = find_project(project).data
    if show and click.launch(str(folder)):
        raise Trouble(f"no file manager could be started; the folder is {folder}")
    emit({"folder": str(folder)}, str(folder), as_json=as_json)


@click.command()
@answers
def status(memory: Memory) -> Output:
    """Show what is stored, what is waiting and what is wrong."""
    found = memory.status()
    now = memory.context.clock.now()
    aside = f"{counted(found.set_aside, 'write')} failed{_since(', the oldest', found.set_aside_oldest_at, now)}"
    lines = [
        f"space       {found.space} ({found.engine}: {found.store})",
        f"folder      {found.folder}",
        f"places      {', '.join(found.places)}",
        f"learnings   {', '.join(f'{count} {name}' for name, count in found.learnings.items())}",
        f"injections  {found.injections}, of them {found.verdicts['helpful']} helpful, "
        f"{found.verdicts['not_helpful']} not helpful",
        f"discoveries {found.discoveries}",
        f"decisions   {found.decisions['total']}, {found.decisions['unreviewed']} not reviewed",
        f"findings    {found.findings['findings']} in {counted(found.findings['files'], 'raw file')}, "
        f"{counted(found.findings['themes'], 'theme')}",
        *(f"skipped     {skipped.path}: {skipped.reason}" for skipped in found.skipped_findings),
        f"tree        fixed: {found.tree['fixed']:,}; "
        + "; ".join(f"{name}: {named(getattr(found, name))}" for name in ("tentative", "waiting", "incomplete")),
        *(f"file        {fault.path}: {fault.detail}" for fault in found.faults),
        *(
            [f"others      {counted(found.others_entries, 'external entry')}; trust them with: recollect log accept"]
            if found.others_entries
            else []
        ),
        *(f"ring        {name}: {said}" for name, said in found.rings.items()),
        f"inbox       {found.inbox} waiting" + (" (see: recollect inbox)" if found.inbox else ""),
        f"spool       {found.spooled} waiting" + _since(", the oldest for", found.spooled_oldest_at, now),
        *([f"set aside   {aside} ago; try again with: recollect doctor --fix"] if found.set_aside else []),
        f"models      {_models(found.models)}",
        f"embedder    {found.embedder}",
        f"vectors     {found.vectors['passages']} passages, {found.vectors['waiting']} waiting"
        + (" (recollect cycle makes them)" if found.vectors["waiting"] else ""),
        *([f"hosts       {SILENT}"] if (memory.project.data / PAUSED).exists() else []),
        f"you are     {found.actor.name} ({found.actor.trust})",
    ]
    return Output(found, "\n".join(lines))


def _since(words: str, at: int | None, now: int) -> str:
    return "" if at is None else f"{words} {how_long(now - at)}"


def _models(found: ModelsStatus) -> str:
    by_name: dict[str, list[str]] = {}
    for kind, name in found.configured.items():
        by_name.setdefault(name, []).append(kind)
    said = "; ".join(
        name if len(kinds) == len(KINDS) else f"{name} for {', '.join(kinds)}" for name, kinds in by_name.items()
    )
    parts = [said or ("offline" if os.environ.get("RECOLLECT_OFFLINE") else "none configured")]
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


@click.command()
@answers
def cycle(memory: Memory) -> Output:
    """Do all maintenance that is due; run it as often as you like."""
    report = memory.cycle()
    text = HELD if report.held else "\n".join(f"{name}: {did}" for name, did in report.steps)
    return Output(report, text)


def tell_hosts(
    target: HostFiles, hosts: Sequence[str], *, dry_run: bool, shared: bool = False
) -> tuple[list[str], list[str]]:
    """Set up hosts. Returns what was made, or the diffs of a dry run; and notes for the user."""
    from recollect.hosts import host_files, install  # `status` and `cycle` do not need them

    state = projects.state_folder(os.environ)
    everywhere = {} if target.user else install.told(install.users_target(state, os.environ))
    made: list[str] = []
    notes: list[str] = []
    try:
        if not dry_run and host_files.write_launcher(state, sys.executable):
            made.append("the launcher that hooks and server go through")
    except RecollectError as error:
        notes.append(f"hooks and the server will not run: {error}")
    for host in hosts or install.detected(target.root, os.environ):
        plugin = host == "claude-code" and install.has_plugin(target.root, os.environ)
        if plugin or host in everywhere:
            brought = "has the plugin, which brings its own hooks" if plugin else "is set up for all your projects"
            notes.append(f"{host} {brought}: no file of the project is needed")
            changes = install.uninstalling(target, [host])
            if not dry_run:
                install.undo(target, [host], changes)
                notes += [f"removed our hooks and server from {change.file}" for change in changes]
        else:
            notes += filter(None, [host_files.sandbox_note(target, host)])
            changes = install.installing(target, host)
            if not dry_run:
                install.apply(target, host, changes)
                made += [f"{change.file} ({host})" for change in changes]
        if dry_run:
            made += [change.diff() for change in changes]
    if dry_run:
        return made, notes
    if not target.user and (hidden := install.keep_out_of_git(target, shared=shared)):
        notes.append(f"git ignores {', '.join(hidden)} (listed in .git/info/exclude)")
    return made, notes


def _from_now_on(target: HostFiles, hosts: Sequence[str]) -> list[str]:
    from recollect.hosts.install import detected

    hosts = hosts or detected(target.root, os.environ)
    if not hosts:
        return ["no agent program was found here; set one up: recollect init --host claude-code (or codex, gemini)"]
    where = "in every project that has a memory" if target.user else "here"
    lines = [
        f"From now on each session of {' and '.join(hosts)} {where} starts with what is remembered, each prompt brings "
        "what is relevant, and each turn is logged. See what the last session was given: recollect last"
    ]
    if not target.user and (target.root / ".gitmodules").exists():
        lines.append(
            "An agent program that is started inside a submodule does not read these files. To remember its sessions "
            "too, run: recollect init --all-projects"
        )
    if target.user:
        lines.append(
            "In a repository without a memory, a session says so when it starts. To begin one silently instead, set "
            'begin = "always" under [hosts] in ~/.config/recollect/config.toml'
        )
    if "codex" in hosts:
        lines.append("Codex runs hooks only after you approve them: start codex, open /hooks and trust them")
    return lines


@click.group(cls=Group)
def host() -> None:
    """Agent programs and other callers: hooks, settings, tokens."""


@host.command()
@click.option("--all-projects", is_flag=True, help="Remove them from your own files, which apply to all projects.")
@click.option("--dry-run", is_flag=True, help="Show what would change, as a diff.")
@common
def uninstall(all_projects: bool, dry_run: bool, project: str | None, as_json: bool) -> None:
    """Remove our hooks and servers from agent programs' files. The memory stays."""
    from recollect.hosts import install

    users = install.users_target(projects.state_folder(os.environ), os.environ)
    target = users if all_projects else install.project_target(find_project(project), os.environ)
    known = install.told(target)
    changes = install.uninstalling(target, known)
    if dry_run:
        text = "".join(change.diff() for change in changes)
    else:
        install.undo(target, known, changes)
        install.keep_out_of_git(target, shared=True)
        done = [f"{'removed' if change.after is None else 'restored'} {change.file}" for change in changes]
        done = done or ["nothing to do: no agent program is set up for this memory"]
        if not all_projects and install.told(users):
            done.append("Those for all your projects stay; to remove them, add --all-projects")
        text = "\n".join([*done, "What is remembered stays, and so does recollect.toml"])
    emit({"restored": [change.file for change in changes]}, text, as_json=as_json)


@host.command()
@click.option("--off", is_flag=True, help="Let the hooks answer again.")
@common
def pause(off: bool, project: str | None, as_json: bool) -> None:
    """Silence the hooks of this project: agents are shown nothing, and nothing is captured."""
    mark = find_project(project).data / PAUSED
    if off:
        mark.unlink(missing_ok=True)
    else:
        write_path(mark, f"{SILENT}\n")
    emit({"paused": not off}, "Hooks answer again" if off else SILENT, as_json=as_json)


@host.command()
@common
def trust(project: str | None, as_json: bool) -> None:
    """Allow this repository's recollect.toml, as it is now, to choose commands, endpoints and outside folders."""
    if actor_of(os.environ).trust != "human":
        raise Forbidden("only a person may trust a repository's settings; read the file and run this yourself")
    file = projects.trust(projects.root_of(Path(project or "."), os.environ), os.environ)
    emit({"trusted": str(file)}, f"trusted {file} as it is now; after a change, trust it again", as_json=as_json)


@host.group(cls=Group)
def token() -> None:
    """Make, list and revoke tokens, which admit programs to the server."""


@token.command()
@click.argument("name")
@click.option(
    "--channel",
    type=click.Choice(TOKEN_CHANNELS),
    default="api",
    show_default=True,
    help="What the holder is: api for agents, person for a program only you use, import for text from outside.",
)
@click.option(
    "--scope",
    "scopes",
    type=click.Choice(SCOPES),
    multiple=True,
    help="What it may ask for; repeatable. Default: read and write, for import read and import, for person also admin.",
)
@click.option("--expires", metavar="SPAN", default="", help="How long it is valid, such as 30d; by default forever.")
@answers
def new(memory: Memory, name: str, channel: TokenChannel, scopes: tuple[TokenScope, ...], expires: str) -> Output:
    """Make a token. Its secret is shown now and never again."""
    made, secret = memory.tokens.new(name, channel=channel, scopes=scopes, expires=expires)
    text = f"made {made.name} ({_terms(made)}). Keep it secret; it is not shown again:\n{secret}"
    return Output({**vars(made), "secret": secret}, text)


@token.command("list")
@answers
def list_(memory: Memory) -> Output:
    """List tokens, newest first, without their secrets."""
    found = memory.tokens.list()
    rows = [
        (
            *(one.id, one.name, _terms(one)),
            *(iso(at) if at else "" for at in (one.created_at, one.last_used_at, one.expires_at, one.revoked_at)),
        )
        for one in found
    ]
    headings = ("id", "name", "may", "made", "last used", "expires", "revoked")
    return Output(listing("tokens", found), table(headings, rows, "no tokens; make one: recollect host token new NAME"))


@token.command()
@click.argument("name")
@answers
def revoke(memory: Memory, name: str) -> Output:
    """Revoke a token by its name or id. It cannot be undone; its program needs a new one."""
    gone = memory.tokens.revoke(name)
    return Output(gone, f"revoked {gone.name}")


def _terms(one: Token) -> str:
    return f"{', '.join(one.scopes)} as {one.channel} ({TRUST_OF[one.channel]})"
