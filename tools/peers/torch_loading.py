"""PyTorch's contestant in loading: a DataLoader over JPEG files, speaking the protocol of contestant.h.

A turn is as in loading.h: new workers, the batches that they make ahead untimed, then as many as asked for, rounded
up to whole rounds of the workers; the answer is the mean time of one.
"""

import argparse
import json
import pathlib
import sys
import tempfile
import time

import torch
import torchvision
from torchvision import transforms

from contestant import Memory

PREFETCH = 2  # batches a worker, the default
NORMALIZE = transforms.Normalize((0.485, 0.456, 0.406), (0.229, 0.224, 0.225))


class DecodedByTorchvision(torch.utils.data.Dataset):
    """torchvision.io: libjpeg-turbo to a tensor, transforms on tensors."""

    def __init__(self, folder):
        self.files = sorted(str(path) for path in folder.glob("*.jpg"))
        self.transform = transforms.Compose([
            transforms.RandomResizedCrop(224, antialias=True), transforms.RandomHorizontalFlip(),
            transforms.ConvertImageDtype(torch.float), NORMALIZE])

    def __len__(self):
        return len(self.files)

    def __getitem__(self, index):
        encoded = torchvision.io.read_file(self.files[index])
        return self.transform(torchvision.io.decode_jpeg(encoded, torchvision.io.ImageReadMode.RGB)), 0


def decoded_by_pillow(classes):
    """The commonest way: ImageFolder, transforms on Pillow's images."""
    return torchvision.datasets.ImageFolder(classes, transforms.Compose([
        transforms.RandomResizedCrop(224), transforms.RandomHorizontalFlip(), transforms.ToTensor(), NORMALIZE]))


class Endless(torch.utils.data.Sampler):
    """Every image once, in an order of its own, again and again."""

    def __init__(self, size):
        super().__init__(None)
        self.size = size

    def __iter__(self):
        while True:
            yield from torch.randperm(self.size).tolist()


def turn(data, batch, workers, steps):
    """Mean time in ns of a batch."""
    loader = torch.utils.data.DataLoader(data, batch, sampler=Endless(len(data)), num_workers=workers,
                                         **({"prefetch_factor": PREFETCH} if workers else {}))
    batches = iter(loader)
    for _ in range(max(1, workers * PREFETCH)):
        next(batches)
    count = -(-steps // max(1, workers)) * max(1, workers)
    start = time.perf_counter_ns()
    for _ in range(count):
        next(batches)
    elapsed = time.perf_counter_ns() - start
    del batches  # its workers end
    return elapsed / count


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("decoder", choices=("pillow", "torchvision"))
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("batch", type=int)
    parser.add_argument("workers", type=int)
    parser.add_argument("threads", type=int)
    options = parser.parse_args()
    torch.set_num_threads(options.threads)  # a worker process always has one
    torch.manual_seed(1)
    with tempfile.TemporaryDirectory() as classes:
        (pathlib.Path(classes) / "class").symlink_to(options.folder)
        memory = Memory()
        data = (DecodedByTorchvision(options.folder) if options.decoder == "torchvision"
                else decoded_by_pillow(classes))
        print(json.dumps({"ready": True, "built_bytes": memory.growth(),
                          "about": {"workers": options.workers, "batch": options.batch}}), flush=True)
        for line in sys.stdin:
            verb, count = line.split()
            if verb != "go":
                raise ValueError(f"expected 'go N', got {line!r}")
            print(json.dumps({"ns": [turn(data, options.batch, options.workers, int(count))],
                              "peak_bytes": memory.growth()}), flush=True)


if __name__ == "__main__":
    main()
