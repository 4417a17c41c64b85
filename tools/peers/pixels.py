"""Our samples compared with torchvision's of the same crops: how far their pixels differ, in steps of 256.

torchvision crops and resizes what Pillow decoded (antialiased, as PIL images always are), and what its own
decoder gave as a tensor, with antialias=True. Sizes from 224 down, so that images are decoded at smaller sizes too.
"""

import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

import numpy
import torch
import torchvision.io
import torchvision.transforms.functional as F
from PIL import Image
from torchvision.transforms import InterpolationMode

HERE = pathlib.Path(__file__).resolve().parent
GOAL = 2.0  # mean difference of an image


def theirs(path, crop, flip, size, decoded_by):
    left, top, width, height = crop
    if decoded_by == "pillow":
        image = Image.open(path).convert("RGB")
    else:
        image = torchvision.io.decode_jpeg(torchvision.io.read_file(str(path)), torchvision.io.ImageReadMode.RGB)
    image = F.resized_crop(image, top, left, height, width, [size, size], InterpolationMode.BILINEAR, antialias=True)
    if flip:
        image = F.hflip(image)
    return numpy.asarray(image if decoded_by == "pillow" else image.permute(1, 2, 0), dtype=numpy.int16)


def compare(program, data, size, seed):
    """Mean differences by decoder and by the eighths that we decoded at."""
    with tempfile.NamedTemporaryFile() as file:
        lines = subprocess.run([program, "samples", str(data), str(size), file.name, str(seed)], check=True,
                               capture_output=True, text=True).stdout.splitlines()
        ours = numpy.fromfile(file.name, dtype=numpy.uint8).reshape(len(lines), size, size, 3).astype(numpy.int16)
    rows = {}
    for sample, line in zip(ours, map(json.loads, lines)):
        for decoder in ("pillow", "torchvision.io"):
            differences = numpy.abs(sample - theirs(data / line["name"], line["crop"], line["flip"], size, decoder))
            rows.setdefault((decoder, line["eighths"]), []).append((differences.mean(), differences.max()))
    return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, required=True, help="build folder with peers_loading")
    parser.add_argument("--data", type=pathlib.Path, help="a folder with JPEG files; else the synthetic images")
    parser.add_argument("--sizes", type=lambda text: [int(one) for one in text.split(",")], default=[224, 112, 64, 32])
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    program = str(options.build / "tools" / "peers" / "peers_loading")
    data = options.data or pathlib.Path(subprocess.run([program, "folder"], check=True, capture_output=True,
                                                       text=True).stdout.strip())
    torch.set_num_threads(1)
    worst = 0
    print("| size | decoded at | compared with | images | mean difference | worst image's mean | worst value |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    for size in options.sizes:
        for (decoder, eighths), found in sorted(compare(program, data, size, options.seed).items()):
            means = [mean for mean, _ in found]
            worst = max(worst, max(means))
            print(f"| {size} | {eighths}/8 | {decoder} | {len(found)} | {sum(means) / len(means):.3f} | {max(means):.3f} "
                  f"| {max(value for _, value in found)} |")
    print(f"\nWorst image's mean: {worst:.3f}; the goal is at most {GOAL}: {'met' if worst <= GOAL else 'NOT met'}.")
    return 0 if worst <= GOAL else 1


if __name__ == "__main__":
    sys.exit(main())
