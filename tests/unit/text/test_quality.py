"""The quality gate on 120 labelled titles; it must be right about most and refuse hardly any good one."""

import json
from pathlib import Path

import pytest

from recollect.text.quality import is_status_update, staged_refusal
from recollect.text.quality import learning_refusal as learning_refused

EXAMPLES = [
    json.loads(line) for line in (Path(__file__).parents[2] / "data/staged_quality.jsonl").read_text().splitlines()
]


def flaw(example: dict[str, str]) -> str:
    return flaw_of(example["title"], example["body"])


def flaw_of(title: str, body: str = "") -> str:
    refusal = staged_refusal(title, body)
    return refusal.flaw if refusal else "good"


def test_the_gate_agrees_with_nine_of_ten_labels() -> None:
    assert len(EXAMPLES) == 120
    wrong = [(example["title"], flaw(example)) for example in EXAMPLES if flaw(example) != example["label"]]
    assert len(wrong) <= 12, wrong


def test_the_gate_refuses_hardly_any_good_rule() -> None:
    good = [example for example in EXAMPLES if example["label"] == "good"]
    refused = [example["title"] for example in good if flaw(example) != "good"]
    assert len(refused) <= 1, refused


@pytest.mark.parametrize(
    ("title", "found"),
    [
        ("Edited skill without loading it", "incident"),
        ("Always load skill context before editing", "good"),
        ("Generated files must never be edited", "good"),
        ("Mutable defaults are shared between calls", "good"),
        ("Firewall rules should deny by default", "good"),
        ("Every rule must have an example", "meta"),
        ("Be careful", "vague"),
        ("Embed the version in the binary", "good"),
        ("Left-align numbers in tables", "good"),
        ("Built-in types come before our own", "good"),
        ("We left the flag on after the release", "incident"),
        ("Built the image with the wrong tag", "incident"),
        ("小心", "vague"),
    ],
)
def test_a_refusal_names_the_flaw(title: str, found: str) -> None:
    assert flaw_of(title) == found


def test_a_refusal_says_why_and_how_to_rephrase() -> None:
    refusal = staged_refusal("Edited skill without loading it")
    assert refusal is not None
    assert "what happened once" in refusal.why
    assert "Always load" in refusal.rephrase


def test_a_body_can_carry_the_rule_that_a_short_title_lacks() -> None:
    assert flaw_of("Caching") == "vague"
    assert flaw_of("Caching", "Serve stale responses while the origin is down.") == "good"


RULES = """
部署前必须运行测试
始终使用事务
禁止直接推送到主分支
Docker镜像必须固定版本
必ずテストを実行する
本番環境で直接編集しない
항상 트랜잭션을 사용한다
Всегда запускай тесты перед деплоем
شغّل الاختبارات قبل كل نشر
לעולם אל תדחוף ישירות לענף הראשי
ห้ามใช้รหัสผ่านในโค้ด
हमेशा परीक्षण चलाएँ
Πάντα εκτέλεσε τα τεστ πριν την ανάπτυξη
Niemals direkt auf main pushen
Beachte den Unterschied, wenn Pfade relativ sind
Przed wdrożeniem uruchom testy
Przed startem nie usuwaj logu
Haced siempre una copia antes de migrar
Instructions SQL : toujours préparer les requêtes
Esegui sempre i test prima del rilascio
Sikkerhed først: kør altid test før udrulning
Kontroller altid gyldighed, før data gemmes
Andmed tuleb enne kustutamist varundada
Her dağıtımdan önce testleri çalıştır
Luôn chạy kiểm thử trước khi triển khai
""".strip().splitlines()


def test_a_date_alone_does_not_make_a_title_an_incident() -> None:
    assert staged_refusal("Keep releases since 2026-03-01 reproducible from their tag") is None
    assert staged_refusal("The deploy failed on 2026-03-01") is not None


@pytest.mark.parametrize("rule", RULES, ids=ascii)
def test_a_rule_in_a_language_we_have_no_words_of_is_not_refused_for_that(rule: str) -> None:
    assert staged_refusal(rule) is None
    assert learning_refused(title=rule, observation=rule, implication="", action="") is None
    assert not is_status_update(rule)


@pytest.mark.parametrize(
    ("title", "flaw"),
    [
        ("Today: use ruff, not black", ""),
        ("Noted on 12 March: quote all paths", ""),
        ("Learned 12.03.2026: quote all paths", ""),
        ("Noticed last week: the cache must be keyed by user", ""),
        ("On 2026-03-01 the key expires", ""),
        ("On 2026-03-01 the deploy failed", "incident"),
        ("12 March: the deploy failed", "incident"),
        ("Yesterday: the deploy failed", "incident"),
        ("Today the build broke", "incident"),
        ("On Monday the runner died", "incident"),
        ("On Tuesday the certificate expired", "incident"),
        ("On Friday never deploy", ""),
        ("On Mondays the runner restarts", ""),
        ("On Monday tied scores count twice", ""),
    ],
)
def test_a_date_before_a_rule_makes_it_no_incident_and_before_an_event_no_rule(title: str, flaw: str) -> None:
    refusal = staged_refusal(title)
    assert (refusal.flaw if refusal else "") == flaw
