"""Networks of ONNX files compared with onnxruntime and OpenVINO: speed and peak memory on a CPU."""

import pathlib
import subprocess
import tempfile

from competition import compete
from statistics_of_rounds import mean_ratio, ratio

NETWORKS = {"ResNet-50, 160 px": "resnet50_op13bn", "MobileNetV2": "mobilenetv2_100",
            "EfficientNet-B0": "efficientnet_b0", "ConvNeXt-Tiny": "convnext_tiny",
            "ViT-B/16": "vit_base_patch16_224", "BERT-base, 128 tokens": "hf_bert-base"}
RUNTIMES = {"fp32": ("onnxruntime", "openvino"), "bf16": ("openvino",)}
CELL_GOAL = 0.97
MEAN_GOAL = 1.1


def has_bf16():
    words = set(pathlib.Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").split())
    return bool({"avx512_bf16", "amx_bf16"} & words)


def compare(results, runtimes):
    """Theirs over ours, of the faster runtime; memory of both."""
    theirs = min(runtimes, key=lambda name: results[name]["median_ns"])
    value, low, high = ratio(results[theirs]["rounds_ns"], results["ours"]["rounds_ns"])
    mine = results["ours"]["peak_bytes"]
    least = min(results[name]["peak_bytes"] for name in runtimes)
    return {"theirs": theirs, "ratio": value, "ci95": [low, high], "goal": CELL_GOAL, "met": low >= CELL_GOAL,
            "ours_bytes": mine, "theirs_bytes": least, "memory_met": mine < least}


def cell(tools, network, dtype, batch, options):
    path = tools.network(NETWORKS[network])
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(tools.fill(path, folder, batch), check=True)
        commands = [("ours", tools.imported(path, dtype, batch, options.warm_up))]
        commands += [(name, tools.runtime(name, folder, dtype, options.warm_up)) for name in RUNTIMES[dtype]]
        results = compete(f"{network}, {dtype}, batch {batch}", commands, options)
    return {"network": network, "dtype": dtype, "batch": batch, "results": results,
            **compare(results, RUNTIMES[dtype])}


def mean(cells):
    """The geometric mean of all cells' ratios."""
    value, low, high = mean_ratio([(one["results"][one["theirs"]]["rounds_ns"], one["results"]["ours"]["rounds_ns"])
                                   for one in cells])
    return {"ratio": value, "ci95": [low, high], "goal": MEAN_GOAL, "met": low >= MEAN_GOAL}


def speed(tools, options):
    """The whole page's measurement."""
    dtypes = [dtype for dtype in RUNTIMES if dtype == "fp32" or has_bf16()]
    cells = [cell(tools, network, dtype, batch, options) for network in NETWORKS
             if options.network in NETWORKS[network] for dtype in dtypes for batch in options.onnx_batches]
    if not cells:
        raise RuntimeError(f"--network {options.network}: none of {', '.join(NETWORKS.values())}")
    return {"cells": cells, "mean": mean(cells)}
