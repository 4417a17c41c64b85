#include "sweeps/workers/options.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <initializer_list>
#include <map>
#include <string_view>
#include <system_error>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "bench/error.h"
#include "bench/host/host_info.h"
#include "bench/registry.h"
#include "bench/result/flags.h"
#include "bench/run/result_file.h"
#include "bench/text/axis.h"
#include "bench/text/quote.h"
#include "bench/text/units.h"
#include "sweeps/series/series.h"
#include "sweeps/workers/loader/storage.h"

namespace bench::sweeps {
namespace {

constexpr std::int64_t kBatchOfATime = 32;  // of a consumer that is a time a step
constexpr std::int64_t kShortestStep = 1000;

class OptionReader {
 public:
  OptionReader(const SweepRequest& request, const Device& device)
      : request_(request),
        device_id_(device.info().id),
        on_host_(device.computes_on_host()),
        is_modelled_(device.model() != nullptr) {}

  WorkersOptions read() {
    setup_.cores = host_info().usable_cores;
    setup_.data = text("data");
    setup_.cold = text("cold") == "yes";
    if (text("storage") != "none") {
      setup_.storage = loader::parse_storage(text("storage"));
    }
    if (text("bus") != "none") {
      read_bus();
    }
    options_.prefetch = count("prefetch", 1, 64);
    setup_.gpus = static_cast<int>(count("gpus", 1, 64));
    if (text("cores") != "auto") {
      options_.cores = count("cores", 1, 4096);
    }
    options_.profile = text("profile");
    options_.samples = text("samples");
    read_workers();
    read_orders();
    read_dtype();
    read_required();
    read_consumer();
    read_transform();
    setup_.pinned =
        choice<bool>("staging", text("staging"), {{"auto", !on_host_}, {"pinned", true}, {"pageable", false}},
                     "auto (pinned where a bus is crossed), pinned, pageable");
    setup_.slot_bytes = setup_.batch * options_.transform.sample_bytes();
    if (simulates(request_)) {
      check_simulation();
    } else {
      refuse_given({"profile", "samples", "cores"}, "belongs to --simulate; give that with it");
    }
    return options_;
  }

 private:
  const std::string& text(const std::string& name) const { return request_.sweep_options.at(name); }

  [[noreturn]] void refuse(const std::string& name, const std::string& accepted) const {
    throw UsageError(fmt::format("--{}: {} was given; accepted: {}", name, quote(text(name)), accepted));
  }

  std::int64_t count(const std::string& name, std::int64_t least, std::int64_t most) const {
    return parse_count("--" + name, text(name), least, most);
  }

  // The meaning of a word of the option.
  template <class T>
  T choice(const std::string& name, std::string_view word, const std::map<std::string_view, T>& meanings,
           const std::string& accepted) const {
    const auto found = meanings.find(word);
    if (found == meanings.end()) {
      refuse(name, accepted);
    }
    return found->second;
  }

  void read_bus() {
    const std::string& rate = text("bus");
    if (rate.size() < 3 || !rate.ends_with("/s")) {
      refuse("bus", "bytes a second, such as 4GB/s");
    }
    setup_.bus_bytes_per_s = static_cast<double>(parse_bytes("--bus", rate.substr(0, rate.size() - 2)));
  }

  // As --batch, but with 0, which no axis of sizes has.
  void read_workers() {
    const std::string& given = text("workers");
    const std::string accepted =
        fmt::format("whole numbers from 0 to {} such as 0,1,2,4, and ranges such as 1:32:x2", kMostWorkers);
    std::vector<std::int64_t>& workers = options_.workers;
    if (given == "auto") {
      const std::int64_t most = std::clamp<std::int64_t>(4 * std::int64_t{setup_.cores}, 4, 64);
      workers.push_back(0);
      for (std::int64_t count = 1; count <= most; count *= 2) {
        workers.push_back(count);
      }
      return;
    }
    for (const std::string_view part : split(given, ',')) {
      try {
        const auto counts = part == "0" ? std::vector<std::int64_t>{0} : parse_axis("--workers", part);
        workers.insert(workers.end(), counts.begin(), counts.end());
      } catch (const UsageError&) {
        refuse("workers", accepted);
      }
    }
    std::ranges::sort(workers);
    workers.erase(std::unique(workers.begin(), workers.end()), workers.end());
    if (workers.back() > kMostWorkers) {
      refuse("workers", accepted);
    }
  }

  void read_orders() {
    for (const std::string_view part : split(text("order"), ',')) {
      const auto order = choice<loader::Order>(
          "order", part, {{"in-order", loader::Order::in_order}, {"any", loader::Order::any}},
          "in-order (a worker makes a batch), any (workers share its samples)");
      if (std::ranges::find(options_.orders, order) == options_.orders.end()) {
        options_.orders.push_back(order);
      }
    }
  }

  void read_dtype() {
    if (request_.dtypes.size() > 1) {
      throw UsageError("--dtype: several were given, and --sweep workers takes one");
    }
    if (!request_.dtypes.empty()) {
      options_.dtype = request_.dtypes.front();
    }
    setup_.dtype = bench::name_of(options_.dtype);
    if (request_.batches.size() > 1) {
      throw UsageError(fmt::format("--batch: {} was given, and --sweep workers takes one value",
                                   fmt::join(request_.batches, ",")));
    }
    if (!request_.batches.empty()) {
      constexpr std::int64_t kMostBatch = 1 << 16;
      setup_.batch = request_.batches.front();
      if (setup_.batch > kMostBatch) {
        throw UsageError(fmt::format("--batch: {} was given; accepted with --sweep workers: 1 to {}",
                                     setup_.batch, kMostBatch));
      }
    }
  }

  void read_consumer() {
    const std::string& given = text("consumer");
    ConsumerChoice& consumer = options_.consumer;
    if (takes_required_throughput(request_)) {
      const RequiredThroughput& first = setup_.required.front();
      setup_.consumer = required_text(first);
      use_batch(kBatchOfATime);
      consumer.step_ns = std::max<std::int64_t>(
          kShortestStep, std::llround(static_cast<double>(setup_.batch) / first.samples_per_s * 1e9));
      return;
    }
    if (const WorkloadType* const type =
            given == "workload" ? request_.workload : registry<WorkloadType>().find(given)) {
      use_workload(*type);
      return;
    }
    if (std::error_code error; std::filesystem::is_regular_file(given, error)) {
      const BatchResult result = read_batch_result("--consumer", given, dtype_given());
      setup_.consumer = fmt::format("{} on {}", result.workload, result.device);
      if (simulates(request_)) {
        consumer.steps = result;
        return;
      }
      use_batch(result.best().batch);
      consumer.step_ns = static_cast<std::int64_t>(result.step_ns(setup_.batch));
      return;
    }
    try {
      consumer.step_ns = parse_duration("--consumer", given).count();
    } catch (const UsageError&) {
      std::vector<std::string> networks;
      for (const auto& type : registry<WorkloadType>().entries()) {
        if (type->kind == "network") {
          networks.push_back(type->name);
        }
      }
      refuse("consumer",
             fmt::format("workload (that of --workload), a network ({}), a time a step such as 40ms, or a "
                         "batch sweep's result file",
                         fmt::join(networks, ", ")));
    }
    setup_.consumer = given;
    if (consumer.step_ns < kShortestStep || consumer.step_ns > 3'600'000'000'000) {
      refuse("consumer", "a step's time from 0.001ms to 60min");
    }
    use_batch(kBatchOfATime);
  }

  // Where none was given.
  void use_batch(std::int64_t usual) { setup_.batch = setup_.batch == 0 ? usual : setup_.batch; }

  std::optional<std::string> dtype_given() const {
    return request_.dtypes.empty() ? std::nullopt : std::optional(setup_.dtype);
  }

  std::shared_ptr<const ConfiguredWorkload> configured(const WorkloadType& type) const {
    const bool has_mode = std::ranges::count(type.modes, request_.modes.front()) > 0;
    WorkloadSpec spec{.mode = has_mode ? request_.modes.front() : type.modes.front(),
                      .dtype = options_.dtype,
                      .batch = std::max<std::int64_t>(1, setup_.batch),
                      .seed = request_.seed,
                      .options = {}};
    for (const CommandOption& option : type.options) {
      const auto given = request_.workload_options.find(option.name);
      spec.options[option.name] =
          given == request_.workload_options.end() ? option.default_value : given->second.front();
    }
    return type.configure(spec);
  }

  void use_workload(const WorkloadType& type) {
    use_batch(on_host_ ? 4 : 64);
    options_.consumer.workload = configured(type);
    if (!options_.consumer.workload->image_size()) {
      throw UsageError(
          fmt::format("{} reads no square images of three colours, which is what the workers sweep loads; "
                      "give another network "
                      "with --workload, --onnx or --consumer",
                      type.name));
    }
    setup_.consumer = type.name;
    setup_.consumer_device = device_id_;
    setup_.consumer_on_cores = on_host_;
  }

  void read_transform() {
    using loader::Element;
    using loader::ImageLayout;
    loader::Transform& transform = options_.transform;
    const Element of_dtype = options_.dtype == Dtype::fp16   ? Element::fp16
                             : options_.dtype == Dtype::bf16 ? Element::bf16
                                                             : Element::fp32;
    transform.element =
        choice<Element>("element", text("element"), {{"dtype", of_dtype}, {"uint8", Element::uint8}},
                        "dtype (that of --dtype, normalised), uint8 (as decoded)");
    transform.layout = choice<ImageLayout>(
        "layout", text("layout"), {{"nhwc", ImageLayout::nhwc}, {"nchw", ImageLayout::nchw}}, "nhwc, nchw");
    const auto& consumer = options_.consumer.workload;
    const auto reader = consumer != nullptr ? consumer : configured(*request_.workload);
    transform.image_size = reader->image_size().value_or(transform.image_size);
  }

  void read_required() {
    const std::string& given = text("demand");
    const char* const accepted =
        "samples a second, as 800/s or t4=1128/s, or a batch sweep's result file, as h200=FILE";
    for (const std::string_view part :
         given == "none" ? std::vector<std::string_view>() : split(given, ',')) {
      const std::size_t equals = part.find('=');
      const std::string value(equals == std::string_view::npos ? part : part.substr(equals + 1));
      RequiredThroughput required{
          .name = std::string(part.substr(0, equals == std::string_view::npos ? 0 : equals)),
          .source = "given"};
      if (value.ends_with("/s")) {
        const char* const end = value.data() + value.size() - 2;
        const auto read = std::from_chars(value.data(), end, required.samples_per_s);
        if (read.ec != std::errc{} || read.ptr != end || !(required.samples_per_s > 0) ||
            required.samples_per_s > 1e9) {
          refuse("demand", accepted);
        }
      } else if (std::error_code error; std::filesystem::is_regular_file(value, error)) {
        const BatchResult result = read_batch_result("--demand", value, dtype_given());
        required.samples_per_s = static_cast<double>(result.best().batch) * 1e9 / result.best().ns;
        required.source = value;
        required.name = required.name.empty() ? result.device : required.name;
      } else {
        refuse("demand", accepted);
      }
      required.name = required.name.empty() ? value : required.name;
      if (std::ranges::count(setup_.required, required.name, &RequiredThroughput::name) > 0) {
        refuse("demand", fmt::format("each name once; {} is given twice", quote(required.name)));
      }
      setup_.required.push_back(required);
    }
  }

  void refuse_given(std::initializer_list<const char*> names, const char* reason) const {
    for (const char* const name : names) {
      if (request_.given_sweep_options.contains(name)) {
        throw UsageError(fmt::format("--{}: {}", name, reason));
      }
    }
  }

  void check_simulation() const {
    if (options_.profile == "none" && options_.samples == "none") {
      throw UsageError(
          "--simulate: needs the profile of an earlier run, or load times; give --profile FILE, a result of "
          "--sweep workers, or --samples FILE");
    }
    const char* const from_file = "--simulate takes it from the file; leave it out";
    refuse_given({"data", "element", "layout", "staging", "cold", "bus"}, from_file);
    if (!request_.batches.empty()) {
      throw UsageError(fmt::format("--batch: {}", from_file));
    }
    if (options_.orders.size() > 1) {
      throw UsageError("--order: --simulate takes one value");
    }
    if (request_.given_sweep_options.contains("consumer") && options_.consumer.workload != nullptr &&
        !is_modelled_) {
      throw UsageError(
          fmt::format("--consumer: {} was given, and --simulate runs no network; accepted with it: a time a "
                      "step such as 40ms, or a batch sweep's result file",
                      quote(text("consumer"))));
    }
    if (options_.samples != "none") {
      check_samples();
    }
  }

  void check_samples() const {
    if (options_.profile != "none") {
      throw UsageError("--samples: --profile was given as well; --simulate takes one of them");
    }
    refuse_given({"storage"}, "load times include the storage's; leave it out");
    if (options_.orders.front() == loader::Order::any) {
      throw UsageError("--order: any was given; accepted with --samples: in-order");
    }
    if (!request_.given_sweep_options.contains("consumer") && setup_.required.empty() && !is_modelled_) {
      throw UsageError(
          "--samples: load times do not tell how long a step takes; give --consumer 40ms, --consumer FILE (a "
          "batch sweep's result) or --demand t4=1128/s");
    }
  }

  const SweepRequest& request_;
  const std::string device_id_;
  const bool on_host_;
  const bool is_modelled_;
  WorkersOptions options_;
  LoaderSetup& setup_ = options_.setup;
};

// `form`: of its values, as the help shows it.
CommandOption option(const char* name, const char* default_value, const char* form, const char* help) {
  return {.name = name, .default_value = default_value, .help = help, .words = [form] {
            return std::vector<std::string>{form};
          }};
}

CommandOption on_or_off(const char* name, const char* help) {
  return {.name = name, .default_value = "no", .help = help, .is_switch = true};
}

}  // namespace

std::vector<CommandOption> workers_command_options() {
  return {
      option("data", "synthetic", "PATH",
             "folder of JPEG files or tar shards, or made once: synthetic, synthetic:heavy (sizes vary)"),
      option("workers", "auto", "LIST",
             "loader threads: 0,1,2,4 or 1:32:x2, up to 1000; 0: the consumer's own thread"),
      option("prefetch", "2", "N", "batches each worker holds ready, up to 64"),
      option("order", "in-order", "in-order|any",
             "in-order (a worker makes a batch), any (workers share its samples), or both"),
      option("consumer", "workload", "NAME|TIME|FILE",
             "takes the batches: a network, a time a step (40ms), or a batch sweep's result"),
      option("element", "dtype", "dtype|uint8", "a stored sample's type; dtype: --dtype's"),
      option("layout", "nhwc", "nhwc|nchw", "order of a batch's dimensions"),
      option("staging", "auto", "auto|pinned|pageable", "batches' memory; auto: pinned over a bus"),
      on_or_off("cold", "read images from storage, not from the page cache"),
      option("storage", "none", "RATE,TIME", "limit reads: rate and latency, 200MB/s,5ms"),
      option("bus", "none", "RATE", "limit copies to the device: 4GB/s"),
      option("demand", "none", "LIST",
             "required throughput: 800/s, t4=1128/s, or h200=FILE, a batch sweep's result"),
      on_or_off("simulate", "do not measure: simulate from an earlier result's profile"),
      option("profile", "none", "FILE", "for --simulate: a result of this sweep"),
      option("samples", "none", "FILE",
             "for --simulate: load times of your own loader, as docs/readings.md prints them"),
      option("cores", "auto", "N", "for --simulate: the host's cores"),
      option("gpus", "1", "N", "for --simulate: GPUs of the host, up to 64"),
  };
}

bool simulates(const SweepRequest& request) {
  return request.sweep_options.at("simulate") == "yes";
}

bool takes_required_throughput(const SweepRequest& request) {
  return !simulates(request) && request.sweep_options.at("demand") != "none" &&
         !request.given_sweep_options.contains("consumer");
}

WorkersOptions workers_options(const SweepRequest& request, const Device& device) {
  return OptionReader(request, device).read();
}

const BatchResult::Step& BatchResult::best() const {
  return *std::ranges::max_element(
      steps, {}, [](const Step& step) { return static_cast<double>(step.batch) / step.ns; });
}

double BatchResult::step_ns(std::int64_t batch) const {
  const auto above = std::ranges::lower_bound(steps, batch, {}, &Step::batch);
  if (above == steps.end() || (above == steps.begin() && above->batch != batch)) {
    throw UsageError(
        fmt::format("--consumer: its file has steps of batch {} to {}, and batch {} is wanted; give "
                    "a file with that batch or with batches about it",
                    steps.front().batch, steps.back().batch, batch));
  }
  if (above->batch == batch) {
    return above->ns;
  }
  const Step& below = *(above - 1);
  const double part =
      static_cast<double>(batch - below.batch) / static_cast<double>(above->batch - below.batch);
  return below.ns + part * (above->ns - below.ns);
}

BatchResult read_batch_result(const std::string& option, const std::string& path,
                              std::optional<std::string> dtype) {
  const ResultDocument document = [&] {
    try {
      return read_result(path);
    } catch (const UsageError& error) {
      throw UsageError(fmt::format("{}: {}; give a result file that bench wrote", option, error.what()));
    }
  }();
  if (const std::string& sweep = document.sweep.name; sweep != "batch") {
    throw UsageError(fmt::format(
        "{}: {} is a result of {}, whose steps are other things; give the result file of a batch sweep",
        option, quote(path), sweep.empty() ? "no sweep" : "--sweep " + printable(sweep)));
  }
  BatchResult result{.workload = document.sweep.workload, .device = document.context.device.name};
  for (const Point& point : measured_points(document)) {
    const auto params = read_params(point.params);
    if (!params || point.stats.median_ns <= 0 || point.items_per_step <= 0 || has_flag(point, kAbovePeak)) {
      continue;
    }
    const std::string own(name_of(params->dtype));
    if (!dtype) {
      dtype = own;
    }
    if (own == *dtype && params->batch >= 1 &&
        std::ranges::find(result.steps, params->batch, &BatchResult::Step::batch) == result.steps.end()) {
      result.steps.push_back({.batch = params->batch, .ns = point.stats.median_ns});
    }
  }
  if (result.steps.empty()) {
    throw UsageError(fmt::format("{}: {} holds no measured batch{}; give the result file of a batch sweep",
                                 option, quote(path), dtype ? " in " + *dtype : ""));
  }
  result.dtype = *dtype;
  std::ranges::sort(result.steps, {}, &BatchResult::Step::batch);
  return result;
}

}  // namespace bench::sweeps
