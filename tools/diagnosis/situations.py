"""The twenty situations: what is wrong in each, and how it is made so.

A situation's `make(strength, machine)` gives a Case; strength is 0 to 1. Times scale with what one loader worker of this
machine takes for an image, so that a situation means the same on a slower machine.
"""

import dataclasses

BATCH = 16  # of the loader's situations
NETWORK = ["--workload", "resnet18", "--mode", "train", "--image-size", "64"]  # whose memory is capped
NONE = "none"


@dataclasses.dataclass
class Case:
    what: str  # the strength in words
    current: dict  # settings, as `--current` takes them
    loader: list = None  # options of the workers sweep; None: it does not run
    workers: tuple = (0, 1, 2, 4)  # that it measures
    prefetch: int = 2  # with which it does so
    longer: float = 1  # times as long as the other sweeps
    device: list = None  # options of the batch sweep; None: it does not run
    batches: tuple = ()  # that it measures
    memory: bool = False  # whether the memory sweep runs too
    environment: dict = dataclasses.field(default_factory=dict)
    noise: float = 0  # cores that other processes keep busy
    host_memory: int = 0  # bytes that the group of the process may use; 0: no limit
    accepted: tuple = ()  # other answers that are right too


@dataclasses.dataclass(frozen=True)
class Situation:
    name: str
    bottleneck: str  # that `bench advise` should name first
    how: str  # it is made
    make: object
    pays: bool = False  # whether a change always does


def between(low, high, strength):
    return low + (high - low) * strength


def fed(machine):
    """A step, in ms, that two workers feed and one does not."""
    return 0.8 * BATCH * machine.image_ms


def loading(step_ms, *words):
    return ["--consumer", f"{step_ms:.3f}ms", "--batch", str(BATCH), *words]


def settings(workers, **others):
    return {"batch": BATCH, "workers": workers, **others}


# ---------- storage

def storage_rate(strength, machine):
    part = between(0.75, 0.3, strength)
    step = fed(machine)
    rate = part * BATCH / step * 1e3 * machine.image_bytes
    return Case(f"{rate / 1e6:.1f} MB/s, {part:.0%} of what the consumer takes", settings(2),
                loading(step, "--storage", f"{rate / 1e3:.0f}KB/s"))


def late_reads(strength, machine):
    """ms by which each read is late, so that two workers make that part of what the consumer takes."""
    part = between(0.75, 0.3, strength)
    return 2 * fed(machine) / BATCH / part - machine.image_ms


def storage_latency(strength, machine):
    late = late_reads(strength, machine)
    return Case(f"each read {late:.1f} ms late", settings(2),
                loading(fed(machine), "--storage", f"1GB/s,{late:.2f}ms"))


def network_mount(strength, machine):
    late = late_reads(strength, machine)
    return Case(f"each read {late:.1f} ms late", settings(2), loading(fed(machine)),
                environment={**machine.slow_calls, "SLOW_READ_MS": f"{late:.2f}"})


# ---------- loader CPU

def large_images(strength, machine):
    area = round(between(2.5, 6, strength), 1)
    return Case(f"{area} times as many pixels", settings(1),
                loading(fed(machine), "--data", machine.images_of(area)))


def uneven_images(strength, machine):
    part = between(0.8, 0.5, strength)
    step = part * BATCH * machine.uneven_image_ms / 2
    return Case(f"steps of {step:.0f} ms, {part:.0%} of what two workers need", settings(2),
                loading(step, "--data", "synthetic:heavy"))


def no_workers(strength, machine):
    step = between(4, 0.8, strength) * BATCH * machine.image_ms
    return Case(f"steps of {step:.0f} ms", settings(0), loading(step))


def too_few_workers(strength, machine):
    step = between(0.75, 0.5, strength) * BATCH * machine.image_ms
    return Case(f"steps of {step:.0f} ms", settings(1), loading(step))


def too_many_workers(strength, machine):
    workers = round(between(3, 8, strength))
    return Case(f"{workers} workers on {machine.cores} cores that compute too", settings(workers, batch=4),
                ["--consumer", "resnet18", "--mode", "train", "--image-size", "64", "--batch", "4"],
                workers=(0, workers), longer=1.5)


def slow_worker(strength, machine):
    step = 0.7 * BATCH * machine.image_ms
    late = between(1.3, 3, strength) * 10 * step / BATCH
    return Case(f"one of 10 workers takes {late:.0f} ms longer for an image", settings(10), loading(step),
                workers=(1, 2, 10), environment={**machine.slow_calls, "SLOW_WORKER_MS": f"{late:.2f}"})


# ---------- the rest

def host_memory_short(strength, machine):
    limit = 1 << 30
    image = 3 * 224 * 224 * 4
    workers, prefetch = 16, 16
    batch = round(between(1.05, 2.2, strength) * limit / (workers * prefetch * image))
    return Case(f"{workers * prefetch} batches of {batch} images need {workers * prefetch * batch * image / limit:.0%} "
                "of the memory", settings(workers, batch=batch, prefetch=prefetch),
                ["--consumer", f"{batch * machine.image_ms:.2f}ms", "--batch", str(batch)], workers=(1, 2),
                prefetch=1, host_memory=limit)


def slow_copies(strength, machine):
    step = 2 * fed(machine)
    copy = between(1.15, 2, strength) * step
    rate = BATCH * 3 * 224 * 224 * 4 / copy * 1e3
    return Case(f"{rate / 1e6:.0f} MB/s", settings(2), loading(step, "--bus", f"{rate / 1e3:.0f}KB/s"))


def small_batch(strength, _):
    size = 32 * round(between(4, 2, strength))  # of 32 the last batch norm would have one value
    return Case(f"batch 1 of {size} x {size} pixels", {"batch": 1},
                device=["--workload", "resnet18", "--mode", "train", "--image-size", str(size)],
                batches=(1, 2, 4, 8, 16))


def tiny_kernels(strength, machine):
    layers = round(between(60, 240, strength))
    return Case(f"{layers} layers of a few microseconds", {"batch": 1},
                device=["--onnx", machine.tiny_network(layers), "--mode", "infer"], batches=(1, 2, 4, 8, 16, 32))


def cap_near(strength, machine):
    used = between(0.955, 0.99, strength)
    cap = machine.peak(8, "used") / used
    return Case(f"{used:.1%} of the memory in use", {"batch": 8},
                device=[*NETWORK, "--memory-cap", f"{cap:.0f}B"], batches=(2, 4, 8), memory=True)


def cap_stops_batch(strength, machine):
    low, high = (machine.peak(batch, "allocated") / 0.9 for batch in (4, 8))
    cap = between(low, high, between(0.1, 0.9, strength))
    return Case(f"batch 8 takes {high * 0.9 / cap:.1%} of the memory", {"batch": 4},
                device=[*NETWORK, "--memory-cap", f"{cap:.0f}B"], batches=(2, 4, 8), memory=True, longer=2)


def noise_and_no_workers(strength, machine):
    cores = between(0.2, 0.6, strength)
    return Case(f"others use {cores:.1f} cores", settings(0), loading(1.2 * BATCH * machine.image_ms), noise=cores)


def noise_alone(strength, machine):
    cores = between(0.2, 1, strength)
    return Case(f"others use {cores:.1f} cores", settings(2), loading(2.5 * fed(machine)), noise=cores,
                accepted=("undecided",))


def healthy_loader(strength, machine):
    step = between(1.6, 4, strength) * fed(machine)
    return Case(f"steps of {step:.0f} ms", settings(2), loading(step))


def healthy_network(strength, _):
    batch = round(between(1, 5, strength))
    return Case(f"batch {batch} of 128 x 128 pixels", settings(0, batch=batch),
                ["--consumer", "resnet50", "--mode", "train", "--image-size", "128", "--batch", str(batch)],
                workers=(0, 1), longer=3)


def healthy_batch(strength, _):
    batch = round(between(8, 16, strength))
    return Case(f"batch {batch}", {"batch": batch},
                device=["--workload", "resnet18", "--mode", "infer", "--image-size", "224"],
                batches=(batch // 2, batch, 2 * batch))


SITUATIONS = [
    Situation("slow storage", "storage", "`--storage` limits the rate of reads", storage_rate),
    Situation("late storage", "storage", "`--storage` delays each read", storage_latency, pays=True),
    Situation("network mount", "storage", "a preloaded library delays each read, unknown to the sweep", network_mount, pays=True),
    Situation("large images", "loader CPU", "a folder of larger JPEG files", large_images, pays=True),
    Situation("uneven images", "loader CPU", "`--data synthetic:heavy`: few images take most of the time", uneven_images),
    Situation("no workers", "loader CPU", "workers 0", no_workers, pays=True),
    Situation("too few workers", "loader CPU", "1 worker where 2 feed the consumer", too_few_workers, pays=True),
    Situation("too many workers", "loader CPU", "workers on the cores that train resnet18", too_many_workers, pays=True),
    Situation("one slow worker in ten", "loader CPU", "a preloaded library delays one worker's decoding", slow_worker, pays=True),
    Situation("host memory short", "host memory", "a control group limits the memory", host_memory_short),
    Situation("slow transfers", "bus", "`--bus` limits the rate of copies", slow_copies),
    Situation("small batch", "compute", "resnet18 trains with batch 1", small_batch, pays=True),
    Situation("tiny kernels", "launch", "an ONNX file of tiny layers", tiny_kernels, pays=True),
    Situation("memory cap near", "VRAM", "`--memory-cap` just above the step's memory", cap_near),
    Situation("memory cap stops the batch", "VRAM", "`--memory-cap` below that of the next batch", cap_stops_batch),
    Situation("noise, and no workers", "loader CPU", "other processes use the cores now and then", noise_and_no_workers, pays=True),
    Situation("noise alone", NONE, "other processes use the cores now and then", noise_alone),
    Situation("healthy: fed by workers", NONE, "nothing", healthy_loader),
    Situation("healthy: long steps", NONE, "resnet50 trains on the cores, without workers", healthy_network),
    Situation("healthy: saturated batch", NONE, "resnet18 infers", healthy_batch),
]
