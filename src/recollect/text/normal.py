"""What every stored text goes through: characters that no engine or file may hold are taken out."""

from __future__ import annotations


def clean(text: str) -> str:
    """NUL dropped, lone surrogates made visible; everything else stays as it was written."""
    if "\x00" in text:
        text = text.replace("\x00", "")
    return text.encode("utf-8", "replace").decode("utf-8") if not text.isascii() else text
