"""Settings: every option with its default and one line of documentation.

Order of precedence: defaults < the user's file < `recollect.toml` < environment < flags. `store/project.py` reads the
files.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from recollect.core.errors import BadInput
from recollect.core.records import check_choice, record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

LONGEST_WAIT = 3600  # seconds; a longer wait for a lock is a mistake in the settings


@record
class SearchSettings:
    min_confidence: float = 0.5  # learnings below this confidence are not found
    limit: int = 10  # hits of one search


@record
class InjectSettings:
    max_learnings: int = 5  # most learnings that one task is given
    min_confidence: float = 0.6  # learnings below this confidence are not injected
    explore_from: float = 0.4  # one slot tries a learning between this and min_confidence
    relevance: float = 0.3  # probability of being wanted below which a log entry is not shown
    learning_relevance: float = 0.25  # the same for a learning, of which there are few and which others have checked
    budget: int = 1500  # tokens the injected block may take
    entries: int = 3  # earlier log entries one prompt is given at most; 0 for none


@record
class ConfidenceSettings:
    helpful: float = 0.05  # added by a helpful verdict
    not_helpful: float = 0.1  # taken by a not-helpful verdict
    floor: float = 0.1  # the lowest confidence; nothing is fully forgotten
    ceiling: float = 1.0  # the highest confidence
    sign: float = 0.0  # added by a sign that it was used, taken by one that it no longer holds; 0 moves nothing
    decay: float = 0.02  # taken per full period without use
    decay_days: int = 30  # days in such a period
    decay_clock: str = "calendar"  # `calendar`, or `active` to count only days with a commit


@record
class CaptureSettings:
    person: float = 0.7  # initial confidence of what a person wrote
    blocker: float = 0.7  # initial confidence of a learning from a blocker (and of a gotcha)
    constraint: float = 0.6  # initial confidence of a learning from a constraint
    pattern: float = 0.5  # initial confidence of a learning from a pattern (and of a best practice)
    decision: float = 0.5  # initial confidence of a learning from a decision (and of a solution)
    recurring_tasks: int = 3  # different tasks with the same insight that propose a best practice


@record
class DecisionSettings:
    summary_days: int = 7  # age in days at which a decision is shown as a summary
    digest_days: int = 30  # age in days at which it is one line of a digest
    wisdom_days: int = 90  # age in days at which it is counted in its category's wisdom
    unreviewed: str = "full"  # `full` keeps decisions without an outcome whole, `age` lets them shrink
    keep: tuple[str, ...] = ()  # what stays full at any age, such as `stakes:critical` or `tag:adr`
    agents: tuple[Any, ...] = ()  # the five settings above for one agent: `[decisions.agents.NAME]`
    categories: tuple[Any, ...] = ()  # … for one category, which wins: `[decisions.categories.NAME]`


@record
class FindingSettings:
    folder: str = ""  # where findings, themes and INDEX.md are; empty for memory/learnings
    first_files: int = 5  # raw files that start the first gathering into themes
    new_files: int = 3  # new or changed raw files that start the next one


@record
class VaultSettings:
    share: bool = False  # keep logs and findings in the repository, for a team without a server


@record
class StagingSettings:
    file: str = "memory/learnings.md"  # where learnings are jotted between hand-offs
    lines: int = 150  # a file this long is consolidated
    stale_days: int = 14  # … and one that was not consolidated for so many active days
    fresh_days: int = 7  # active days before an entry has proved itself
    batch: int = 3  # fewer ripe entries than this are not worth a run
    keep_newest: int = 3  # so many of the newest entries always stay staged


@record
class ConsolidateSettings:
    documents: str = "docs/**/*.md, agents/**/*.md"  # globs of the permanent documents, with commas between
    file_limit: int = 400  # a document this long is split before it takes more
    report: str = "tmp/consolidation-report.md"  # where the report of a consolidation is written
    index: str = "memory/index.md"  # where the index of the permanent documents is kept


@record
class EmbedSettings:
    use: str = "auto"  # `auto` when the extra is installed, `openai` for an endpoint, or `off` for words alone
    per_cycle: int = 1000  # passages that get their vectors in one cycle; `recollect model embed` does all that wait
    model: str = ""  # folder of another ONNX model with its tokenizer.json, empty for MiniLM; an endpoint's model
    base_url: str = ""  # the OpenAI-compatible endpoint that `openai` sends texts to
    key_env: str = ""  # the environment variable that holds its key; empty when it needs none
    key_command: tuple[str, ...] = ()  # … or the command that prints it


@record
class ModelSettings:
    provider: str = "none"  # `none`, `anthropic`, `openai` (any compatible endpoint), `command`, or `agent`
    model: str = ""  # the model's name, as its provider calls it
    base_url: str = ""  # where it is served; empty for the provider's own address
    command: tuple[str, ...] = ()  # program and arguments that answer on standard output, such as claude and -p
    key_env: str = ""  # the environment variable that holds the key; empty for the usual one, or none at a base_url
    key_command: tuple[str, ...] = ()  # … or program and arguments that print it
    seconds: float = 0.0  # time limit of one call; 0 for 30, and 120 for summaries
    price_in: float = 0.0  # what a million tokens sent cost; 0 when not known
    price_out: float = 0.0  # what a million tokens received cost
    calls: int = 30  # calls that a cycle or one command makes; what is left over waits for the next
    daily_tokens: int = 500_000  # tokens a space may use in a day; what would pass that is answered offline
    jobs: tuple[Any, ...] = ()  # the settings above but the last two, for one kind of job: `[models.jobs.KIND]`


@record
class TreeSettings:
    daily_lines: int = 200  # a log up to this many lines is copied into its daily node, above it is summarised
    weekly_lines: int = 300  # daily nodes up to this many lines together are joined into their weekly node
    monthly_lines: int = 500  # weekly nodes up to this many lines together are joined into their monthly node
    root_max_tokens: int = 3000  # tokens ROOT.md may take; the rest goes to ROOT.overflow.md
    reindex: str = ""  # a command run after the tree changed, such as `qmd update`


@record
class HostSettings:
    messages: bool = True  # a line for the user at a session's start, and when a prompt was given something
    begin: str = "tell"  # where there is no memory a session begins one (`always`), tells how, or is silent (`never`)
    ignore: tuple[str, ...] = ()  # folders in which hooks are silent, such as `vendor` or `~/scratch/*`


@record
class StoreSettings:
    url: str = ""  # where rows live: empty for the embedded store, or postgresql://…
    busy_seconds: float = 30.0  # how long a write waits for another process, or for a server to come back
    connect_seconds: float = 5.0  # how long a server that was not reached yet is tried
    connections: int = 4  # how many connections to a server one process opens at most
    read_from: str = "primary"  # who answers searches on a server: `primary`, or a `replica` that is up to date
    backups: int = 5  # how many automatic backups are kept


@record
class ServeSettings:
    port: int = 7447  # the port of `recollect serve`
    threads: int = 8  # requests that are worked on at once
    max_body: int = 4_000_000  # bytes one request may bring
    body_seconds: int = 20  # in which a request's head must have arrived, and then its body
    requests_per_minute: int = 6000  # what one token may ask; above it, it is told to wait
    failures_per_minute: int = 30  # wrong tokens and codes that one address may try
    session_hours: int = 12  # how long a browser stays signed in
    cycle_hours: int = 24  # hours between two cycles of a running server


@record
class RingSettings:
    me: bool = True  # sessions of every project read your own ring
    shared: tuple[str, ...] = ()  # spaces of yours that sessions of every project read, the nearest first


@record
class Settings:
    space: str = ""  # the project's name in the store; `init` writes it, so that two clones are one space
    timezone: str = "UTC"  # IANA time zone that decides which day it is; `init` pins it
    store: StoreSettings = StoreSettings()
    search: SearchSettings = SearchSettings()
    inject: InjectSettings = InjectSettings()
    confidence: ConfidenceSettings = ConfidenceSettings()
    capture: CaptureSettings = CaptureSettings()
    decisions: DecisionSettings = DecisionSettings()
    findings: FindingSettings = FindingSettings()
    vault: VaultSettings = VaultSettings()
    staging: StagingSettings = StagingSettings()
    consolidate: ConsolidateSettings = ConsolidateSettings()
    embed: EmbedSettings = EmbedSettings()
    models: ModelSettings = ModelSettings()
    tree: TreeSettings = TreeSettings()
    hosts: HostSettings = HostSettings()
    rings: RingSettings = RingSettings()
    serve: ServeSettings = ServeSettings()

    def __post_init__(self) -> None:
        if self.space:
            check_space(self.space)
        if not 0 <= self.store.busy_seconds <= LONGEST_WAIT:
            raise BadInput(f"store.busy_seconds must be between 0 and {LONGEST_WAIT}, not {self.store.busy_seconds}")
        if self.embed.use == "openai" and not (self.embed.base_url and self.embed.model):
            raise BadInput("embed.use = openai needs embed.base_url and embed.model")
        if not all(isinstance(name, str) and name not in ("me", "project") for name in self.rings.shared):
            raise BadInput("rings.shared is a list of spaces; `me` and `project` are read anyway")
        for name, value in _flat(self):
            if name in _CHOICES:
                check_choice(value, name, _CHOICES[name])
            if type(value) is int and value < (least := 0 if name in _MAY_BE_ZERO else 1):
                raise BadInput(f"{name} must be at least {least}")
            if isinstance(value, float) and name.startswith(_SHARES) and not 0 <= value <= 1:
                raise BadInput(f"{name} must be between 0 and 1, not {value}")


_CHOICES = {
    "store.read_from": ("primary", "replica"),
    "confidence.decay_clock": ("calendar", "active"),
    "hosts.begin": ("tell", "always", "never"),
    "embed.use": ("auto", "openai", "off"),
}
_SHARES = ("search.", "inject.", "confidence.", "capture.")  # sections whose decimals are confidences or shares
_MAY_BE_ZERO = frozenset(
    {
        *("inject.entries", "staging.keep_newest", "store.backups"),
        *(f"decisions.{level}_days" for level in ("summary", "digest", "wisdom")),
    }
)
_ORDERED = (("confidence", "floor", "ceiling"), ("inject", "explore_from", "min_confidence"))


# A repository's file may not choose these until the user ran `recollect host trust`.
GUARDED = frozenset(
    {
        *("store.url", "vault.share", "tree.reindex"),
        *(f"embed.{name}" for name in ("model", "base_url", "key_env", "key_command")),
        *(f"models.{name}" for name in vars(ModelSettings())),
    }
)


def check_order(settings: Settings) -> Settings:
    """Refuse a floor above its ceiling, once all sources are merged. The default of `inject.explore_from` may be above
    a lowered `min_confidence`: then nothing is tried."""
    for section, low, high in _ORDERED:
        values = getattr(settings, section)
        least, most = getattr(values, low), getattr(values, high)
        if least > most and (low != "explore_from" or least != InjectSettings.explore_from):
            raise BadInput(f"{section}.{low} ({least}) is above {section}.{high} ({most}); change one of them")
    return settings


def check_space(name: str) -> None:
    """The name of a space also names a folder of the spool, which a repository must not lead elsewhere."""
    allowed = name.isascii() and all(c.isalnum() or c in "._-" for c in name)
    if not allowed or not name[:1].isalnum() or len(name) > 80:
        raise BadInput(
            f"space {name[:100]!r} must be at most 80 letters, digits, '.', '_', '-', and begin with a letter or digit"
        )


def described() -> list[tuple[str, Any]]:
    """Every setting as (dotted name, default), in order."""
    return _flat(Settings())


def _flat(settings: Settings) -> list[tuple[str, Any]]:
    rows: list[tuple[str, Any]] = []
    for name, value in vars(settings).items():
        section = _section(value)
        rows += [(f"{name}.{key}", part) for key, part in section.items()] if section else [(name, value)]
    return rows


def in_ci(environ: Mapping[str, str]) -> bool:
    """Whether this runs in CI, where nothing is captured; `CI=false` and the like do not count."""
    return environ.get("CI", "").strip().lower() not in ("", "0", "false", "no", "off")


_HOSTS = {
    "CLAUDECODE": "claude-code",
    "CLAUDE_CODE_ENTRYPOINT": "claude-code",
    "CODEX_SANDBOX": "codex",
    "CODEX_THREAD_ID": "codex",
    "GEMINI_CLI": "gemini",
    "OPENCLAW_SESSION": "openclaw",
    "CURSOR_AGENT": "cursor",
    "AI_AGENT": "agent",
}


def running_hosts(environ: Mapping[str, str]) -> list[str]:
    """The hosts whose environment this process has; empty when a person types."""
    return list(dict.fromkeys(host for variable, host in _HOSTS.items() if environ.get(variable)))


def merged(
    settings: Settings, given: Mapping[str, Any], source: str, *, trusted: Callable[[], bool] = lambda: True
) -> Settings:
    """Settings overridden by a file or the environment. Unknown names are refused: they are typos."""
    if not given:
        return settings
    changes: dict[str, Any] = {}
    for name, value in given.items():
        if name not in vars(settings):
            raise BadInput(f"{source}: unknown setting {name!r}; see docs/settings.md")
        current = getattr(settings, name)
        section = _section(current)
        if not section:
            changes[name] = _checked(current, value, name, source, trusted)
            continue
        if not isinstance(value, Mapping):
            raise BadInput(f"{source}: {name} is a section; write [{name}] and its options under it")
        for key, part in value.items():
            if key not in section:
                raise BadInput(f"{source}: unknown setting {name}.{key!r}; see docs/settings.md")
            section[key] = _checked(section[key], part, f"{name}.{key}", source, trusted)
        changes[name] = type(current)(**section)
    try:
        return Settings(**{**vars(settings), **changes})
    except BadInput as refused:
        raise BadInput(f"{source}: {refused}") from None


def from_environment(environ: Mapping[str, str]) -> dict[str, Any]:
    """`RECOLLECT_INJECT_BUDGET=900` is inject.budget; `RECOLLECT_STORE` is short for the store's url."""
    given: dict[str, Any] = {}
    if not any(name.startswith("RECOLLECT_") for name in environ.keys() - {"RECOLLECT_HOME"}):
        return given
    if environ.get("RECOLLECT_STORE"):
        given["store"] = {"url": environ["RECOLLECT_STORE"]}
    for name, default in described():
        text = environ.get(_variable(name))
        if not text:
            continue
        value: Any = text
        if isinstance(default, tuple):
            value = [part.strip() for part in text.split(",")]
        if isinstance(default, bool):
            value = {"true": True, "false": False}.get(text.lower(), text)
        elif isinstance(default, int | float):
            try:
                value = type(default)(text)
            except ValueError:
                raise BadInput(f"environment: {name} must be a number, not {text!r}") from None
        section, _, key = name.rpartition(".")
        if section:
            given.setdefault(section, {})[key] = value
        else:
            given[key] = value
    return given


def misspelt(environ: Mapping[str, str]) -> list[str]:
    """Variables that look like a setting but are none; commands ignore them, `doctor` names them."""
    known = {_variable(name) for name, _ in described()}
    sections = tuple(f"{_variable(name.partition('.')[0])}_" for name, _ in described() if "." in name)
    return sorted(name for name in environ if name.startswith(sections) and name not in known)


def _variable(name: str) -> str:
    return "RECOLLECT_" + name.replace(".", "_").upper()


def _section(value: Any) -> dict[str, Any]:
    return dict(getattr(value, "__dict__", {}))


def _checked(current: Any, value: Any, name: str, source: str, trusted: Callable[[], bool]) -> Any:
    if name in GUARDED and value != current and not trusted():
        raise BadInput(
            f"{source} sets {name}, which a repository may not choose by itself. "
            "Look at the file, then run: recollect host trust"
        )
    if isinstance(current, float) and isinstance(value, int) and not isinstance(value, bool):
        value = float(value)
    if isinstance(current, tuple):
        value = _frozen(value)
    if type(value) is not type(current):
        raise BadInput(f"{source}: {name} must be {_SPOKEN[type(current)]}, not {value!r}")
    return value


_SPOKEN = {
    str: "text",
    bool: "true or false",
    int: "a whole number",
    float: "a number",
    tuple: 'a list such as ["one", "two"], or a table',
}


def _frozen(value: Any) -> Any:
    """A list as a tuple, a table as a tuple of its pairs: settings do not change after they were read."""
    if isinstance(value, Mapping):
        return tuple((name, _frozen(part)) for name, part in value.items())
    return tuple(_frozen(part) for part in value) if isinstance(value, list) else value
