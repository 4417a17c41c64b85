#!/usr/bin/env python3
"""What torchvision makes of a photograph-like image: picture.jpg and pixels.json, which a test of the loader reads.

The whole image, flipped or not, resized with antialiasing to bytes: no crop is drawn, so that no random numbers
need to agree. Run where torchvision is installed; the files are kept, so that the tests need none.
"""

import json
import pathlib

import numpy
import PIL.Image
import torchvision

HERE = pathlib.Path(__file__).parent
WIDTH, HEIGHT = 240, 180
EVERY = 4  # rows are kept


def picture():
    """Clouds at several scales under a few hard edges."""
    random = numpy.random.RandomState(7)
    image = numpy.zeros((HEIGHT, WIDTH, 3))
    for cells, height in ((4, 90), (12, 50), (40, 25), (120, 10)):
        cloud = random.uniform(-1, 1, (cells * 3 // 4, cells, 3)).astype(numpy.float32)
        for channel in range(3):
            layer = PIL.Image.fromarray(cloud[:, :, channel]).resize((WIDTH, HEIGHT), PIL.Image.BICUBIC)
            image[:, :, channel] += height * numpy.asarray(layer)
    image += 128
    image[40:120, 60:64] = 20
    image[100:104, 20:220] = (240, 200, 30)
    return PIL.Image.fromarray(image.clip(0, 255).astype(numpy.uint8))


def main():
    file = HERE / "picture.jpg"
    picture().save(file, quality=88)
    decoded = torchvision.io.decode_jpeg(torchvision.io.read_file(str(file)))
    functional = torchvision.transforms.functional
    cases = []
    for size, flip in ((24, False), (24, True), (48, False), (96, True), (160, False)):
        resized = functional.resized_crop(decoded, 0, 0, HEIGHT, WIDTH, [size, size],
                                          functional.InterpolationMode.BILINEAR, antialias=True)
        if flip:
            resized = functional.hflip(resized)
        rows = resized.permute(1, 2, 0).contiguous().numpy()
        cases.append({"size": size, "flip": flip, "every": EVERY,
                      "rows": [row.tobytes().hex() for row in rows[::EVERY]]})
    (HERE / "pixels.json").write_text(
        json.dumps({"torchvision": torchvision.__version__, "cases": cases}, indent=1) + "\n")


if __name__ == "__main__":
    main()
