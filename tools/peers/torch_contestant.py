"""PyTorch's contestant: ResNet-50 of torchvision, speaking the protocol of contestant.h."""

import argparse
import json
import sys
import time

import torch
import torchvision

VARIANTS = ("eager-nchw", "eager-channels-last", "script", "bf16-nchw", "bf16-channels-last")


def status_bytes(key):
    with open("/proc/self/status", encoding="ascii") as status:
        for line in status:
            if line.startswith(key + ":"):
                return int(line.split()[1]) * 1024
    raise RuntimeError(f"/proc/self/status has no {key}")


class Memory:
    """Highest resident memory since this was made, less what was resident then."""

    def __init__(self):
        with open("/proc/self/clear_refs", "w", encoding="ascii") as clear:
            clear.write("5\n")
        self.before = status_bytes("VmRSS")

    def growth(self):
        return status_bytes("VmHWM") - self.before


def build(variant, batch):
    """The network in its variant's form, and an input for it."""
    model = torchvision.models.resnet50(weights=None).eval()
    image = torch.rand(batch, 3, 224, 224) * 2 - 1
    if variant.startswith("bf16"):
        model, image = model.to(torch.bfloat16), image.to(torch.bfloat16)
    if variant.endswith("channels-last"):
        model = model.to(memory_format=torch.channels_last)
        image = image.to(memory_format=torch.channels_last)
    if variant == "script":
        model = torch.jit.optimize_for_inference(torch.jit.freeze(torch.jit.script(model)))
    return model, image


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("variant", choices=VARIANTS)
    parser.add_argument("batch", type=int)
    parser.add_argument("warm_up", type=int)
    parser.add_argument("threads", type=int)
    options = parser.parse_args()

    # Debian's build starts with one thread.
    torch.set_num_threads(options.threads)
    torch.manual_seed(1)

    with torch.inference_mode():
        # Thread pool, allocator and library are there before memory counts, as they are in every process.
        torch.nn.functional.conv2d(torch.rand(1, 3, 8, 8), torch.rand(8, 3, 3, 3))
        memory = Memory()
        model, image = build(options.variant, options.batch)

        def step():
            start = time.perf_counter_ns()
            model(image)
            return time.perf_counter_ns() - start

        for _ in range(options.warm_up):
            step()
        print(json.dumps({"ready": True, "built_bytes": memory.growth(),
                          "about": {"threads": torch.get_num_threads()}}), flush=True)
        for line in sys.stdin:
            verb, count = line.split()
            if verb != "go":
                raise ValueError(f"expected 'go N', got {line!r}")
            step()
            samples = [step() for _ in range(int(count))]
            print(json.dumps({"ns": samples, "peak_bytes": memory.growth()}), flush=True)


if __name__ == "__main__":
    main()
