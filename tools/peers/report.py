"""The comparison as a page people read."""

WORDS = {"eager": "PyTorch eager fp32, better memory format", "script": "TorchScript optimize_for_inference fp32",
         "bf16": "PyTorch eager bf16, better memory format", "bare": "bare convolutions fp32",
         "bare-bf16": "bare convolutions bf16"}


def mib(count):
    return f"{count / 2**20:,.0f}"


def yes(met):
    return "yes" if met else "**no**"


def table(head, rows):
    lines = ["| " + " | ".join(head) + " |", "|" + " --- |" * len(head)]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows])


def speed_rows(document):
    for entry in document["batches"]:
        for pair in entry["speed"]:
            low, high = pair["ci95"]
            yield [str(entry["batch"]), WORDS[pair["name"]], f"{entry['results'][pair['theirs']]['median_ns'] / 1e6:,.1f}",
                   f"{entry['results'][pair['ours']]['median_ns'] / 1e6:,.1f}", f"{pair['ratio']:.2f}",
                   f"{low:.2f}–{high:.2f}", f"≥ {pair['goal']}", yes(pair["met"])]


def memory_rows(document):
    for entry in document["batches"]:
        for pair in entry["memory"]:
            yield [str(entry["batch"]), pair["ours"], mib(pair["ours_bytes"]), pair["theirs"], mib(pair["theirs_bytes"]),
                   yes(pair["met"])]


def all_rows(document):
    for entry in document["batches"]:
        for name, result in entry["results"].items():
            yield [str(entry["batch"]), name, f"{result['median_ns'] / 1e6:,.1f}",
                   f"{entry['batch'] * 1e9 / result['median_ns']:,.1f}", mib(result["peak_bytes"])]


def markdown(document):
    machine, versions = document["machine"], document["versions"]
    met = [pair["met"] for entry in document["batches"] for pair in entry["speed"] + entry["memory"]]
    met += [goal["met"] for goal in document["harness"]["goals"]]
    harness_rows = [[goal["name"], f"{goal['value']:.3g} {goal['unit']}", f"< {goal['below']} {goal['unit']}",
                     yes(goal["met"])] for goal in document["harness"]["goals"]]
    return f"""# ResNet-50 inference beside PyTorch

Written by `make peers`; don't edit. {sum(met)} of {len(met)} goals met.

- Date: {document['date']}
- Machine: {machine['processor']}, {machine['threads']} threads each, {machine['memory_bytes'] / 2**30:.1f} GiB, Linux {machine['kernel']}
- Versions: bench {versions['bench']}; PyTorch {versions['torch']} (oneDNN {versions['onednn_of_torch']}), torchvision {versions['torchvision']}; {versions['compiler']}
- {document['rounds']} rounds, contestants in shuffled turns of about {document['turn_s']} s, one running at a time

## Speed

Step times in ms, image size 224. Ratio: their time over ours, the median over rounds with its 95 % interval.
Bare convolutions are the network's 53 convolutions alone, as oneDNN runs them best: 1.00 would mean that everything else is free.

{table(["batch", "beside", "theirs, ms", "ours, ms", "ratio", "95 %", "goal", "met"], speed_rows(document))}

## Peak memory

MiB of resident memory at its highest, less what the process held before the network was built. Goal: below PyTorch's.

{table(["batch", "ours", "MiB", "theirs", "MiB", "met"], memory_rows(document))}

## The harness

{table(["what", "measured", "goal", "met"], harness_rows)}

## Every contestant

{table(["batch", "contestant", "ms a step", "images/s", "peak MiB"], all_rows(document))}
"""
