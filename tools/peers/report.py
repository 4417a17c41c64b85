"""The comparison as a page people read."""

WORDS = {"eager": "PyTorch eager fp32, better memory format", "script": "TorchScript optimize_for_inference fp32",
         "bf16": "PyTorch eager bf16, better memory format", "bare": "bare convolutions fp32",
         "bare-bf16": "bare convolutions bf16"}


def mib(count):
    return f"{count / 2**20:,.0f}"


def yes(met):
    return "yes" if met else "**no**"


def shown(met):
    """Of a figure with an interval, which all has to meet the goal."""
    return "yes" if met else "**not shown**"


def table(head, rows):
    lines = ["| " + " | ".join(head) + " |", "|" + " --- |" * len(head)]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows])


def speed_rows(document):
    for entry in document["batches"]:
        for pair in entry["speed"]:
            low, high = pair["ci95"]
            yield [str(entry["batch"]), WORDS[pair["name"]], f"{entry['results'][pair['theirs']]['median_ns'] / 1e6:,.1f}",
                   f"{entry['results'][pair['ours']]['median_ns'] / 1e6:,.1f}", f"{pair['ratio']:.2f}",
                   f"{low:.2f}–{high:.2f}", f"≥ {pair['goal']}", shown(pair["met"])]


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


def head(title, met, document):
    machine, versions = document["machine"], document["versions"]
    return f"""# {title}

Written by `make peers`; don't edit. {sum(met)} of {len(met)} goals met.

- Date: {document['date']}
- Machine: {machine['processor']}, {machine['threads']} threads each, {machine['memory_bytes'] / 2**30:.1f} GiB, Linux {machine['kernel']}
- Versions: bench {versions['bench']}; PyTorch {versions['torch']} (oneDNN {versions['onednn_of_torch']}), torchvision {versions['torchvision']}; {versions['compiler']}
- {document['rounds']} rounds, contestants in shuffled turns of about {document['turn_s']} s, one running at a time
"""


def training_markdown(document):
    met = [met for entry in document["batches"] for met in (entry["met"], entry["memory_met"])]
    speed = [[str(entry["batch"]), entry["theirs"], f"{entry['results'][entry['theirs']]['median_ns'] / 1e6:,.0f}",
              f"{entry['results']['ours-sgd']['median_ns'] / 1e6:,.0f}", f"{entry['ratio']:.2f}",
              f"{entry['ci95'][0]:.2f}–{entry['ci95'][1]:.2f}", f"≥ {entry['goal']}", shown(entry["met"])]
             for entry in document["batches"]]
    memory = [[str(entry["batch"]), mib(entry["ours_bytes"]), mib(entry["theirs_bytes"]), yes(entry["memory_met"])]
              for entry in document["batches"]]
    planned = [[str(row["batch"]), row["optimizer"], mib(row["planned_bytes"]), mib(row["ours_bytes"]), row["theirs"],
                mib(row["theirs_bytes"]), f"{row['planned_bytes'] / row['theirs_bytes'] - 1:+.0%}"]
               for row in document["memory"]]
    return head("ResNet-50 training compared with PyTorch", met, document) + f"""
A step is forward, softmax cross-entropy, backward and optimizer, in fp32, image size 224; the batch is ready.
PyTorch's batch norm also keeps running statistics, which ours does not.

## Speed, with SGD

Step times in ms. Ratio: their time over ours, the median over rounds with its 95 % interval.

{table(["batch", "compared with (the better memory format)", "theirs, ms", "ours, ms", "ratio", "95 %", "goal", "met"], speed)}

## Peak memory, with SGD

Peak resident memory in MiB, less the memory that the process held before the network was built. Goal: below PyTorch's.

{table(["batch", "ours, MiB", "theirs, MiB", "met"], memory)}

## Our plan as a prediction of PyTorch's memory

The plan is that of our step. It does not model PyTorch's allocator, nor the tensors that its autograd keeps.

{table(["batch", "optimizer", "our plan, MiB", "ours, measured, MiB", "theirs (the smaller format)", "theirs, measured, MiB", "plan compared with theirs"], planned)}

## Every contestant

{table(["batch", "contestant", "ms a step", "images/s", "peak MiB"], all_rows(document))}
"""


def loading_markdown(document):
    batch, results = document["batch"], document["results"]

    def rate(name):
        return f"{batch * 1e9 / results[name]['median_ns']:,.0f}"

    goals = [[pair["beside"], rate(pair["theirs"]), rate(pair["ours"]), f"{pair['ratio']:.2f}",
              f"{pair['ci95'][0]:.2f}–{pair['ci95'][1]:.2f}", f"≥ {pair['goal']}", shown(pair["met"])]
             for pair in document["speed"]]
    curve = [[str(count), rate(f"ours-{count}"), rate(f"torch-pillow-{count}"), rate(f"torch-torchvision-{count}")]
             for count in document["workers"]]
    return head("Loading images compared with PyTorch", [pair["met"] for pair in document["speed"]], document) + f"""
The synthetic images of `--data synthetic`, in the page cache; RandomResizedCrop to 224, flip, normalisation, fp32,
channels first, batches of {batch} in order, 2 batches a worker made ahead. No consumer: this is the loader alone.
A turn starts new workers. It times whole rounds of the workers, without the batches that they make ahead.
PyTorch: `ImageFolder` with Pillow, and `torchvision.io.decode_jpeg` with transforms on tensors, antialiased.
Bare decoding: libjpeg-turbo decodes the whole image from memory; nothing else is done to the pixels.

## Goals

Images a second. Ratio: ours over theirs, the median over rounds with its 95 % interval.

{table(["compared with", "theirs, images/s", "ours, images/s", "ratio", "95 %", "goal", "met"], goals)}

## Images a second

{table(["workers", "ours", "PyTorch, Pillow", "PyTorch, torchvision.io"], curve)}
"""


def markdown(document):
    met = [pair["met"] for entry in document["batches"] for pair in entry["speed"] + entry["memory"]]
    met += [goal["met"] for goal in document["harness"]["goals"]]
    harness_rows = [[goal["name"], f"{goal['value']:.3g} {goal['unit']}", f"{goal['ci95'][0]:.3g}–{goal['ci95'][1]:.3g}",
                     f"< {goal['below']} {goal['unit']}", shown(goal["met"])] for goal in document["harness"]["goals"]]
    planning_rows = [[plan["network"], plan["mode"], str(plan["slowest_batch"]), f"{plan['median_ms']:.2f}",
                      f"{plan['max_ms']:.2f}"] for plan in document["harness"]["planning"]]
    return head("ResNet-50 inference compared with PyTorch", met, document) + f"""
## Speed

Step times in ms, image size 224. Ratio: their time over ours, the median over rounds with its 95 % interval.
Bare convolutions are the network's 53 convolutions alone, each as oneDNN runs it fastest: 1.00 means that all else costs nothing.

{table(["batch", "compared with", "theirs, ms", "ours, ms", "ratio", "95 %", "goal", "met"], speed_rows(document))}

## Peak memory

Peak resident memory in MiB, less the memory that the process held before the network was built. Goal: below PyTorch's.

{table(["batch", "ours", "MiB", "theirs", "MiB", "met"], memory_rows(document))}

## The harness

Medians of six runs, with their range: it encloses the median in 97 %.

{table(["quantity", "measured", "range", "goal", "met"], harness_rows)}

## Planning

Processor time to plan a network's step, on one thread: batches 1 to 4096 in powers of two, fp32, seven plans each. The median
is that of the slowest batch: oneDNN's answers about convolutions are remembered from one plan to the next. The maximum is the
slowest first plan, oneDNN's own queries in it: for its 2x2 Winograd it tries all blocks of an image's pixels, and the larger the
processor's caches, the more convolutions it does that for.

{table(["network", "mode", "slowest batch", "median, ms", "maximum, ms"], planning_rows)}

## Every contestant

{table(["batch", "contestant", "ms a step", "images/s", "peak MiB"], all_rows(document))}
"""


def simulating_markdown(document):
    law = document["law"]
    rows = [[str(row["workers"]), f"{row['measured_au']:.3f}",
             f"{row['measured_au_ci95'][0]:.3f}–{row['measured_au_ci95'][1]:.3f}", f"{row['simulated_au']:.3f}",
             f"{row['error_points']:+.1f}", f"≤ {document['goal_points']}", shown(row["met"])] for row in document["au"]]
    return head("The simulator compared with PyTorch's loader", [row["met"] for row in document["au"]], document) + f"""
PyTorch's `DataLoader` with `torchvision.io`, batches of {document["batch"]} in order, feeds a consumer that sleeps
{document["sleep_ms"]} ms a step; it waits and computes in turn. AU: computing over total time, divided by the same with a loader
that does nothing. `bench`'s simulator predicts it from

- the times that PyTorch's workers took for their batches;
- the rate of the loader alone with {", ".join(str(count) for count in law["workers"])} workers;
- the scheduling latency of a process that works and sleeps next to the loader alone;
- the time that the loader's process takes to receive a ready batch, with the fewest workers that have one ready.

The simulation uses no other measurement of the fed consumer.

{table(["workers", "AU, measured", "95 %", "AU, simulated", "difference, points", "goal", "met"], rows)}

One worker alone: {law["images_per_s_one"]:.0f} images/s; σ {law["sigma"]:.3f}, κ {law["kappa"]:.4f}; oversubscription penalty
for each doubling beyond the {law["cores"]:g} cores, {law["crowding"]:.3f}.
"""


def measured_knee(consumer):
    first, knee = consumer["measured_knee_from"], consumer["measured_knee"]
    return f"measured with {knee} workers" + (f", from which {first} cannot be told" if first < knee else "")


def samples_markdown(document):
    met, parts = [], []
    for consumer in document["consumers"]:
        rows = [[str(row["workers"]), "yes" if row["workers"] in document["counts"] else "no", f"{row['measured_au']:.3f}",
                 "–".join(f"{end:.3f}" for end in row["measured_au_ci95"]), f"{row['simulated_au']:.3f}",
                 "–".join(f"{end:.3f}" for end in row["simulated_au_ci95"]), f"{row['error_points']:+.1f}",
                 f"≤ {document['goal_points']}", shown(row["met"])] for row in consumer["au"]]
        met += [row["met"] for row in consumer["au"]] + [consumer["knee_met"]]
        parts.append(f"""## A step of {consumer["sleep_ms"]} ms

{table(["workers", "load times given", "AU, measured", "95 %", "AU, simulated", "95 %", "difference, points", "goal", "met"], rows)}

Knee: {measured_knee(consumer)}, simulated with {consumer["simulated_knee"]}; goal: at most 1 apart:
{yes(consumer["knee_met"])}.
""")
    law = document["law"]
    return head("A loader of the user's: load times compared with PyTorch's loader", met, document) + f"""
The lines of docs/readings.md print the load times of PyTorch's `DataLoader` with `torchvision.io`, batches of
{document["batch"]} in order, with {", ".join(map(str, document["counts"]))} workers. From them alone
`bench --sweep workers --simulate --samples FILE --consumer TIME` predicts the AU of a loop that waits for a batch and then sleeps
as long as a step. The same loader feeds that loop in turn with the printing, in {document["rounds"]} rounds; the load times of all
rounds are joined. AU: computing over total time, divided by the same with a ready batch.

{chr(10).join(parts)}
One worker alone: {law["images_per_s_one"]:.0f} images/s; σ {law["sigma"]:.3f}, κ {law["kappa"]:.4f}; {law["cores"]:g} cores.
"""


def cards_markdown(document):
    def ms(ns):
        return f"{ns / 1e6:,.1f}"

    rows = [[row["network"], str(row["batch"]), ms(row["one_ns"]), ms(row["two_ns"]), ms(row["replay_ns"]),
             f"{row['over_replay']:.2f}", f"{100 * row['error']:+.0f} %", yes(row["covered"])] for row in document["rows"]]
    over = document["over_replay"]
    missing = "".join(f"- {case['network']} at batch {case['batch']}: {'; '.join(case['reasons'])}\n"
                      for case in document.get("missing", []))
    if missing:
        missing = f"\nListed, and not measured in both runs:\n\n{missing}"
    return head("Training on two ranks, predicted from one", [document["met"]], document) + f"""
Two ranks of one thread each on one host, over Open MPI, batch a rank; step times in ms. The replay takes one rank's step, when it
leaves its gradients, and the all-reduces that `bench --sweep collectives` measured; nothing overlaps. Error: of the step, predicted by
the replay times the median of the other networks' ratios. Within: in the interval from the 5th to the 95th percentile of those.

{table(["network", "batch", "one rank", "two ranks", "replay", "two over replay", "error", "within"], rows)}

Error: median {100 * document["median_error"]:.0f} %, 90th percentile {100 * document["p90_error"]:.0f} %; goal: at most
{100 * document["goal"]:.0f} % in the median: {yes(document["met"])}. Within: {100 * document["covered"]:.0f} %.
Of all rows two ranks take {over["likely"]:.3f} ({over["p05_p95"][0]:.3f} to {over["p05_p95"][1]:.3f}, 5th to 95th percentile) times their replay.
{missing}"""


def onnx_markdown(document):
    cells, mean = document["cells"], document["mean"]

    def ms(entry, name):
        return f"{entry['results'][name]['median_ns'] / 1e6:,.1f}" if name in entry["results"] else ""

    def peak(entry, name):
        return mib(entry["results"][name]["peak_bytes"]) if name in entry["results"] else ""

    def named(entry):
        return [entry["network"], entry["dtype"], str(entry["batch"])]

    runtimes = ("onnxruntime", "openvino")
    versions = sorted({f"{name} {entry['results'][name]['about']['version']}" for entry in cells for name in runtimes
                       if name in entry["results"]})
    speed = [[*named(entry), *(ms(entry, name) for name in runtimes), ms(entry, "ours"), f"{entry['ratio']:.2f}",
              f"{entry['ci95'][0]:.2f}–{entry['ci95'][1]:.2f}", f"≥ {entry['goal']}", shown(entry["met"])]
             for entry in cells]
    speed.append(["geometric mean", "", "", "", "", "", f"{mean['ratio']:.2f}",
                  f"{mean['ci95'][0]:.2f}–{mean['ci95'][1]:.2f}", f"≥ {mean['goal']}", shown(mean["met"])])
    memory = [[*named(entry), *(peak(entry, name) for name in runtimes), peak(entry, "ours"), yes(entry["memory_met"])]
              for entry in cells]
    met = [met for entry in cells for met in (entry["met"], entry["memory_met"])] + [mean["met"]]
    return head("Networks of ONNX files compared with onnxruntime and OpenVINO", met, document) + f"""- Compared with {", ".join(versions)}, on the same weights and inputs; each answer is compared with ours first

## Speed

Step times in ms. Ratio: that of the faster runtime over ours, the median over rounds with its 95 % interval.
Ours stores its input in the order of channels that it computes in; the others are given N x C x H x W.

{table(["network", "dtype", "batch", "onnxruntime, ms", "OpenVINO, ms", "ours, ms", "ratio", "95 %", "goal", "met"], speed)}

## Peak memory

Peak resident memory in MiB, weights and inputs included, less what the process held before the network was read. Theirs read
the weights from a file of external data, ours draws them. Goal: below both.

{table(["network", "dtype", "batch", "onnxruntime", "OpenVINO", "ours", "met"], memory)}
"""
