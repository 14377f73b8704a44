"""What one kind of job takes over from `[models]`, and what it must not."""

from __future__ import annotations

from typing import Any

import pytest

from recollect.core.settings import ModelSettings
from recollect.models.configured import job_of

GENERAL: dict[str, Any] = {
    "provider": "openai",
    "model": "gpt-large",
    "base_url": "https://models.example.org/v1",
    "key_env": "TEAM_KEY",
    "key_command": ("pass", "show", "team"),
    "seconds": 90.0,
    "price_in": 3.0,
    "price_out": 15.0,
}


def daily(**wish: Any) -> Any:
    return job_of(ModelSettings(**GENERAL, jobs=(("daily", tuple(wish.items())),)), "daily")


@pytest.mark.parametrize(
    "wish",
    [{"provider": "anthropic", "model": "claude"}, {"base_url": "http://localhost:11434/v1"}],
    ids=["another provider", "another address"],
)
def test_a_key_is_not_sent_to_another_place(wish: dict[str, Any]) -> None:
    job = daily(**wish)
    assert (job.key_env, job.key_command) == ("", ())
    assert daily(**wish, key_env="OTHER").key_env == "OTHER"


def test_another_provider_is_not_asked_at_the_general_address() -> None:
    assert daily(provider="anthropic", model="claude").base_url == ""


def test_the_price_of_one_model_is_not_another_models_price() -> None:
    assert (daily(model="gpt-small").price_in, daily(model="gpt-small").price_out) == (0.0, 0.0)
    assert daily(model="gpt-small", price_in=0.5).price_in == 0.5


def test_what_a_job_does_not_say_is_as_for_all_jobs() -> None:
    job = daily(seconds=5)
    assert (job.seconds, job.model, job.key_env, job.price_in) == (5.0, "gpt-large", "TEAM_KEY", 3.0)
    assert daily(model="gpt-small").key_env == "TEAM_KEY"
    assert daily(provider="openai").model == "gpt-large"
