"""PyTorch's side of gpu_peers.py, speaking the protocol of tools/peers/contestant.h.

PyTorch runs with its usual fast settings: channels-last, cudnn.benchmark, autocast for fp16 and bf16 in training. A step's
time is between two CUDA events.

    torch_contestants.py resnet50 infer|train DTYPE BATCH WARM_UP
    torch_contestants.py gemm DTYPE SIZE WARM_UP
    torch_contestants.py copy h2d|d2h BYTES WARM_UP
"""

import json
import sys


def resnet50(torch, mode, dtype, batch):
    import torchvision

    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = dtype == "tf32"
    half = {"fp16": torch.float16, "bf16": torch.bfloat16}.get(dtype)
    trains = mode == "train"
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

    return run


def gemm(torch, dtype, size):
    torch.backends.cuda.matmul.allow_tf32 = dtype == "tf32"
    kind = {"fp16": torch.float16, "bf16": torch.bfloat16}.get(dtype, torch.float32)
    # Sums in fp32, as ours are.
    torch.backends.cuda.matmul.allow_fp16_reduced_precision_reduction = False
    torch.backends.cuda.matmul.allow_bf16_reduced_precision_reduction = False
    left, right = ((torch.rand(size, size, device="cuda") * 2 - 1).to(kind) for _ in range(2))
    result = torch.empty(size, size, device="cuda", dtype=kind)
    return lambda: torch.mm(left, right, out=result)


def copy(torch, direction, size):
    host = torch.randint(0, 256, (size,), dtype=torch.uint8).pin_memory()
    device = host.cuda()
    to, source = (device, host) if direction == "h2d" else (host, device)
    return lambda: to.copy_(source, non_blocking=True)


def serve(torch, run, warm_up):
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


def main():
    import torch

    torch.backends.cudnn.benchmark = True
    torch.manual_seed(1)
    what, *rest, warm_up = sys.argv[1:]
    if what == "gemm":
        dtype, size = rest
        run = gemm(torch, dtype, int(size))
    elif what == "copy":
        direction, size = rest
        run = copy(torch, direction, int(size))
    else:
        mode, dtype, batch = rest
        run = resnet50(torch, mode, dtype, int(batch))
    try:
        serve(torch, run, int(warm_up))
    except torch.cuda.OutOfMemoryError as error:
        sys.exit(f"out of memory: {str(error).splitlines()[0]}")


if __name__ == "__main__":
    main()
