#include "kernels/copy/copy_workload.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <stdexcept>

#include <fmt/format.h>

#include "bench/error.h"
#include "bench/measure/quote.h"
#include "bench/measure/units.h"
#include "kernels/copy/pattern.h"
#include "kernels/workloads/bound.h"
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
  return spec.directions() * spec.at_once * stride_of(spec) + kPage;
}

std::int64_t host_bytes(const CopySpec& spec) {
  return end_bytes(spec) + (spec.staged ? staging_ring_bytes(spec.bytes) : 0);
}

// The option's place among the accepted values.
template <std::size_t Count>
std::size_t choice(const WorkloadSpec& spec, const std::string& name,
                   const std::array<std::string_view, Count>& accepted) {
  const std::string& given = spec.options.at(name);
  const auto at = std::ranges::find(accepted, given);
  if (at == accepted.end()) {
    std::string list;
    for (const std::string_view value : accepted) {
      list += fmt::format("{}{}", list.empty() ? "" : ", ", value);
    }
    throw UsageError(fmt::format("--{}: {} was given; accepted: {}", name, quote(given), list));
  }
  return static_cast<std::size_t>(at - accepted.begin());
}

std::optional<int> node_number(const std::string& given) {
  constexpr std::int64_t kMost = 1023;
  const auto node = whole_number(given);
  return node && *node >= 0 && *node <= kMost ? std::optional(static_cast<int>(*node)) : std::nullopt;
}

Transfers& transfers_or_refuse(Device& device) {
  Transfers* const transfers = transfers_of(device);
  if (transfers == nullptr) {
    throw Unsupported(fmt::format("{} offers no copies to be measured", device.info().id));
  }
  return *transfers;
}

}  // namespace

CopySpec copy_spec(const WorkloadSpec& spec) {
  constexpr std::int64_t kMostBytes = std::int64_t{1} << 40;
  CopySpec copy;
  copy.to_device = spec.mode != "d2h";
  copy.to_host = spec.mode != "h2d";
  const std::size_t memory = choice<3>(spec, "host-memory", {"pinned", "pageable", "staged"});
  copy.host = memory == 0 ? HostKind::pinned : HostKind::pageable;
  copy.staged = memory == 2;
  copy.cold_pages = choice<2>(spec, "pages", {"touched", "cold"}) == 1;
  copy.own_queue = choice<2>(spec, "queue", {"device", "own"}) == 1;
  copy.bytes = parse_bytes("--bytes", spec.options.at("bytes"));
  if (copy.bytes > kMostBytes) {
    throw UsageError(fmt::format("--bytes: {} was given; accepted: up to {}", quote(spec.options.at("bytes")),
                                 format_bytes(kMostBytes)));
  }
  copy.at_once = spec.batch;
  copy.node = spec.options.at("node");
  if (copy.node != "any" && copy.node != "near" && copy.node != "far" && !node_number(copy.node)) {
    throw UsageError(fmt::format("--node: {} was given; accepted: any, near, far, or a NUMA node's number",
                                 quote(copy.node)));
  }
  copy.seed = spec.seed;
  return copy;
}

MemoryPlan copy_plan(const CopySpec& spec, Device& device) {
  refuse_uncountable(spec.at_once, 4.0 * static_cast<double>(stride_of(spec)));
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
    throw Unsupported("pinned memory has no cold pages: locking touches them all");
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
  const std::int64_t count = spec.directions() * spec.at_once;
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

}  // namespace bench::kernels
