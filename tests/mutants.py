"""Known bugs, put into a copy of the source one by one. Each must make the tests named beside it fail.

    python -m tests.mutants [WORD…]     all of them, or those whose name holds a word

A mutant names the room (or module) and the function, class or constant that it breaks, so that it follows code which
moves within the room. A mutant that survives means that a test is missing; one that no longer applies means that this
list is out of date. Both end with exit code 1, and so does a test that fails without any mutant.
"""

from __future__ import annotations

import ast
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "recollect"


class DoesNotApply(Exception):
    """The code that a mutant breaks is not there, or is there more than once."""


@dataclass(frozen=True, kw_only=True)
class Mutant:
    """A bug as a replacement within the source of one symbol, and the tests that are there for it.

    ``where`` is "room:name" or "room.module:name" with the qualified name of a function, a class or a constant.
    """

    name: str
    where: str
    old: str
    new: str
    tests: tuple[str, ...]

    def applied(self) -> tuple[Path, str]:
        """The file that holds the symbol, relative to the package, and its source with the bug in it."""
        file, first, last = symbol(self.where)
        lines = (SOURCE / file).read_text("utf-8").splitlines(keepends=True)
        source = "".join(lines[first - 1 : last])
        if source.count(self.old) != 1:
            raise DoesNotApply(f"{self.where} holds {source.count(self.old)} times: {self.old}")
        return file, "".join([*lines[: first - 1], source.replace(self.old, self.new), *lines[last:]])


def symbol(where: str) -> tuple[Path, int, int]:
    """The file and the first and last line of the one symbol that ``where`` names."""
    place, _, name = where.partition(":")
    found = [at for at in _symbols().get(name, ()) if f"{_dotted(at[0])}.".startswith(f"{place}.")]
    if len(found) != 1:
        raise DoesNotApply(f"{where} is found {len(found)} times: {[str(at[0]) for at in found]}")
    return found[0]


def _dotted(file: Path) -> str:
    return ".".join(file.with_suffix("").parts)


@cache
def _symbols() -> dict[str, list[tuple[Path, int, int]]]:
    """Every symbol of the source by its qualified name."""
    found: dict[str, list[tuple[Path, int, int]]] = {}
    for path in sorted(SOURCE.rglob("*.py")):
        for name, first, last in _defined(ast.parse(path.read_text("utf-8")).body):
            found.setdefault(name, []).append((path.relative_to(SOURCE), first, last))
    return found


def _defined(body: list[ast.stmt], prefix: str = "") -> Iterator[tuple[str, int, int]]:
    for node in body:
        last = node.end_lineno or node.lineno
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            first = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
            yield prefix + node.name, first, last
            if isinstance(node, ast.ClassDef):
                yield from _defined(node.body, f"{prefix}{node.name}.")
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            yield from ((prefix + target.id, node.lineno, last) for target in targets if isinstance(target, ast.Name))


CRASH = "tests/faults/test_crash_points.py"
PROCESSES = "tests/faults/test_processes.py"
AGREEMENT = "tests/faults/test_agreement.py"
DAMAGE = "tests/faults/test_damage.py"
MODELS = "tests/contract/test_models.py"
ACCESS = "tests/surfaces/test_access.py"
REST = "tests/surfaces/test_rest.py"
SESSIONS = "tests/contract/test_sessions.py"
SETUP = "tests/surfaces/test_setup.py"
SYNCED = f"{CRASH}::test_a_file_is_synced_then_named_then_its_folder_is_synced"

MUTANTS = (
    Mutant(
        name="no fsync",
        where="store:write_atomically",
        old="            _write_all(handle, data)\n            os.fsync(handle)\n        finally:",
        new="            _write_all(handle, data)\n        finally:",
        tests=(SYNCED,),
    ),
    Mutant(
        name="fsync after rename",
        where="store:write_atomically",
        old="""            _write_all(handle, data)
            os.fsync(handle)
        finally:
            os.close(handle)
        os.rename(temp, name, src_dir_fd=folder, dst_dir_fd=folder)
""",
        new="""            _write_all(handle, data)
            os.rename(temp, name, src_dir_fd=folder, dst_dir_fd=folder)
            os.fsync(handle)
        finally:
            os.close(handle)
""",
        tests=(SYNCED,),
    ),
    Mutant(
        name="no folder fsync",
        where="store:write_atomically",
        old="    try:\n        os.fsync(folder)\n    except OSError as error:",
        new="    try:\n        pass\n    except OSError as error:",
        tests=(SYNCED,),
    ),
    Mutant(
        name="an append that cannot be taken back is denied",
        where="store:append_durably",
        old="                raise _unconfirmed(name, error) from None\n            raise\n",
        new="                pass\n            raise\n",
        tests=("tests/faults/test_said.py::test_an_append_that_cannot_be_taken_back_is_not_denied",),
    ),
    Mutant(
        name="an entry whose rows failed is denied",
        where="capture.log:add_storable",
        old="    except RecollectError as trouble:  # the entry is in the log for good\n",
        new="    except AssertionError as trouble:\n",
        tests=(
            "tests/faults/test_said.py::test_a_text_whose_rows_failed_is_saved_with_a_warning_and_found_after_a_cycle",
        ),
    ),
    Mutant(
        name="no fsync of an append",
        where="store:append_durably",
        old="            state = _set_apart(handle)\n            os.fsync(handle)\n",
        new="            state = _set_apart(handle)\n",
        tests=(f"{CRASH}::test_an_appended_entry_is_synced_and_so_is_the_folder_of_a_new_file",),
    ),
    Mutant(
        name="fixed temp name",
        where="store:_temp_name",
        old='return f".{name[:80]}.{os.getpid()}.{os.urandom(6).hex()}{TEMP_SUFFIX}"',
        new='return f".{name[:80]}{TEMP_SUFFIX}"',
        tests=(f"{CRASH}::test_killed_at_any_call_a_vault_file_is_the_old_or_the_new_one",),
    ),
    Mutant(
        name="vectors of a passage that changed meanwhile",
        where="store.vectors:put",
        old="if current.get(one.doc) == one.hash]",
        new="if one.doc in current]",
        tests=("tests/contract/test_vectors.py::test_vectors_of_a_passage_that_changed_meanwhile_are_not_kept",),
    ),
    Mutant(
        name="signs that outlive a purge",
        where="store:remake_sqlite_indexes",
        old="            SqliteVectors(connection, str(space), int(str(number))).pack_anew()\n",
        new="            pass\n",
        tests=(
            "tests/faults/test_embedding_faults.py::TestEmbedded::test_a_purged_text_leaves_no_vector_and_no_signs",
        ),
    ),
    Mutant(
        name="no lock",
        where="store:locked",
        old="        fcntl.flock(handle, fcntl.LOCK_EX)\n",
        new="",
        tests=(f"{PROCESSES}::test_six_processes_that_write_one_file_lose_no_line",),
    ),
    Mutant(
        name="synchronous=NORMAL",
        where="store:SqliteDb._opened",
        old="PRAGMA synchronous=FULL",
        new="PRAGMA synchronous=NORMAL",
        tests=("tests/faults/test_power.py::test_no_power_cut_loses_what_was_acknowledged",),
    ),
    Mutant(
        name="acknowledge before commit",
        where="store:SqliteDb._transaction",
        old="""        if connection.in_transaction:
            raise RuntimeError("transactions do not nest; pass the open one down")
        with sqlite_errors(self.path):
            connection.execute(begin)
            try:
                yield connection
                connection.execute("COMMIT")
""",
        new="""        import threading
        import time

        while connection.in_transaction:
            time.sleep(0.001)
        with sqlite_errors(self.path):
            connection.execute(begin)
            try:
                yield connection
                if begin == "BEGIN":
                    connection.execute("COMMIT")
                else:
                    threading.Timer(0.005, connection.execute, ("COMMIT",)).start()
""",
        tests=(f"{PROCESSES}::test_three_hundred_kills_lose_nothing_that_was_acknowledged",),
    ),
    Mutant(
        name="INSERT OR REPLACE on the base of the word index",
        where="store.passages:put",
        old="        _forget(tx, old[0], old[2])\n    _add(",
        new="        tx.run('DELETE FROM passages WHERE space = :space AND doc = :doc', doc=old[0])\n    _add(",
        tests=(f"{AGREEMENT}::test_after_ordinary_work_everything_agrees",),
    ),
    Mutant(
        name="signal counted twice",
        where="store:set_verdict",
        old='{"feedback": verdict,',
        new='{"feedback": None,',
        tests=(f"{AGREEMENT}::test_a_verdict_counts_once_however_often_the_output_comes",),
    ),
    Mutant(
        name="injection counted twice",
        where="store:record_injection",
        old="    if not fresh:\n        return False\n",
        new="",
        tests=(f"{AGREEMENT}::test_an_injection_counts_once_however_often_it_is_asked_for",),
    ),
    Mutant(
        name="decay per start-up",
        where="feedback:_decay_one",
        old="stored=after, until=until)",
        new="stored=after, until=learning.created_at)",
        tests=(f"{AGREEMENT}::test_decay_runs_as_often_as_it_likes",),
    ),
    Mutant(
        name="a pass that leaves no mark of having begun",
        where="distil.tree:Pass._level",
        old='                journal.put_state(tx, _BEGUN, "yes")\n',
        new='                journal.put_state(tx, _BEGUN, "")\n',
        tests=(
            "tests/faults/test_journal_under_fire.py::test_a_pass_cut_off_before_any_level_is_finished_by_the_next",
        ),
    ),
    Mutant(
        name="backup by file copy",
        where="store:backup_to",
        old="        _copy(db.connection(), copy, progress)\n",
        new="        copy.close()\n"
        "        unfinished.write_bytes(db.path.read_bytes())\n"
        "        copy = apsw.Connection(str(unfinished))\n",
        tests=(f"{DAMAGE}::test_a_backup_taken_under_load_holds_everything_that_was_acknowledged_before",),
    ),
    Mutant(
        name="backup that starts again with every write",
        where="store.copies:_copy",
        old='    source.execute("BEGIN")\n    try:\n',
        new="    try:\n",
        tests=(f"{DAMAGE}::test_a_backup_restores_everything",),
    ),
    Mutant(
        name="backup without a seal",
        where="store:check_file",
        old="if seal not in (None, seal_of(connection)):",
        new="if False:",
        tests=(f"{DAMAGE}::test_a_changed_letter_in_a_backup_is_found",),
    ),
    Mutant(
        name="a seal over rows alone",
        where="store:seal_of",
        old="digest.update(repr(row).encode())",
        new="pass",
        tests=(f"{DAMAGE}::test_a_changed_letter_in_a_backup_is_found",),
    ),
    Mutant(
        name="only the first outcome of a learning left out",
        where="inject:relevant",
        old="if not repeated:",
        new="if True:",
        tests=("tests/contract/test_injection.py",),
    ),
    Mutant(
        name="missing space filter",
        where="store.learnings:many",
        old='FROM learnings WHERE space = :space AND id IN (:keys)"',
        new='FROM learnings WHERE :space = :space AND id IN (:keys)"',
        tests=("tests/contract/test_spaces.py::test_an_id_of_another_space_is_not_found",),
    ),
    Mutant(
        name="unescaped title",
        where="text:block",
        old='f"### {escape(one_line(learning.title))} [confidence',
        new='f"### {one_line(learning.title)} [confidence',
        tests=("tests/unit/text/test_frame.py",),
    ),
    Mutant(
        name="except: pass round a write",
        where="store:SqliteDb._transaction",
        old='                    connection.execute("ROLLBACK")\n                raise\n',
        new='                    connection.execute("ROLLBACK")\n',
        tests=("tests/faults/test_disk.py::test_a_limit_on_file_sizes_refuses_the_write_and_keeps_the_rest",),
    ),
    Mutant(
        name="a vanished store is begun anew",
        where="store:open_sqlite",
        old="    if empty and made_before:\n",
        new="    if False:\n",
        tests=(f"{DAMAGE}::test_a_vanished_store_is_reported_not_begun_anew",),
    ),
    Mutant(
        name="a damaged log passes without a word",
        where="store:open_sqlite",
        old="            refuse_lost_log(db)\n",
        new="            pass\n",
        tests=(f"{DAMAGE}::test_damage_in_the_log_is_shown_once_and_the_log_is_kept",),
    ),
    Mutant(
        name="a space chosen by each process that begins",
        where="store:write_new_path",
        old="            os.link(temp, path)\n",
        new="            os.rename(temp, path)\n            return True\n",
        tests=(f"{PROCESSES}::test_six_processes_that_begin_at_once_make_one_memory",),
    ),
    Mutant(
        name="purge that only deletes",
        where="tend:purge",
        old="    ctx.db.remake_indexes()\n    ctx.db.write_anew()\n",
        new="",
        tests=("tests/faults/test_purge.py",),
    ),
    Mutant(
        name="purge that leaves the backups",
        where="tend:purge",
        old="    replaced = backup.discard(project.database)\n",
        new="    replaced = 0\n",
        tests=("tests/faults/test_purge.py",),
    ),
    Mutant(
        name="trust: a change from outside is carried out",
        where="capture:changed",
        old="        if effect != PROPOSED:",
        new="        if True:",
        tests=("tests/contract/test_trust.py::test_every_cell_of_a_decision[sqlite-edit]",),
    ),
    Mutant(
        name="trust: invented tasks switch a learning off",
        where="feedback:_lowered_lately",
        old="now - DAY < event.at <= now",
        new="now < event.at <= now",
        tests=("tests/contract/test_trust.py::test_invented_tasks_do_not_switch_a_learning_off[sqlite-worker]",),
    ),
    Mutant(
        name="a model words what a person said",
        where="text:_says_kept",
        old="    return point.kept or",
        new="    return False and",
        tests=("tests/unit/text/test_nodes.py::test_what_a_person_said_stands_in_a_summary_as_it_was_said",),
    ),
    Mutant(
        name="an import that believes in counters",
        where="capture:_read_learning",
        old="**UNTOUCHED, **brought}",
        new='**UNTOUCHED, "times_helpful": values.get("times_helpful", 0), **brought}',
        tests=("tests/contract/test_transfer.py::test_claims_of_trust_counters_and_confidence_do_not_count",),
    ),
    Mutant(
        name="an import that believes in trust",
        where="capture:_read_learning",
        old='        "trust": terms.trust,\n        "version":',
        new='        "trust": values.get("trust", terms.trust),\n        "version":',
        tests=("tests/contract/test_transfer.py::test_claims_of_trust_counters_and_confidence_do_not_count",),
    ),
    Mutant(
        name="pragmas after the first are not run",
        where="store:SqliteDb._opened",
        old="        ).fetchall()  # the first",
        new="        )  # the first",
        tests=("tests/faults/test_power.py::test_the_store_is_opened_as_promised",),
    ),
    Mutant(
        name="a stale edit wins",
        where="capture:check_version",
        old="    if expect is not None and before.version != expect:\n",
        new="    if False:\n",
        tests=(f"{PROCESSES}::test_eight_processes_that_edit_one_text_lose_no_word",),
    ),
    Mutant(
        name="a budget that can be passed",
        where="store:reserve_tokens",
        old="    if spoken_for(tx, day) + tokens > budget:",
        new="    if spoken_for(tx, day) > budget:",
        tests=(f"{MODELS}::test_the_budget_is_never_passed_and_is_fresh_the_next_day",),
    ),
    Mutant(
        name="two processes pay for one ask",
        where="store:claim_call",
        old="""    if claimed_calls(tx, id, now=now):
        return False
""",
        new="""    tx.run("DELETE FROM ask_claims WHERE space = :space AND id = :id", id=id)
""",
        tests=(f"{MODELS}::test_two_who_ask_the_same_at_once_pay_once_and_get_the_same",),
    ),
    Mutant(
        name="a refusal is an answer",
        where="models:check_answer",
        old="    if any(map(summarise.refuses, (text, *words))):",
        new="    if any(map(summarise.refuses, ())):",
        tests=(f"{MODELS}::test_what_breaks_a_rule_is_not_an_answer",),
    ),
    Mutant(
        name="a source ends its own frame",
        where="models:frame_sources",
        old='source.replace("</source", "<\\\\/source").replace("<source", "<\\\\source")',
        new="source",
        tests=("tests/unit/models/test_ask.py",),
    ),
    Mutant(
        name="a key in an error",
        where="models:_safe",
        old='text.replace(key, "[key]").split()',
        new="text.split()",
        tests=("tests/unit/models/test_providers.py::test_a_key_never_comes_back_in_an_error",),
    ),
    Mutant(
        name="an answer about what has changed",
        where="tend:_take",
        old="    if question is None or question.id != id:",
        new="    if question is None:",
        tests=(f"{MODELS}::test_an_answer_about_what_has_changed_is_stale",),
    ),
    Mutant(
        name="a prompt changes and nothing is made again",
        where="distil:_may_improve",
        old='    return generator not in (nodes.COPY, nodes.FOREIGN) and not generator.endswith(f"@{version}")',
        new='    return generator not in (nodes.COPY, nodes.FOREIGN) and "@" not in generator',
        tests=(f"{MODELS}::test_a_changed_prompt_has_its_nodes_written_again",),
    ),
    Mutant(
        name="server: any Host",
        where="api:host_fault",
        old="    if len(hosts) == 1 and host_name(hosts[0]) in allowed:",
        new="    if len(hosts) == 1:",
        tests=(f"{ACCESS}::test_a_host_we_do_not_go_by_is_refused",),
    ),
    Mutant(
        name="server: any Origin on this machine",
        where="api:origin_fault",
        old="    if all(origin.lower() in (",
        new="    if all(origin.startswith('http://localhost') or origin.lower() in (",
        tests=(f"{ACCESS}::test_another_origin_is_refused",),
    ),
    Mutant(
        name="server: a token in the address",
        where="api:Guard._fault",
        old='            or query_fault(scope["query_string"])\n',
        new="",
        tests=(f"{ACCESS}::test_a_token_in_the_address_is_refused",),
    ),
    Mutant(
        name="server: any content type",
        where="api:type_fault",
        old='    if kind == "application/json":',
        new='    if kind in ("application/json", "text/plain"):',
        tests=(f"{ACCESS}::test_the_api_takes_json_alone",),
    ),
    Mutant(
        name="server: only a declared length is bounded",
        where="api:Guard._body",
        old="            if size > self._max_body:",
        new="            if False:",
        tests=(f"{ACCESS}::test_a_body_without_an_end_is_cut_off_by_size_and_by_time",),
    ),
    Mutant(
        name="server: a read-only token writes",
        where="api:_scoped",
        old="    if not admission.token.may(*scopes):\n        raise Denied",
        new="    if False:\n        raise Denied",
        tests=(f"{ACCESS}::test_a_read_only_token_changes_nothing[sqlite]",),
    ),
    Mutant(
        name="server: a read-only token calls what writes",
        where="api:call_rpc",
        old="method if token.may(*SCOPES[name]) else",
        new="method if True else",
        tests=(f"{REST}::test_a_read_only_token_calls_only_what_reads[sqlite]",),
    ),
    Mutant(
        name="server: a revoked token",
        where="tend:holder",
        old="if token is None or not token.valid(now):",
        new="if token is None:",
        tests=(f"{ACCESS}::test_without_a_valid_token_nothing_is_answered[sqlite]",),
    ),
    Mutant(
        name="server: a form without its token",
        where="api:_own_form",
        old="    if not hmac.compare_digest(given",
        new="    if given and not hmac.compare_digest(given",
        tests=(f"{ACCESS}::test_a_form_without_its_token_changes_nothing[sqlite]",),
    ),
    Mutant(
        name="server: a cookie under every name",
        where="api:is_page_host",
        old="in request.app.state.page_hosts",
        new="",
        tests=(f"{ACCESS}::test_under_a_name_that_every_port_shares_there_is_no_page_and_no_cookie[sqlite]",),
    ),
    Mutant(
        name="server: sign-in leads to another site",
        where="api:local_path",
        old='and not given.startswith("//") and not parts.scheme and not parts.netloc',
        new="",
        tests=(f"{ACCESS}::test_signing_in_leads_nowhere_else",),
    ),
    Mutant(
        name="server: a busy space is closed as idle",
        where="api:Spaces.close_idle",
        old="if not space.users and space.used_at",
        new="if space.memory is not self.here and space.used_at",
        tests=(
            "tests/surfaces/test_server_spaces.py::test_a_space_is_opened_when_asked_for_and_closed_when_idle[sqlite]",
        ),
    ),
    Mutant(
        name="server: a code serves twice",
        where="api:BrowserSessions.sign_in",
        old="            self._renew()\n            if not right:",
        new="            if not right:",
        tests=(f"{ACCESS}::test_a_code_serves_once_and_the_next_is_announced",),
    ),
    Mutant(
        name="server: failures are not counted",
        where="api:Authenticator.admit",
        old='            if waits := self.failures.wait(f"token {address_of(request)}"):',
        new="            if waits := 0:",
        tests=(f"{ACCESS}::test_whoever_tries_tokens_has_to_wait",),
    ),
    Mutant(
        name="server: If-Match is not read",
        where="api:_expected",
        old='    if if_match is None or if_match == "*":',
        new="    if True:",
        tests=(f"{REST}::test_the_second_of_two_editors_is_told_and_nothing_is_lost[sqlite]",),
    ),
    Mutant(
        name="server: a list without its total",
        where="api.wire:page",
        old='"total": total, ',
        new="",
        tests=(
            "tests/surfaces/test_openapi.py::test_every_answer_is_one_that_the_document_describes[sqlite-positive]",
        ),
    ),
    Mutant(
        name="server: trust of a person for every token",
        where="tend.tokens:Token.actor",
        old="trust=TRUST_OF[self.channel])",
        new='trust="human")',
        tests=(f"{REST}::test_trust_comes_from_the_token[sqlite]",),
    ),
    Mutant(
        name="hook: a learning in every prompt",
        where="inject:prompted",
        old="known = ctx.read(sessions.in_context, session) if task == session and not fresh else set()",
        new="known: set[str] = set()",
        tests=(f"{SESSIONS}::test_a_prompt_brings_a_learning_once_per_session[sqlite]",),
    ),
    Mutant(
        name="rings: a repository chooses what sessions read",
        where="store.project:_settings",
        old='if "rings" in values:',
        new="if False:",
        tests=("tests/contract/test_rings.py::test_a_repository_cannot_choose_rings[sqlite]",),
    ),
    Mutant(
        name="rings: every token reads the person's",
        where="api.auth:Admission",
        old='if self.token.channel == "person" else',
        new="if True else",
        tests=("tests/surfaces/test_ring_surfaces.py::test_an_agents_token_over_http_reads_one_space",),
    ),
    Mutant(
        name="hook: compaction forgets nothing",
        where="store.sessions:happened",
        old="    if fresh:\n",
        new="    if False:\n",
        tests=(f"{SESSIONS}::test_what_left_the_context_is_shown_again",),
    ),
    Mutant(
        name="hook: the brief is captured",
        where="text:_HEADINGS",
        old="_HEADINGS = (HEADING, BRIEF_HEADING, ENTRIES_HEADING)",
        new="_HEADINGS = (HEADING,)",
        tests=(f"{SESSIONS}::test_what_we_said_ourselves_is_not_captured[sqlite]",),
    ),
    Mutant(
        name="hook: a transcript from its beginning",
        where="capture:turn",
        old="        talk, read = _heard(given.host, path, place, given.end, one=True)",
        new="        place = 0\n        talk, read = _heard(given.host, path, place, given.end, one=True)",
        tests=(f"{SESSIONS}::test_a_transcript_is_never_read_twice[sqlite]",),
    ),
    Mutant(
        name="hook: a torn line is read",
        where="capture.turns:_lines",
        old='                if not line.endswith(b"\\n") or start > end:',
        new="                if start > end:",
        tests=(f"{SESSIONS}::test_a_line_that_is_still_being_written_waits_for_its_end[sqlite]",),
    ),
    Mutant(
        name="hook: a write is dropped when it cannot be done",
        where="memory:deliver",
        old="    keep(project, write, actor=ctx.actor, at=ctx.clock.now())\n",
        new="",
        tests=("tests/contract/test_spool.py",),
    ),
    Mutant(
        name="hook: a record that fails holds up those behind it",
        where="memory:replay",
        old="                spool.counted(file, count - 1)\n            except Exception as error:",
        new="                return done\n            except Exception as error:",
        tests=("tests/contract/test_spool.py",),
    ),
    Mutant(
        name="lease: one from a clock that was ahead counts until its date",
        where="store:is_live",
        old="now < expires_at and taken_at <= now + CLOCKS_APART",
        new="now < expires_at",
        tests=("tests/contract/test_leases.py",),
    ),
    Mutant(
        name="hook: a secret in the spool",
        where="memory:keep",
        old="what, _ = storable_record(write.what)",
        new="what = write.what",
        tests=(f"{SESSIONS}::test_what_waits_in_the_spool_holds_no_secret",),
    ),
    Mutant(
        name="hook: a refusal reaches the host",
        where="cli.printing:answer_hook",
        old="    except BaseException:",
        new="    except KeyboardInterrupt:",
        tests=(f"{SETUP}::test_a_hook_called_wrongly_is_silent",),
    ),
    Mutant(
        name="hook: captured in CI",
        where="hosts:respond",
        old="capturing = not in_ci(environ) and bool(moment.session)",
        new="capturing = bool(moment.session)",
        tests=(f"{SETUP}::test_in_ci_a_session_is_answered_and_not_captured",),
    ),
    Mutant(
        name="hook: an absence that the brief does not mention",
        where="inject:_Telling._stand",
        old="(away := self._away()) >= AWAY",
        new="(away := 0) >= AWAY",
        tests=(f"{SESSIONS}::test_the_first_brief_after_an_absence_says_so[sqlite]",),
    ),
    Mutant(
        name="hook: modules of the project in our process",
        where="hosts:write_launcher",
        old='.replace("@STAND_IN@", STAND_IN)',
        new='.replace("@STAND_IN@", STAND_IN).replace(" -P -m", " -m")',
        tests=(f"{SETUP}::test_the_command_works_without_a_path_and_past_a_hostile_module",),
    ),
    Mutant(
        name="inject: content with the first candidates",
        where="inject:eligible",
        old="if proven_enough or (found and walked >= THOROUGH.walked):",
        new="if found:",
        tests=(
            "tests/contract/test_injection.py::"
            "test_learnings_that_may_not_be_shown_do_not_crowd_out_the_one_that_may[sqlite]",
        ),
    ),
    Mutant(
        name="migrate: writers during it",
        where="tend.backup:migrate",
        old="            if (_size(old), _texts(source.vault.inside(old))) != (before, texts):\n",
        new="            if False:\n",
        tests=("tests/contract/test_migrate.py::test_a_write_to_the_source_during_the_move_is_noticed",),
    ),
    Mutant(
        name="register: any place may use any space",
        where="store.project:load",
        old="    if place is None:",
        new="    if False:",
        tests=("tests/surfaces/test_places.py::test_a_strangers_settings_file_reads_no_memory_of_mine",),
    ),
    Mutant(
        name="register: a stranger's repository in the place of mine",
        where="store.register:confirmed",
        old="bool(known & {*roots}) if known else",
        new="True if known else",
        tests=("tests/surfaces/test_places.py::test_another_repository_at_the_same_path_is_a_stranger",),
    ),
    Mutant(
        name="register: a file in place of .git names my repository",
        where="store.register:_common_directory",
        old='        if back == marker.resolve() and own.parent == common / "worktrees":',
        new="        if True:",
        tests=("tests/surfaces/test_places.py::test_a_file_in_place_of_git_borrows_no_memory",),
    ),
    Mutant(
        name="Python: a place of its own joins a space",
        where="memory:begin_place",
        old="    held = None if join else",
        new="    held = None if True else",
        tests=("tests/surfaces/test_places.py::test_python_joins_no_space_that_another_place_began",),
    ),
    Mutant(
        name="init: an agent joins a space",
        where="cli:_agreed",
        old='    if actor.trust != "human":\n        raise',
        new="    if False:\n        raise",
        tests=("tests/surfaces/test_places.py::test_only_a_person_adds_a_place_to_a_space",),
    ),
    Mutant(
        name="search: what is out of use looks like what is in use",
        where="core:out_of_use",
        old='    if status == "active":',
        new="    if True:",
        tests=("tests/surfaces/test_searching.py", "tests/surfaces/test_mcp.py"),
    ),
    Mutant(
        name="mirror: a missing log is taken away",
        where="tend:_fate",
        old="    if new is None and known and (log or not pull):",
        new="    if new is None and known and False:",
        tests=("tests/contract/test_mirror.py",),
    ),
    Mutant(
        name="fault: a lease by the time of a record",
        where="store:take_lease",
        old="now = ctx.wall_clock.now()",
        new="now = ctx.clock.now()",
        tests=(
            "tests/faults/test_replay.py::test_a_process_killed_in_a_replay_holds_no_other_session_up_and_its_own_only_for_the_lease",
        ),
    ),
    Mutant(
        name="fault: a record that kills is tried for ever",
        where="memory:replay",
        old="            if count > TRIES:",
        new="            if False:",
        tests=(
            "tests/faults/test_replay.py::test_a_record_that_three_processes_died_at_is_set_aside_named_and_tried_again_on_request",
        ),
    ),
    Mutant(
        name="fault: set aside without a word",
        where="tend.doctor:_spool",
        old="aside := spool.aside(project.spools)",
        new="aside := list[Path]()",
        tests=(
            "tests/faults/test_replay.py::test_a_record_that_three_processes_died_at_is_set_aside_named_and_tried_again_on_request",
        ),
    ),
    Mutant(
        name="fault: an entry given again is doubled",
        where="capture.log:_given_before",
        old="    if ours is None:",
        new="    if True:",
        tests=("tests/faults/test_said.py::test_what_was_not_saved_is_there_once_when_it_is_given_again",),
    ),
    Mutant(
        name="fault: verify ends with what it cannot compare",
        where="tend.doctor:_reporting",
        old="    except (*UNREADABLE, BadInput) as error:",
        new="    except ZeroDivisionError as error:",
        tests=("tests/faults/test_any_damage.py::test_a_row_that_its_record_refuses_ends_neither_verify_nor_doctor",),
    ),
    Mutant(
        name="fault: brackets in the settings of a clone",
        where="store.project:toml",
        old="    except RecursionError:",
        new="    except ZeroDivisionError:",
        tests=("tests/unit/core/test_settings.py",),
    ),
    Mutant(
        name="fault: a cycle leaves what killed processes left",
        where="tend.cycle:cycle",
        old="    backup.sweep(project)\n",
        new="",
        tests=("tests/faults/test_purge.py",),
    ),
    Mutant(
        name="fault: a purge leaves what killed processes left",
        where="tend.purge:purge",
        old="    backup.sweep(project, grace=0)\n",
        new="",
        tests=("tests/faults/test_purge.py",),
    ),
    Mutant(
        name="fault: a purge leaves the state of the mirror",
        where="tend.purge:_json_files",
        old=', *project.data.glob("*.json")',
        new="",
        tests=(
            "tests/faults/test_postgres.py::test_a_purge_after_a_pull_takes_a_work_id_out_of_the_state_of_the_mirror",
        ),
    ),
    Mutant(
        name="fault: verify passes over a log that a killed process wrote",
        where="tend.doctor:verify",
        old="        documents.refresh_logs(ctx)\n",
        new="",
        tests=("tests/faults/test_agreement.py",),
    ),
    Mutant(
        name="fault: an answer that was undone stays",
        where="store:reopen_escalation",
        old="resolved_at=None, resolution=None",
        new="resolution=None",
        tests=("tests/contract/test_conflicts.py",),
    ),
    Mutant(
        name="fault: a clock that went back",
        where="distil.tree:Pass.run",
        old="date.min if self.clock_behind else self.files.today",
        new="self.files.today",
        tests=("tests/contract/test_compaction.py",),
    ),
    Mutant(
        name="fault: a verdict in a comment counts",
        where="text:_outside_blocks",
        old="        elif begun := _COMMENT.match(line):",
        new="        elif (begun := _COMMENT.match(line)) and len(line) < 0:",
        tests=("tests/unit/text/test_markers_signals.py",),
    ),
    Mutant(
        name="fault: a verdict in a shown element counts",
        where="text:_outside_blocks",
        old="(end := _end_of(text, tag, following, ends)) > at:\n            hidden = end\n        elif",
        new="(end := _end_of(text, tag, following, ends)) > len(text):\n            hidden = end\n        elif",
        tests=("tests/unit/text/test_markers_signals.py",),
    ),
    Mutant(
        name="fault: a password with brackets is code",
        where="text:_like_code",
        old="bool(_CODE.search(value)) and bits(value) < 15",
        new="bool(_CODE.search(value))",
        tests=("tests/unit/text/test_redact.py",),
    ),
    Mutant(
        name="fault: a spooled write of the year 9999 is done",
        where="memory:_decoded",
        old="    parse_time(iso(at))",
        new="    iso(at)",
        tests=("tests/contract/test_spool.py::test_an_unreadable_record_is_set_aside_and_blocks_nothing",),
    ),
    Mutant(
        name="fault: a backup from the future is the newest",
        where="tend:_own",
        old="(_made(path)[0] <= _stamp(now), _made(path))",
        new="_made(path)",
        tests=(
            "tests/faults/test_damage.py::test_backups_of_a_clock_that_was_ahead_are_neither_waited_for_nor_kept_before_others",
        ),
    ),
    Mutant(
        name="fault: a consolidation that was killed is not finished",
        where="distil.consolidate:_consolidate",
        old='made.trigger == "none" and not begun',
        new='made.trigger == "none"',
        tests=("tests/contract/test_consolidate.py",),
    ),
    Mutant(
        name="fault: a FIFO in place of a log of writes is opened",
        where="store:open_sqlite",
        old="(path, log_of(path))",
        new="(path,)",
        tests=("tests/faults/test_damage.py::test_a_store_that_is_no_regular_file_is_refused_and_never_copied",),
    ),
)


def caught(mutant: Mutant, folder: Path) -> str:
    """What became of a mutant: caught, survived, or not applicable."""
    try:
        file, source = mutant.applied()
    except DoesNotApply as error:
        return f"DOES NOT APPLY\n{error}"
    if unrunnable := _unrunnable(source):
        return f"DOES NOT RUN\n{unrunnable}"
    copy = folder / "src"
    shutil.copytree(ROOT / "src", copy, ignore=shutil.ignore_patterns("__pycache__"))
    (copy / "recollect" / file).write_text(source, "utf-8")
    done = _tested(copy, mutant.tests)
    if done.returncode == 1:
        return "caught"
    return "SURVIVED" if done.returncode == 0 else f"NO TEST RAN\n{done.stdout[-2000:]}"


def _tested(source: Path, tests: Iterable[str]) -> subprocess.CompletedProcess[str]:
    environ = {**os.environ, "PYTHONPATH": str(source), "PYTHONDONTWRITEBYTECODE": "1"}
    command = [sys.executable, "-m", "pytest", "-x", "-q", "--tb=line", *tests]
    return subprocess.run(command, cwd=ROOT, env=environ, capture_output=True, text=True, check=False)


def _unrunnable(source: str) -> str:
    """Names that a mutant uses without defining them: such a bug fails every test, so it would show nothing."""
    command = [
        sys.executable,
        "-m",
        "ruff",
        "check",
        "--isolated",
        "--select",
        "F82",
        "--output-format",
        "concise",
        "-",
    ]
    done = subprocess.run(command, input=source, capture_output=True, text=True, check=False)
    return done.stdout if done.returncode else ""


def main() -> int:
    wanted = sys.argv[1:]
    chosen = [mutant for mutant in MUTANTS if not wanted or any(word in mutant.name for word in wanted)]
    sound = _tested(ROOT / "src", sorted({test for mutant in chosen for test in mutant.tests}))
    if sound.returncode:
        print(f"A test fails without any mutant, so it would catch none:\n{sound.stdout[-2000:]}")
        return 1
    failed = 0
    for mutant in chosen:
        began = time.monotonic()
        with tempfile.TemporaryDirectory() as folder:
            result = caught(mutant, Path(folder))
        failed += result != "caught"
        print(f"{result:<15} {time.monotonic() - began:5.0f} s  {mutant.name}", flush=True)
    print(f"{len(chosen) - failed} of {len(chosen)} caught")
    return 1 if failed or not chosen else 0


if __name__ == "__main__":
    sys.exit(main())
