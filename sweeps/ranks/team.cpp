#include "sweeps/ranks/team.h"

#include <algorithm>
#include <exception>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "bench/error.h"
#include "bench/measure/units.h"

namespace bench::sweeps {
namespace {

// The first figure.
constexpr double kRefused = -1;  // before the bytes that were wanted
constexpr double kUnsupported = -2;

}  // namespace

RankAnswer RankTeam::answer(const Order& order) {
  switch (order.action) {
    case Order::Action::prepare:
      try {
        std::unique_ptr<RankPart> part = make_(ranks_, static_cast<std::size_t>(order.point));
        const RankAnswer known = part->prepared();
        parts_[order.number] = std::move(part);
        return known;
      } catch (const OutOfMemory& error) {
        return {kRefused, static_cast<double>(error.requested)};
      } catch (const Unsupported& error) {
        why_unsupported_ = error.what();
        return {kUnsupported};
      }
    case Order::Action::run:
      return parts_.at(order.number)->run(order.calls);
    case Order::Action::verify:
      return parts_.at(order.number)->verify();
    case Order::Action::release:
      parts_.erase(order.number);
      return {};
    case Order::Action::end:
      ended_ = true;
      end_together(ranks_);
      return {};
  }
  return {};
}

std::vector<RankAnswer> RankTeam::carry_out(const Order& own) {
  const auto size = static_cast<std::size_t>(ranks_.size());
  std::vector<Order> orders(size);
  ranks_.expect_long_wait(true);  // for an order
  ranks_.gather(&own, orders.data(), sizeof(own));
  // What is compared may be computed by one rank alone.
  ranks_.expect_long_wait(orders.front().action == Order::Action::prepare ||
                          orders.front().action == Order::Action::verify);
  const RankAnswer answered = answer(orders.front());
  std::vector<RankAnswer> answers(size);
  ranks_.gather(answered.data(), answers.data(), sizeof(answered));
  return answers;
}

std::vector<RankAnswer> RankTeam::prepare(std::size_t point, std::int64_t& number) {
  number = ++numbers_;
  std::vector<RankAnswer> answers = carry_out(
      {.action = Order::Action::prepare, .number = number, .point = static_cast<std::int64_t>(point)});
  const auto answered = [&](double figure) {
    return std::ranges::find_if(answers, [=](const RankAnswer& answer) { return answer[0] == figure; });
  };
  if (const auto rank = answered(kUnsupported); rank != answers.end()) {
    release(number);
    throw Unsupported(answers.front()[0] == kUnsupported
                          ? why_unsupported_
                          : fmt::format("rank {} cannot run it", rank - answers.begin()));
  }
  if (const auto refused = answered(kRefused); refused != answers.end()) {
    release(number);
    const auto bytes = static_cast<std::int64_t>((*refused)[1]);
    throw OutOfMemory(
        fmt::format("rank {} has no memory for {}", refused - answers.begin(), format_bytes(bytes)), bytes);
  }
  return answers;
}

std::vector<RankAnswer> RankTeam::run(std::int64_t number, std::int64_t calls) {
  return carry_out({.action = Order::Action::run, .number = number, .calls = calls});
}

std::vector<RankAnswer> RankTeam::verify(std::int64_t number) {
  return carry_out({.action = Order::Action::verify, .number = number});
}

void RankTeam::release(std::int64_t number) noexcept {
  try {
    carry_out({.action = Order::Action::release, .number = number});
  } catch (const std::exception&) {
    // The ranks are lost: the next call says so.
  }
}

RankTeam::~RankTeam() {
  try {
    if (ranks_.rank() == 0) {
      carry_out({.action = Order::Action::end});
    }
  } catch (const std::exception&) {
    // The ranks are lost: nobody is left to be told.
  }
}

void RankTeam::serve() {
  while (!ended_) {
    carry_out({});
  }
}

}  // namespace bench::sweeps
