"""Which requests name work, and which only go on with it."""

from __future__ import annotations

import pytest

from recollect.text.tokens import terms
from recollect.text.transcript import goes_on, resumes


@pytest.mark.parametrize(
    "asked",
    """yes|continue|thanks!|ok do it|run the tests|fix it|commit|Yes, please go ahead.|go on|looks good, commit|
    try again|now run the test suite again|option 2|perfect, thank you so much|fix the failing tests|lgtm, merge it|
    both please|do the second one|what else is left?|keep going|undo that|retry|no, stop|sounds good|yes, raise it|
    still broken|that worked, thanks|no, it still crashes|not true|fix 4|address 3, 8 and 11|yes, option B|
    is this merged?|perfect, reverted now|make that change""".split("|"),
)
def test_goes_on(asked: str) -> None:
    assert goes_on(asked)


@pytest.mark.parametrize(
    "asked",
    """Fix login|Add tests for the parser|Why is CI red?|Rename the user table|bump pydantic|commit hooks fail here|
    Update the README|explain src/app.py|Deploy staging to Frankfurt|use uv instead of pip|Run the migration|
    Is the cache thread-safe?|write a changelog|no, use PostgreSQL|release 3.0.1|ok, add a dark mode to the page|
    refactor this module and move its tests to the package|I want dark mode|
    Rename it to billing_queue in all files""".split("|"),
)
def test_names_work_of_its_own(asked: str) -> None:
    assert not goes_on(asked)


GERMAN = "ja|weiter|ja, weiter!|genau|danke|passt|nochmal|super, danke|nein|mach weiter|ja bitte|führe die Tests aus"
FRENCH = "oui|continue|d'accord|merci!|oui, continue|parfait, merci|encore|non|vas-y|oui merci|lance les tests"
SPANISH = "sí|continúa|sí, adelante|gracias|perfecto|vale|otra vez|de acuerdo|no, para|ejecuta las pruebas"
CHINESE = "继续|好的|是的|好的，继续|谢谢|可以|没问题|再试一次|运行测试"
OTHERS = """avanti|doorgaan|kontynuuj|продолжай|да, дальше|devam|fortsätt|jatka|συνέχισε|お願いします|ありがとう|続けて|
    감사합니다|계속해줘|نعم، تابع|המשך|हाँ|जारी|ใช่|ต่อไป|tiếp|einverstanden"""
NAMED = """auth.ts|api.py|ログイン|테스트 추가|أصلح صفحة الدخول|
    Melde dich an|Füge Login hinzu|Korrigiere den Parser|Warum ist CI rot?|corrige le parseur|ajoute des tests|
    Pourquoi la page est lente ?|arregla el login|añade pruebas|¿Por qué falla?|README aktualisieren|修复登录页面|
    添加单元测试|为什么构建失败？|src/app.py|pydantic-Update einspielen|DECIMAL|
    Rechnungsversandbestätigung|重构账单模块"""


@pytest.mark.parametrize("asked", [one for words in (GERMAN, FRENCH, SPANISH, CHINESE) for one in words.split("|")])
def test_a_word_alone_goes_on_in_any_language(asked: str) -> None:
    longer = {
        "mach weiter",
        "ja bitte",
        "führe die Tests aus",
        "oui merci",
        "lance les tests",
        "otra vez",
        "de acuerdo",
    }
    assert goes_on(asked) == (asked not in {*longer, "ejecuta las pruebas", "再试一次", "运行测试"})


@pytest.mark.parametrize("asked", OTHERS.split("|"))
def test_a_word_alone_goes_on_in_any_script(asked: str) -> None:
    assert goes_on(asked.strip())


@pytest.mark.parametrize(
    ("asked", "earlier"),
    [(one, True) for one in "continue|carry on|weiter|sigue|продолжай|继续|続けて|계속해줘|تابع|जारी|ต่อไป".split("|")]
    + [(one, False) for one in "yes|danke|oui|はい|commit it".split("|")],
)
def test_a_request_for_the_rest_is_told_from_an_answer(asked: str, earlier: bool) -> None:
    assert resumes(terms(asked)) == earlier


@pytest.mark.parametrize("asked", NAMED.split("|"))
def test_work_that_is_named_in_another_language_stands_for_itself(asked: str) -> None:
    assert not goes_on(asked.strip())
