"""ResNet-50's training step compared with PyTorch's: forward, softmax cross-entropy, backward, optimizer."""

from competition import compete
from statistics_of_rounds import ratio

OPTIMIZERS = ("sgd", "momentum", "adam")
LAYOUTS = ("nchw", "channels-last")
SPEED_GOAL = 1.7


def commands(tools, optimizers, batch, warm_up):
    for optimizer in optimizers:
        yield f"ours-{optimizer}", tools.ours("fp32", batch, warm_up, optimizer)
        for layout in LAYOUTS:
            yield f"torch-{layout}-{optimizer}", tools.torch(f"train-{layout}", batch, warm_up, optimizer)


def faster(results, optimizer):
    return min((f"torch-{layout}-{optimizer}" for layout in LAYOUTS), key=lambda name: results[name]["median_ns"])


def speed(tools, batch, options):
    """One batch with SGD: the goal's comparison."""
    results = compete(f"training, batch {batch}", commands(tools, ("sgd",), batch, options.warm_up), options)
    theirs = faster(results, "sgd")
    value, low, high = ratio(results[theirs]["rounds_ns"], results["ours-sgd"]["rounds_ns"])
    mine, other = results["ours-sgd"]["peak_bytes"], results[theirs]["peak_bytes"]
    return {"batch": batch, "results": results, "theirs": theirs, "ratio": value, "ci95": [low, high],
            "goal": SPEED_GOAL, "met": low >= SPEED_GOAL, "ours_bytes": mine, "theirs_bytes": other,
            "memory_met": mine < other}


def memory(tools, batch, options):
    """Our plan compared with what PyTorch takes, for every optimizer: an honest figure, no goal."""
    rows = []
    for optimizer in OPTIMIZERS:
        brief = type("Brief", (), dict(vars(options), rounds=1, turn=0))()
        results = compete(f"memory with {optimizer}, batch {batch}", commands(tools, (optimizer,), batch, 2), brief)
        theirs = min((f"torch-{layout}-{optimizer}" for layout in LAYOUTS), key=lambda name: results[name]["peak_bytes"])
        ours = results[f"ours-{optimizer}"]
        rows.append({"batch": batch, "optimizer": optimizer, "planned_bytes": ours["about"]["planned_peak_bytes"],
                     "ours_bytes": ours["peak_bytes"], "theirs": theirs,
                     "theirs_bytes": results[theirs]["peak_bytes"]})
    return rows
