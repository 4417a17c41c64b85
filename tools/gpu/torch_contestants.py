"""PyTorch's side of gpu_peers.py: one process for all cases, for importing it takes as long as measuring a case.

    (at start)                     {"ready": true, "about": {…}}, or {"missing": "…"} where it cannot be compared with
    case NAME ARGUMENTS…           {"built_bytes": …, "about": {…}} after building and warming up, or {"missing": "…"}
    go N                           {"ns": [N step times], "peak_bytes": …}; one more step, untimed, comes first
    end                            {"ended": true}; the case's memory is given back
    (end of input)                 the process ends

The cases are resnet50 infer|train DTYPE BATCH [compiled], gemm DTYPE SIZE and copy h2d|d2h BYTES. A case that finds no memory is
answered {"error": "out of memory: …"} and given up; so is, as missing, one that torch.compile does not compile here. Any other
error ends the process: the card's state is not known after it.

PyTorch runs with its usual fast settings: channels-last, cudnn.benchmark, autocast for fp16 and bf16 in training. A step's
time is between two CUDA events.
"""

import gc
import json
import sys

# Different images in a batch: as many as ours has, see kernels/workloads/network/infer.cpp and train.cpp.
DISTINCT = {"infer": 2, "train": 8}


def images(torch, distinct, batch):
    """A batch that repeats so many random images: repeated values toggle fewer bits, and a card's clock rises with that."""
    image = torch.rand(distinct, 3, 224, 224, device="cuda") * 2 - 1
    return image.repeat(-(-batch // distinct), 1, 1, 1)[:batch].contiguous(memory_format=torch.channels_last)


class NotCompiled(Exception):
    pass


def compiled(torch, model, image):
    """The first call compiles, by Triton and the machine's C compiler."""
    model = torch.compile(model)
    try:
        with torch.inference_mode():
            model(image)
    except torch.cuda.OutOfMemoryError:
        raise
    except Exception as error:  # whatever its parts raise
        raise NotCompiled(f"torch.compile: {type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}") from None
    return model


def resnet50(torch, mode, dtype, batch, how="eager"):
    import torchvision

    half = {"fp16": torch.float16, "bf16": torch.bfloat16}.get(dtype)
    trains = mode == "train"
    model = torchvision.models.resnet50(weights=None).train(trains).cuda().to(memory_format=torch.channels_last)
    image = images(torch, DISTINCT[mode], int(batch))
    if half is not None and not trains:
        model, image = model.to(half), image.to(half)
    if how == "compiled":
        model = compiled(torch, model, image)
    labels = torch.arange(int(batch), device="cuda") * 7 % 1000
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
    size = int(size)
    kind = {"fp16": torch.float16, "bf16": torch.bfloat16}.get(dtype, torch.float32)
    left, right = ((torch.rand(size, size, device="cuda") * 2 - 1).to(kind) for _ in range(2))
    result = torch.empty(size, size, device="cuda", dtype=kind)
    # Ours multiplies with weights as they are stored, [out][in].
    return lambda: torch.mm(left, right.t(), out=result)


def copy(torch, direction, size):
    host = torch.randint(0, 256, (int(size),), dtype=torch.uint8).pin_memory()
    device = host.cuda()
    to, source = (device, host) if direction == "h2d" else (host, device)
    return lambda: to.copy_(source, non_blocking=True)


def configure(torch, name, dtype):
    """Every setting that any case changes: the one before left its own."""
    torch.manual_seed(1)
    torch.backends.cudnn.benchmark = True
    matmul = torch.backends.cuda.matmul
    matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = dtype == "tf32"
    # A bare product sums in fp32, as ours does; networks run as PyTorch runs them by itself.
    matmul.allow_fp16_reduced_precision_reduction = matmul.allow_bf16_reduced_precision_reduction = name != "gemm"


class Case:
    """A workload, ready to be timed."""

    WARM_UP_NS, WARM_UP_STEPS = 50e6, 200  # as the runner's

    def __init__(self, torch, name, *arguments):
        configure(torch, name, arguments[1 if name == "resnet50" else 0])
        self.torch = torch
        self.events = [torch.cuda.Event(enable_timing=True) for _ in range(2)]
        self.workload = {"resnet50": resnet50, "gemm": gemm, "copy": copy}[name](torch, *arguments)
        steps, ns = 0, 0
        while steps < 2 or (steps < self.WARM_UP_STEPS and ns < self.WARM_UP_NS):  # the first chooses algorithms
            ns += self.step()
            steps += 1

    def step(self):
        start, stop = self.events
        self.torch.cuda.synchronize()
        start.record()
        self.workload()
        stop.record()
        stop.synchronize()
        return int(start.elapsed_time(stop) * 1e6)

    def go(self, steps):
        self.step()
        return [self.step() for _ in range(steps)]


def give_back(torch):
    """Returns all memory to the driver, and starts the peak again from there."""
    if "torch._dynamo" in sys.modules:
        torch._dynamo.reset()  # what it compiled holds the model
    gc.collect()
    # The products' workspaces are cached apart from other memory, since PyTorch 1.12.
    getattr(torch._C, "_cuda_clearCublasWorkspaces", lambda: None)()
    torch.cuda.synchronize()
    torch.cuda.empty_cache()
    torch.cuda.reset_peak_memory_stats()


def serve(torch, lines, say):
    case = None
    for line in lines:
        verb, *words = line.split()
        try:
            if verb == "case":
                case = Case(torch, *words)
                say({"built_bytes": torch.cuda.memory_reserved(),
                     "about": {"torch": torch.__version__, "cudnn": torch.backends.cudnn.version()}})
            elif verb == "go":
                say({"ns": case.go(int(words[0])), "peak_bytes": torch.cuda.max_memory_reserved()})
            elif verb == "end":
                case = None
                give_back(torch)
                say({"ended": True})
            else:
                raise ValueError(f"expected 'case', 'go' or 'end', got {line!r}")
        except torch.cuda.OutOfMemoryError as error:
            answer = {"error": f"out of memory: {str(error).splitlines()[0]}"}
        except NotCompiled as error:
            answer = {"missing": str(error)}
        else:
            continue
        # The error held the frames that hold the memory, as long as it was being handled.
        case = None
        give_back(torch)
        say(answer)


def main():
    def say(answer):
        print(json.dumps(answer), flush=True)

    try:
        import torch
        import torchvision  # missed here rather than in the first case
    except Exception as error:  # whatever a broken install raises
        say({"missing": f"{type(error).__name__}: {error}"})
        return
    if not torch.cuda.is_available():
        say({"missing": "PyTorch sees no GPU"})
        return
    say({"ready": True, "about": {"torch": torch.__version__}})
    serve(torch, sys.stdin, say)


if __name__ == "__main__":
    main()
