"""Our ResNet-50 on a GPU beside PyTorch's on the same card, in turns within one run.

PyTorch runs as its users run it fast: channels-last, cudnn.benchmark, autocast for fp16 and bf16. Times are between
CUDA events on both sides. Memory: our tracked peak beside torch.cuda.max_memory_reserved().
"""

import argparse
import json
import pathlib
import sys

from competition import compete
from statistics_of_rounds import ratio

# (mode, dtype, batch, launch, goal): what the comparison is for.
CASES = [
    ("infer", "fp16", 64, "stream", 1.0), ("infer", "fp16", 256, "stream", 1.0), ("infer", "fp16", 1, "graph", 1.5),
    ("infer", "tf32", 64, "stream", 1.0), ("infer", "fp32", 64, "stream", 1.0),
    ("train", "fp16", 64, "stream", 1.0), ("train", "fp16", 256, "stream", 1.0),
    ("train", "fp32", 64, "stream", 1.0),
]


def torch_side(mode, dtype, batch, warm_up):
    """PyTorch's contestant, speaking the protocol of contestant.h."""
    import torch
    import torchvision

    torch.backends.cudnn.benchmark = True
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = dtype == "tf32"
    half = {"fp16": torch.float16, "bf16": torch.bfloat16}.get(dtype)
    trains = mode == "train"
    torch.manual_seed(1)
    model = torchvision.models.resnet50(weights=None).train(trains).cuda().to(memory_format=torch.channels_last)
    image = (torch.rand(batch, 3, 224, 224, device="cuda") * 2 - 1).to(memory_format=torch.channels_last)
    if half is not None and not trains:
        model, image = model.to(half), image.to(half)
    labels = torch.arange(batch, device="cuda") * 7 % 1000
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-2)
    criterion = torch.nn.CrossEntropyLoss()
    scaler = torch.amp.GradScaler("cuda", enabled=trains and dtype == "fp16")

    def run():
        if not trains:
            with torch.inference_mode():
                model(image)
            return
        optimizer.zero_grad(set_to_none=True)
        with torch.autocast("cuda", dtype=half, enabled=half is not None):
            loss = criterion(model(image), labels)
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()

    start, stop = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)

    def step():
        torch.cuda.synchronize()
        start.record()
        run()
        stop.record()
        stop.synchronize()
        return int(start.elapsed_time(stop) * 1e6)

    for _ in range(warm_up):
        step()
    print(json.dumps({"ready": True, "built_bytes": torch.cuda.memory_reserved(),
                      "about": {"torch": torch.__version__, "cudnn": torch.backends.cudnn.version()}}), flush=True)
    for line in sys.stdin:
        verb, count = line.split()
        if verb != "go":
            raise ValueError(f"expected 'go N', got {line!r}")
        step()
        samples = [step() for _ in range(int(count))]
        print(json.dumps({"ns": samples, "peak_bytes": torch.cuda.max_memory_reserved()}), flush=True)


def commands(options, mode, dtype, batch, launch):
    optimizer = ["sgd"] if mode == "train" else []
    yield "ours", [options.ours, "resnet50", dtype, str(batch), "5", *optimizer, f"device={options.device}", f"launch={launch}"]
    yield "torch", [sys.executable, __file__, "--torch", mode, dtype, str(batch), "5"]


def main():
    if "--torch" in sys.argv:
        mode, dtype, batch, warm_up = sys.argv[sys.argv.index("--torch") + 1:][:4]
        return torch_side(mode, dtype, int(batch), int(warm_up))
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--ours", required=True, help="the program peers_ours")
    parser.add_argument("--device", default="cuda:0")
    parser.add_argument("--out", type=pathlib.Path, required=True)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    options.turn, options.seed, options.threads = 0.4, 1, 4

    rows = []
    for mode, dtype, batch, launch, goal in CASES:
        row = {"mode": mode, "dtype": dtype, "batch": batch, "launch": launch, "goal": goal}
        try:
            results = compete(f"{mode} {dtype} {batch}", commands(options, mode, dtype, batch, launch), options)
            value, low, high = ratio(results["torch"]["rounds_ns"], results["ours"]["rounds_ns"])
            row |= {"ratio": value, "ci95": [low, high], "results": results}
        except RuntimeError as error:
            row["error"] = str(error)
        rows.append(row)
        (options.out / "gpu-peers.json").write_text(json.dumps({"rows": rows}, indent=1), encoding="utf-8")

    lines = ["mode   dtype  batch  launch  ours ms  torch ms  ratio (95 %)       goal  ours MiB  torch MiB"]
    for row in rows:
        head = f"{row['mode']:<6} {row['dtype']:<6} {row['batch']:>5}  {row['launch']:<6}"
        if "error" in row:
            lines.append(f"{head}  not measured: {row['error']}")
            continue
        ours, theirs = row["results"]["ours"], row["results"]["torch"]
        lines.append(f"{head}  {ours['median_ns'] / 1e6:>7.2f}  {theirs['median_ns'] / 1e6:>8.2f}  "
                     f"{row['ratio']:.2f} ({row['ci95'][0]:.2f}–{row['ci95'][1]:.2f})  ≥ {row['goal']:.1f}  "
                     f"{ours['about']['tracked_peak_bytes'] / 2**20:>8.0f}  {theirs['peak_bytes'] / 2**20:>9.0f}")
    table = "\n".join(lines) + "\n"
    (options.out / "gpu-peers.txt").write_text(table, encoding="utf-8")
    print(table)
    return 0 if all("error" not in row for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
