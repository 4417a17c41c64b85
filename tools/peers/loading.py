"""Our loader compared with PyTorch's DataLoader and with bare decoding, at several worker counts."""

import subprocess

from competition import compete
from statistics_of_rounds import ratio

BATCH = 16
WORKERS = (0, 1, 2, 4, 32)
DECODERS = ("pillow", "torchvision")
DATA_GOAL = 2.8  # times the DataLoader's images a second, at as many workers as cores
BARE_GOAL = 1.0  # times bare full decoding's, by as many threads as cores
MANY_GOAL = 0.95  # of our best, with 32 workers


def commands(tools, folder, workers):
    program = str(tools.folder / "peers_loading")
    for count in workers:
        yield f"ours-{count}", [program, "pool", folder, str(BATCH), str(count)]
        for decoder in DECODERS:
            yield f"torch-{decoder}-{count}", tools.torch_loading(decoder, folder, BATCH, count)
    yield f"bare-{tools.threads}", [program, "bare", folder, str(BATCH), str(tools.threads)]


def compare(results, cores):
    """Times a batch, theirs over ours, against the goals."""
    ours = f"ours-{cores}"
    most = max(WORKERS)
    best = min((name for name in results if name.startswith("ours-")), key=lambda name: results[name]["median_ns"])
    pairs = [(f"PyTorch's DataLoader with {decoder}, {cores} workers", ours, f"torch-{decoder}-{cores}", DATA_GOAL)
             for decoder in DECODERS]
    pairs.append((f"bare full decoding in {cores} threads", ours, f"bare-{cores}", BARE_GOAL))
    pairs.append((f"our best, with {best.removeprefix('ours-')} workers", f"ours-{most}", best, MANY_GOAL))
    rows = []
    for words, mine, theirs, goal in pairs:
        value, low, high = ratio(results[theirs]["rounds_ns"], results[mine]["rounds_ns"])
        rows.append({"beside": words, "ours": mine, "theirs": theirs, "ratio": value, "ci95": [low, high],
                     "goal": goal, "met": low >= goal})
    return rows


def speed(tools, options):
    """The whole page's measurement."""
    folder = subprocess.run([str(tools.folder / "peers_loading"), "folder"], check=True, capture_output=True,
                            text=True).stdout.strip()
    workers = sorted({*WORKERS, tools.threads})
    results = compete("loading", commands(tools, folder, workers), options)
    return {"batch": BATCH, "workers": workers, "results": results, "speed": compare(results, tools.threads)}
