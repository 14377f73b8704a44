"""Whatever a store holds, the commands that look at it say so: no flipped bit and no odd value gives a traceback."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import apsw
import pytest

from faults.damaged import CODES, COMMANDS, LOOKING, Patient, Said
from recollect.hosts.hook import time_limit
from scale import TORTURE

FLIPS = 30 * TORTURE
SAMPLED = 20 * TORTURE
ODD: dict[str, tuple[Any, ...]] = {
    "TEXT": ("", "\x00", "{torn", "[1]", "7", "null", 'a"b\x00c', "9999-99-99", "\u2028"),
    "INTEGER": (-1, 0, 2**62, -(2**63)),
    "BLOB": (b"", b"abc", bytes(3000)),
}
NOT_UTF8 = "CAST(x'41ff42' AS TEXT)"


@pytest.fixture(scope="module")
def patient(tmp_path_factory: pytest.TempPathFactory) -> Patient:
    return Patient(tmp_path_factory.mktemp("patient"))


@pytest.fixture(autouse=True)
def healed(patient: Patient) -> None:
    patient.heal()


def reported(said: Said, what: object) -> bool:
    """Whether a command ended with a code of its own and said why; raises whatever it raised instead."""
    if said.error is not None:
        raise AssertionError(f"{said.command} raised after {what}") from said.error
    assert said.code in CODES, (what, said)
    assert "Traceback" not in said.output, (what, said)
    assert said.output.strip(), (what, said)
    return said.code != 0


@pytest.mark.parametrize("seed", range(FLIPS))
def test_one_flipped_bit_gives_no_traceback(patient: Patient, seed: int) -> None:
    chance = random.Random(seed)
    data = patient.database.read_bytes()
    texts = [run.span() for run in re.finditer(rb"[\x20-\x7e\n]{12,}", data)]  # most of the file is vectors and gaps
    first, last = chance.choice(texts) if seed % 2 else (0, len(data))
    bit = chance.randrange(first * 8, last * 8)
    patient.flip(bit)
    for command in COMMANDS:
        reported(patient.says(command), f"bit {bit} was flipped")


def pages(data: bytes, *types: int) -> list[int]:
    """Where the pages of the given types begin: 2 and 5 inside the trees of an index and a table, 10 and 13 leaves."""
    size = int.from_bytes(data[16:18], "big")
    return [at for at in range(size, len(data), size) if data[at] in types]


PLACES = ("the header", "an index", "inside a tree", "a free page", "the WAL")


@pytest.mark.parametrize("seed", range(2 * TORTURE))
@pytest.mark.parametrize("place", PLACES)
def test_one_flipped_bit_where_no_text_is_gives_no_traceback(patient: Patient, place: str, seed: int) -> None:
    chance = random.Random(f"{place} {seed}")
    connection = apsw.Connection(str(patient.database))
    wal = patient.database.with_name("memory.db-wal")
    # Free pages, and a write that is in the WAL alone.
    connection.execute("CREATE TABLE much (x); INSERT INTO much VALUES (zeroblob(100000)); DROP TABLE much")
    connection.execute("UPDATE learnings SET times_injected = times_injected")
    written = wal.read_bytes() if place == "the WAL" else b""
    if not written:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    file = patient.database.read_bytes()
    connection.close()
    data = bytearray(written or file)
    size = int.from_bytes(file[16:18], "big")
    starts = {"an index": pages(file, 10), "inside a tree": pages(file, 2, 5), "a free page": pages(file, 0)}
    at = chance.choice(starts.get(place) or [0])
    reach = {"the header": 100, "the WAL": len(data)}.get(place, chance.choice((16, size)))
    data[at + chance.randrange(reach)] ^= 1 << chance.randrange(8)
    patient.database.write_bytes(file if written else data)
    if written:
        wal.write_bytes(data)
    for command in COMMANDS:
        reported(patient.says(command), place)


def test_indexes_out_of_order_end_no_command_in_a_loop(patient: Patient) -> None:
    """SQLite's DISTINCT seeks from value to value, so one that is out of order can send it round for ever."""
    data = bytearray(patient.database.read_bytes())
    for at in pages(data, 10):
        first, middle = at + 8, at + 8 + 2 * (int.from_bytes(data[at + 3 : at + 5], "big") // 2)
        data[first : first + 2], data[middle : middle + 2] = data[middle : middle + 2], data[first : first + 2]
    patient.database.write_bytes(data)
    with time_limit(30.0):
        for command in COMMANDS:
            reported(patient.says(command), "indexes lost their order")
    assert patient.says("store verify").code == 0, "rebuild did not heal it"


@pytest.mark.parametrize("bit", range(8))
@pytest.mark.parametrize("mark", ["Webhook", "webhook"])
def test_a_flipped_bit_in_a_passage_or_its_terms_is_named_and_healed(patient: Patient, mark: str, bit: int) -> None:
    """`webhook` in lower case stands in the terms."""
    column = "terms" if mark == "webhook" else "text"
    (row, text) = patient.row("passages", "doc", column, f"instr({column}, '{mark}') > 0")
    data = bytearray(text.encode())
    data[text.index(mark) + 3] ^= 1 << bit
    patient.damage(f"UPDATE passages SET {column} = CAST(? AS TEXT) WHERE doc = ?", bytes(data), row)
    said = patient.says("store verify")
    assert (said.code, "recollect store rebuild" in said.output) == (1, True), said
    for command in ("doctor", "status", "store rebuild"):
        reported(patient.says(command), f"bit {bit} of {column}")
    assert patient.says("store verify") == Said(command="store verify", code=0, output="everything agrees\n")


TARGETED = [
    ("events", "new_values", "{torn", 3),
    ("events", "trust", "agenT", 3),
    ("learning_sources", "trust", "", 3),
    ("log_entries", "trust", "agenT", 3),
    ("log_entries", "held", 2, 3),
    ("log_entries", "text", "other words", 3),
    ("topic_aliases", "space", "shoq", 3),
    ("learnings", "space", "shoq", 3),
    ("terms", "space", "shoq", 1),
    ("events", "old_values", "[1]", 3),
    ("escalations", "detail", "7", 3),
    ("decisions", "reasons", "[[1]]", 3),
    ("decisions", "components", '{"a": "b"}', 3),
    ("decisions", "bridge_structure", "", 3),
    ("themes", "work_ids", "{}", 3),
    ("themes", "left_out", "[1", 3),
    ("sessions", "day", "2026-13-01", 3),
    ("asks", "sources", "", 3),
    ("host_events", "given", "[1]", 3),
    ("model_usage", "day", "today", 3),
    ("nodes", "topics", "[[1, 2, 3]]", 1),
    ("nodes", "incomplete", "yes", 1),
    ("topics", "id", "topic_nobody", 1),
    ("topics", "merged_into", "topic_nobody", 1),
    ("topic_aliases", "topic_id", "topic_nobody", 1),
    ("nodes", "first_day", "2026-02-30", 1),
    ("logs", "day", "2026-02-30", 1),
    ("logs", "day", "9999-12-31", 1),
    ("log_entries", "day", "9999-12-31", 3),
    ("passages", "terms", 'a"b\x00c', 1),
    ("passages", "at", -(2**63), 1),
    ("passages", "id", "", 1),
    ("terms", "docs", -1, 1),
    ("terms", "term", "\x00", 1),
    ("vectors", "vector", b"abc", 1),
    ("vectors", "doc", 2**40, 1),
    ("vectors", "number", -1, 1),
    ("nodes", "status", "torn", 1),
    ("vector_signs", "numbers", b"abc", 1),
    ("vector_signs", "signs", b"", 1),
]


@pytest.mark.parametrize(("table", "column", "value", "code"), TARGETED, ids=lambda part: str(part)[:20])
def test_a_value_nobody_can_read_is_reported_with_what_heals_it(
    patient: Patient, table: str, column: str, value: object, code: int
) -> None:
    assert patient.damage(f"UPDATE {table} SET {column} = ? WHERE rowid = (SELECT min(rowid) FROM {table})", value)
    said = patient.says("store verify")
    reported(said, (table, column))
    assert said.code == code, said
    assert ("recollect store rebuild" if code == 1 else "recollect store restore") in said.output
    for command in COMMANDS[1:]:
        reported(patient.says(command), (table, column))
    if code == 1:
        assert patient.says("store verify").code == 0, "rebuild did not heal it"
    else:
        assert patient.says("doctor").code == 3


def test_a_row_that_its_record_refuses_ends_neither_verify_nor_doctor(patient: Patient) -> None:
    assert patient.damage("UPDATE themes SET name = '' WHERE rowid = (SELECT min(rowid) FROM themes)")
    for command in ("store verify", "doctor"):
        said = patient.says(command)
        assert "could not be compared" in said.output, said
        assert "recollect store restore" in said.output, said


@pytest.mark.parametrize(
    ("table", "column", "code"),
    [
        ("learnings", "title", 3),
        ("decisions", "decision", 3),
        ("answers", "answer", 3),
        ("events", "reason", 3),
        ("passages", "text", 1),
        ("passages", "terms", 1),
        ("terms", "term", 1),
        ("nodes", "capsule", 1),
        ("readings", "ids", 1),
    ],
)
def test_a_text_that_is_not_utf8_is_reported_with_what_heals_it(
    patient: Patient, table: str, column: str, code: int
) -> None:
    patient.damage(f"UPDATE {table} SET {column} = {NOT_UTF8} WHERE rowid = (SELECT max(rowid) FROM {table})")
    said = patient.says("store verify")
    assert (said.code, f"{table}, row" in said.output) == (code, True), said
    for command in COMMANDS[1:]:
        reported(patient.says(command), (table, column))
    assert patient.says("store verify").code == (0 if code == 1 else 3)


def test_a_real_process_reports_damage_too(patient: Patient) -> None:
    patient.damage("UPDATE passages SET terms = ? WHERE doc = (SELECT min(doc) FROM passages)", 'a"b\x00c "')
    patient.damage("UPDATE nodes SET incomplete = '[' WHERE rowid = (SELECT min(rowid) FROM nodes)")
    for command, code in (
        ("store verify", 1),
        ("doctor", 0),
        ("status", 3),
        ("store rebuild", 0),
        ("store verify", 0),
        ("status", 0),
    ):
        said = patient.really_says(command)
        reported(said, "a damaged passage and a damaged node")
        assert said.code == code, said


def test_status_says_that_an_index_is_damaged(patient: Patient) -> None:
    data = patient.database.read_bytes()
    entries = [found.start() for found in re.finditer(rb"shoptentative(?=daily|weekly|monthly)", data)]
    assert entries, "the index on the status of nodes is somewhere else"
    for at in entries:
        patient.flip((at + 6) * 8)
    said = patient.says("status")
    assert (said.code, "recollect store rebuild" in said.output) == (3, True), said
    assert patient.says("store rebuild").code == 0
    assert (patient.says("status").code, patient.says("store verify").code) == (0, 0)


def test_doctor_fix_heals_rows_that_nobody_can_read(patient: Patient) -> None:
    patient.damage(f"UPDATE passages SET text = {NOT_UTF8} WHERE doc = (SELECT min(doc) FROM passages)")
    assert patient.says("doctor", "--strict").code == 1
    assert patient.says("doctor", "--fix", "--strict").code == 0
    assert patient.says("store verify").code == 0


def odd_values(patient: Patient) -> Iterator[tuple[str, str, Any]]:
    for table, columns in patient.tables.items():
        for column, kind in columns:
            yield from ((table, column, value) for value in ODD[kind])
            if kind == "TEXT":
                yield table, column, None  # stands for bytes that are not UTF-8


def test_any_odd_value_in_any_column_gives_no_traceback(patient: Patient) -> None:
    cases = list(odd_values(patient))
    done = 0
    for table, column, value in random.Random(7).sample(cases, min(SAMPLED, len(cases))):
        patient.heal()
        given = NOT_UTF8 if value is None else "?"
        values = () if value is None else (value,)
        where = f"WHERE rowid = (SELECT min(rowid) FROM {table})"
        try:
            patient.damage(f"UPDATE {table} SET {column} = {given} {where}", *values)
        except apsw.ConstraintError:
            continue  # a key that another row has
        done += 1
        for command in COMMANDS:
            reported(patient.says(command), (table, column, value))
    assert done > SAMPLED / 2


@pytest.mark.parametrize("table", ["passage_words_data", "passage_words_docsize", "passage_words_config"])
def test_a_damaged_word_index_is_reported_and_healed(patient: Patient, table: str) -> None:
    patient.damage(f"DELETE FROM {table}")
    for command in LOOKING:
        reported(patient.says(command), table)
    said = patient.says("store verify")
    assert (said.code, "recollect store rebuild" in said.output) == (1, True), said
    assert patient.says("store rebuild").code == 0
    assert patient.says("store verify").code == 0


def test_a_schema_that_was_changed_gives_no_traceback(patient: Patient, tmp_path: Path) -> None:
    for old, new in (("docs", "dogs"), ("PRIMARY KEY (space, term)", "CHECK (1=1)"), ("STRICT", "")):
        patient.heal()
        patient.damage("UPDATE sqlite_schema SET sql = replace(sql, ?, ?) WHERE name = 'terms'", old, new)
        for command in COMMANDS:
            reported(patient.says(command), (old, new))


@pytest.mark.parametrize("column", ["topics SET id", "topic_entries SET topic_id", "topic_aliases SET topic_id"])
def test_a_damaged_id_of_a_topic_stops_no_capture(patient: Patient, column: str) -> None:
    assert patient.damage(f"UPDATE {column} = 'topic_' || rowid || 'x'")
    for command in ("log add Refunds-are-retried-twice-now", "search refund", "cycle"):
        said = patient.says(command)
        assert said.code == 0, said
    assert patient.says("store rebuild").code == 0
    assert patient.says("store verify").code == 0
