#include "kernels/workloads/copy/copy_workload.h"

#include <algorithm>
#include <cstring>

#include <fmt/format.h>

#include "bench/error.h"
#include "bench/registry.h"
#include "bench/text/quote.h"
#include "kernels/workloads/copy/pattern.h"
#include "kernels/workloads/operation_instance.h"
#include "kernels/workloads/options.h"

namespace bench::kernels {
namespace {

constexpr std::int64_t kPage = 4096;
constexpr std::byte kPoison{0xA5};

std::int64_t stride_of(const CopySpec& spec) {
  return (spec.bytes + kPage - 1) / kPage * kPage;
}

// A page more, so that the device's end starts on a page too.
std::int64_t end_bytes(const CopySpec& spec) {
  return spec.directions() * spec.in_flight * stride_of(spec) + kPage;
}

std::int64_t host_bytes(const CopySpec& spec) {
  return end_bytes(spec) + (spec.staged ? staging_ring_bytes(spec.bytes) : 0);
}

Transfers& transfers_or_refuse(Device& device) {
  Transfers* const transfers = transfers_of(device);
  if (transfers == nullptr) {
    throw Unsupported(fmt::format("{} offers no copies to be measured", device.info().id));
  }
  return *transfers;
}

enum class HostMemoryWord { pinned, pageable, staged };

const BytesOption kBytes{"bytes", "1MiB", std::int64_t{1} << 40, "size of one copy"};
const WordOption<HostMemoryWord> kHostMemory{.name = "host-memory",
                                             .default_value = "pinned",
                                             .words = {{"pinned", HostMemoryWord::pinned},
                                                       {"pageable", HostMemoryWord::pageable},
                                                       {"staged", HostMemoryWord::staged}},
                                             .help = "host memory; staged: pageable by way of a pinned ring"};
const WordOption<bool> kFirstTouch{.name = "pages",
                                   .default_value = "touched",
                                   .words = {{"touched", false}, {"cold", true}},
                                   .help = "cold: the destination's are fresh from the system"};
const WordOption<bool> kOwnQueue{.name = "queue",
                                 .default_value = "device",
                                 .words = {{"device", false}, {"own", true}},
                                 .help = "own: overlapped with the device's other work"};

// A word, or a NUMA node's number.
CommandOption node_option() {
  return {.name = "node",
          .default_value = "any",
          .help = "NUMA node of the host's memory; far: from the device",
          .words = [] {
            return std::vector<std::string>{"any", "near", "far", "N"};
          }};
}

std::string read_node(const WorkloadSpec& spec) {
  constexpr std::int64_t kMost = 1023;
  const std::string text = option_text(spec, "node", "any");
  const auto number = whole_number(text);
  const bool named = text == "any" || text == "near" || text == "far";
  if (!named && (!number || *number < 0 || *number > kMost)) {
    throw UsageError(
        fmt::format("--node: {} was given; accepted: any, near, far, or a NUMA node's number", quote(text)));
  }
  return text;
}

}  // namespace

CopySpec copy_spec(const WorkloadSpec& spec) {
  const HostMemoryWord memory = kHostMemory.read(spec);
  return {.to_device = spec.mode != "d2h",
          .to_host = spec.mode != "h2d",
          .host = memory == HostMemoryWord::pinned ? HostKind::pinned : HostKind::pageable,
          .staged = memory == HostMemoryWord::staged,
          .cold_pages = kFirstTouch.read(spec),
          .own_queue = kOwnQueue.read(spec),
          .bytes = kBytes.read(spec),
          .in_flight = spec.batch,
          .node = read_node(spec),
          .seed = spec.seed};
}

// Pageable memory copied through a ring of pinned slots, as data loaders do: the host copies into one slot
// while the device takes another.
class StagingRing {
 public:
  // Takes staging_ring_bytes(). Throws as Transfers::host_memory does.
  StagingRing(Transfers& transfers, std::int64_t copy_bytes, std::optional<int> node)
      : slot_bytes_(staging_slot_bytes(copy_bytes)),
        memory_(transfers.host_memory(
            {.kind = HostKind::pinned, .bytes = staging_ring_bytes(copy_bytes), .node = node})) {
    for (std::int64_t i = 0; i < kStagingSlots; ++i) {
      slots_.push_back({.data = memory_->data() + i * slot_bytes_, .queue = transfers.copy_queue()});
    }
  }

  // Copies from and to pageable memory; returns when all is done. Both directions take turns.
  void copy(std::span<const Copy> copies) {
    std::int64_t largest = 0;
    for (const Copy& copy : copies) {
      largest = std::max(largest, copy.bytes);
    }
    for (std::int64_t at = 0; at < largest; at += slot_bytes_) {
      for (const Copy& copy : copies) {
        if (at < copy.bytes) {
          send({.direction = copy.direction,
                .host = HostKind::pinned,
                .to = copy.to + at,
                .from = copy.from + at,
                .bytes = std::min(slot_bytes_, copy.bytes - at)});
        }
      }
    }
    std::ranges::for_each(slots_, settle);
  }

 private:
  struct RingSlot {
    std::byte* data = nullptr;
    std::unique_ptr<CopyQueue> queue;
    std::byte* host_to = nullptr;  // where the bytes still go that the device brings; nullptr: none
    std::int64_t bytes = 0;
  };

  void send(const Copy& part) {
    RingSlot& slot = slots_[next_];
    next_ = (next_ + 1) % slots_.size();
    settle(slot);
    Copy staged = part;
    if (part.direction == CopyDirection::to_device) {
      std::memcpy(slot.data, part.from, static_cast<std::size_t>(part.bytes));
      staged.from = slot.data;
    } else {
      staged.to = slot.data;
      slot.host_to = part.to;
      slot.bytes = part.bytes;
    }
    slot.queue->start(staged);
  }

  static void settle(RingSlot& slot) {
    slot.queue->wait();
    if (slot.host_to != nullptr) {
      std::memcpy(slot.host_to, slot.data, static_cast<std::size_t>(slot.bytes));
      slot.host_to = nullptr;
    }
  }

  std::int64_t slot_bytes_;
  std::unique_ptr<HostMemory> memory_;
  std::vector<RingSlot> slots_;
  std::size_t next_ = 0;
};

MemoryPlan copy_plan(const CopySpec& spec, Device& device) {
  refuse_uncountable(spec.in_flight, 4.0 * static_cast<double>(stride_of(spec)));
  const Transfers& transfers = transfers_or_refuse(device);
  const std::optional<int> node = node_named(spec.node, transfers);
  const std::int64_t locked = spec.staged                     ? staging_ring_bytes(spec.bytes)
                              : spec.host == HostKind::pinned ? end_bytes(spec)
                                                              : 0;
  if (locked > 0) {
    if (const auto reason =
            transfers.cannot_hold({.kind = HostKind::pinned, .bytes = locked, .node = node})) {
      throw Unsupported(*reason);
    }
  }
  MemoryPlan plan;
  plan.at_peak[MemoryCategory::input] = end_bytes(spec);
  if (device.host_accessible()) {
    plan.at_peak[MemoryCategory::workspace] = host_bytes(spec);
  }
  plan.peak = plan.at_peak.total();
  plan.in_step = plan.at_peak;
  return plan;
}

CopyWorkload::CopyWorkload(const CopySpec& spec, Device& device)
    : spec_(spec), device_(device), transfers_(transfers_or_refuse(device)), stride_(stride_of(spec)) {
  if (spec.cold_pages && spec.host == HostKind::pinned) {
    throw Unsupported("pinned memory has no first-touch pages: locking touches them all");
  }
  if (spec.cold_pages && spec.to_device && !device_.host_accessible()) {
    throw Unsupported("the device's own pages cannot be taken fresh from the system");
  }
  if (device_.host_accessible()) {
    reserved_.emplace(device_.memory(), MemoryCategory::workspace, host_bytes(spec));
  }
  buffer_ = device_.allocate(end_bytes(spec), MemoryCategory::input);
  const std::optional<int> node = node_named(spec.node, transfers_);
  host_ = transfers_.host_memory({.kind = spec.host, .bytes = end_bytes(spec), .node = node});
  if (spec.staged) {
    ring_ = std::make_unique<StagingRing>(transfers_, spec.bytes, node);
  }
  if (spec.own_queue && !spec.staged) {  // a ring brings its own
    queue_ = transfers_.copy_queue();
  }
  const std::int64_t count = spec.directions() * spec.in_flight;
  for (std::int64_t i = 0; i < count; ++i) {
    const bool up = spec.to_device && (!spec.to_host || i % 2 == 0);
    copies_.push_back({.direction = up ? CopyDirection::to_device : CopyDirection::to_host,
                       .host = spec.host,
                       .to = up ? device_at(i) : host_at(i),
                       .from = up ? host_at(i) : device_at(i),
                       .bytes = spec.bytes});
  }
  if (spec.cold_pages && !transfers_.renew(copies_.front().to, stride_)) {
    throw Unsupported(spec.bytes < kPage ? "less than a page cannot be taken fresh from the system"
                                         : "this memory's pages cannot be taken fresh from the system");
  }
  for (std::int64_t i = 0; i < count; ++i) {
    write_source(copies_[static_cast<std::size_t>(i)], i * spec.bytes);
  }
}

CopyWorkload::~CopyWorkload() = default;

std::byte* CopyWorkload::device_at(std::int64_t copy) const {
  const auto address = reinterpret_cast<std::uintptr_t>(buffer_.data());
  const auto to_page = static_cast<std::int64_t>((kPage - address % kPage) % kPage);
  return buffer_.data() + to_page + copy * stride_;
}

std::byte* CopyWorkload::host_at(std::int64_t copy) const {
  return host_->data() + copy * stride_;
}

void CopyWorkload::before_step() {
  for (const Copy& copy : copies_) {
    if (spec_.cold_pages) {
      transfers_.renew(copy.to, stride_);
    } else {
      transfers_.evict(copy.to, copy.bytes);
    }
    transfers_.evict(copy.from, copy.bytes);
  }
}

void CopyWorkload::step() {
  if (ring_) {
    ring_->copy(copies_);
  } else if (queue_) {
    for (const Copy& copy : copies_) {
      queue_->start(copy);
    }
    queue_->wait();
  } else {
    transfers_.copy(copies_);
  }
}

void CopyWorkload::write_source(const Copy& copy, std::int64_t offset) {
  constexpr std::int64_t kPart = std::int64_t{4} << 20;
  if (copy.direction == CopyDirection::to_device) {
    return write_pattern({const_cast<std::byte*>(copy.from), static_cast<std::size_t>(copy.bytes)},
                         spec_.seed, offset);
  }
  std::vector<std::byte> part(static_cast<std::size_t>(std::min(kPart, copy.bytes)));
  for (std::int64_t at = 0; at < copy.bytes; at += kPart) {
    const std::int64_t bytes = std::min(kPart, copy.bytes - at);
    write_pattern({part.data(), static_cast<std::size_t>(bytes)}, spec_.seed, offset + at);
    device_.upload(const_cast<std::byte*>(copy.from) + at, part.data(), bytes);
  }
}

void CopyWorkload::poison_destination(const Copy& copy) {
  if (copy.direction == CopyDirection::to_device) {
    device_.fill(copy.to, kPoison, copy.bytes);
  } else {
    std::memset(copy.to, std::to_integer<int>(kPoison), static_cast<std::size_t>(copy.bytes));
  }
}

Verification CopyWorkload::verify() {
  constexpr std::int64_t kPart = std::int64_t{4} << 20;
  for (const Copy& copy : copies_) {
    poison_destination(copy);
  }
  device_.synchronize();
  before_step();
  step();
  device_.synchronize();
  std::int64_t wrong = 0;
  std::string where;
  std::vector<std::byte> part(static_cast<std::size_t>(std::min(kPart, spec_.bytes)));
  for (std::size_t i = 0; i < copies_.size(); ++i) {
    const Copy& copy = copies_[i];
    const std::int64_t offset = static_cast<std::int64_t>(i) * spec_.bytes;
    for (std::int64_t at = 0; at < copy.bytes; at += kPart) {
      const std::int64_t bytes = std::min(kPart, copy.bytes - at);
      const std::byte* found = copy.to + at;
      if (copy.direction == CopyDirection::to_device) {
        device_.download(part.data(), found, bytes);
        found = part.data();
      }
      const auto mismatch = find_mismatch({found, static_cast<std::size_t>(bytes)}, spec_.seed, offset + at);
      if (mismatch) {
        if (wrong == 0) {
          where = fmt::format(", first at byte {} of copy {}", mismatch->first - offset, i);
        }
        wrong += mismatch->bytes;
      }
    }
  }
  Verification verification;
  verification.passed = wrong == 0;
  verification.error = static_cast<double>(wrong) / static_cast<double>(spec_.total_bytes());
  verification.detail =
      fmt::format("seeded bytes after the copy: {} of {} differ{}", wrong, spec_.total_bytes(), where);
  return verification;
}

Work CopyWorkload::work() const {
  return {.samples = static_cast<double>(copies_.size()),
          .sample_bytes = static_cast<double>(spec_.total_bytes()),
          .launches = static_cast<std::int64_t>(copies_.size())};
}

namespace {

class ConfiguredCopy final : public ConfiguredWorkload {
 public:
  explicit ConfiguredCopy(const WorkloadSpec& spec) : copy_(copy_spec(spec)) {}

  std::optional<std::string> unsupported(Device& device) const override {
    const Transfers* const transfers = transfers_of(device);
    if (transfers == nullptr) {
      return "this device offers no copies to be measured";
    }
    try {
      return transfers->cannot_hold({.bytes = 1, .node = node_named(copy_.node, *transfers)});
    } catch (const Unsupported& error) {
      return error.what();
    }
  }
  MemoryPlan plan(Device& device) const override { return copy_plan(copy_, device); }
  std::unique_ptr<Workload> make(Device& device) const override {
    return std::make_unique<CopyWorkload>(copy_, device);
  }

 private:
  CopySpec copy_;
};

WorkloadType copy_type() {
  WorkloadType type{
      .name = "copy",
      .kind = "operation",
      .description = "copies between host and device memory, pinned, pageable or staged",
      .modes = {"h2d", "d2h", "both"},
      .options = declare(kBytes, kHostMemory, kFirstTouch, kOwnQueue),
      .configure = [](const WorkloadSpec& spec) { return std::make_shared<ConfiguredCopy>(spec); }};
  type.options.push_back(node_option());
  return type;
}

const Registration<WorkloadType> BENCH_REGISTERED{copy_type()};

}  // namespace
}  // namespace bench::kernels
