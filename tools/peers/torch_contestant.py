"""PyTorch's contestant: ResNet-50 of torchvision, speaking the protocol of contestant.h."""

import argparse
import time

import torch
import torchvision

from contestant import Memory, serve

VARIANTS = ("eager-nchw", "eager-channels-last", "script", "bf16-nchw", "bf16-channels-last", "train-nchw",
            "train-channels-last")
RATES = {"sgd": 1e-2, "momentum": 1e-2, "adam": 1e-3}


def build(variant, batch):
    """The network in its variant's form, and an input for it."""
    model = torchvision.models.resnet50(weights=None).train(variant.startswith("train"))
    image = torch.rand(batch, 3, 224, 224) * 2 - 1
    if variant.startswith("bf16"):
        model, image = model.to(torch.bfloat16), image.to(torch.bfloat16)
    if variant.endswith("channels-last"):
        model = model.to(memory_format=torch.channels_last)
        image = image.to(memory_format=torch.channels_last)
    if variant == "script":
        model = torch.jit.optimize_for_inference(torch.jit.freeze(torch.jit.script(model)))
    return model, image


def training_step(model, image, optimizer_name):
    """Forward, loss, backward, optimizer: everything a step of training is, but the data."""
    rate = RATES[optimizer_name]
    if optimizer_name == "adam":
        optimizer = torch.optim.Adam(model.parameters(), lr=rate)
    else:
        optimizer = torch.optim.SGD(model.parameters(), lr=rate, momentum=0.9 if optimizer_name == "momentum" else 0)
    labels = torch.arange(image.shape[0]) * 7 % 1000
    criterion = torch.nn.CrossEntropyLoss()

    def run():
        optimizer.zero_grad(set_to_none=True)
        criterion(model(image), labels).backward()
        optimizer.step()

    return run


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("variant", choices=VARIANTS)
    parser.add_argument("batch", type=int)
    parser.add_argument("warm_up", type=int)
    parser.add_argument("threads", type=int)
    parser.add_argument("optimizer", choices=RATES, nargs="?", default="sgd")
    options = parser.parse_args()

    # Debian's build starts with one thread.
    torch.set_num_threads(options.threads)
    torch.manual_seed(1)
    trains = options.variant.startswith("train")

    with torch.inference_mode(not trains):
        # Thread pool, allocator and library are there before memory counts, as they are in every process.
        torch.nn.functional.conv2d(torch.rand(1, 3, 8, 8), torch.rand(8, 3, 3, 3))
        memory = Memory()
        model, image = build(options.variant, options.batch)
        run = training_step(model, image, options.optimizer) if trains else lambda: model(image)

        def step():
            start = time.perf_counter_ns()
            run()
            return time.perf_counter_ns() - start

        serve(memory, {"threads": torch.get_num_threads()}, options.warm_up, step)


if __name__ == "__main__":
    main()
