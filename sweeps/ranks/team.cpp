#include "sweeps/ranks/team.h"

#include <algorithm>
#include <cstdio>
#include <exception>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "bench/error.h"
#include "bench/host/interrupt.h"
#include "bench/host/process_memory.h"
#include "bench/text/units.h"

namespace bench::sweeps {
namespace {

// The first figure.
constexpr double kRefused = -1;  // before the bytes that were wanted
constexpr double kUnsupported = -2;
constexpr double kInterrupted = -3;

}  // namespace

RankAnswer RankTeam::answer(const Order& order) {
  const auto point = static_cast<std::size_t>(order.point);
  // Of what one rank does by itself: a refusal is its answer. Within a step the others would wait for it.
  const auto alone = [&](const std::function<RankAnswer()>& action) -> RankAnswer {
    try {
      return action();
    } catch (const OutOfMemory& error) {
      return {kRefused, static_cast<double>(error.requested)};
    } catch (const Unsupported& error) {
      why_unsupported_ = error.what();
      return {kUnsupported};
    } catch (const Interrupted&) {
      return {kInterrupted};
    }
  };
  const auto of_part = [&](const auto& action) -> RankAnswer {
    RankPart& part = *parts_.at(order.number);
    const auto held = [&] {
      const InterruptsHeld until_done;
      return action(part);
    };
    const RankAnswer answered = part.meets_others() ? held() : alone([&] { return action(part); });
    return ranks_.rank() > 0 && interrupted() ? RankAnswer{kInterrupted} : answered;
  };
  switch (order.action) {
    case Order::Action::plan:
      return alone([&]() -> RankAnswer {
        const RankNeed need = parts_of_.plan(ranks_, point);
        return {static_cast<double>(need.planned), static_cast<double>(need.cap.value_or(need.planned))};
      });
    case Order::Action::prepare:
      return alone([&] {
        std::unique_ptr<RankPart> part = parts_of_.make(ranks_, point);
        const RankAnswer known = part->prepared();
        parts_[order.number] = std::move(part);
        return known;
      });
    case Order::Action::run:
      return of_part([&](RankPart& part) { return part.run(order.calls); });
    case Order::Action::verify:
      return of_part([](RankPart& part) { return part.verify(); });
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
  RankAnswer answered{};
  try {
    answered = answer(orders.front());
  } catch (const RanksLost&) {
    throw;
  } catch (const DeviceLost&) {
    ended_ = true;  // the others do not come to the next order
    throw;
  } catch (const OutOfMemory& error) {
    ranks_.end_alone(fmt::format("it ran out of memory: {}", error.what()));
  } catch (const std::exception& error) {
    ranks_.end_alone(failure_in_words(error));
  }
  std::vector<RankAnswer> answers(size);
  ranks_.gather(answered.data(), answers.data(), sizeof(answered));
  return answers;
}

std::vector<RankAnswer> RankTeam::prepare(std::size_t point, std::int64_t& number) {
  require_memory(point);
  number = ++numbers_;
  try {
    return ordered(
        {.action = Order::Action::prepare, .number = number, .point = static_cast<std::int64_t>(point)});
  } catch (const RanksLost&) {
    throw;
  } catch (const std::runtime_error&) {
    release(number);
    throw;
  }
}

// The first rank decides for all, before any has begun: a rank alone that refused would leave the others
// within a collective.
void RankTeam::require_memory(std::size_t point) {
  if (fitting_.contains(point)) {
    return;
  }
  const std::vector<RankAnswer> answers =
      ordered({.action = Order::Action::plan, .point = static_cast<std::int64_t>(point)});
  for (std::size_t rank = 0; rank < answers.size(); ++rank) {
    const auto planned = static_cast<std::int64_t>(answers[rank][0]);
    const auto cap = static_cast<std::int64_t>(answers[rank][1]);
    if (planned > cap) {
      throw OutOfMemory(fmt::format("rank {} needs {} (predicted), its memory cap is {}", rank,
                                    format_bytes(planned), format_bytes(cap)),
                        planned);
    }
  }
  fitting_.insert(point);
}

std::vector<RankAnswer> RankTeam::ordered(const Order& order) {
  std::vector<RankAnswer> answers = carry_out(order);
  const auto answered = [&](double figure) {
    return std::ranges::find_if(answers, [=](const RankAnswer& answer) { return answer[0] == figure; });
  };
  if (const auto rank = answered(kUnsupported); rank != answers.end()) {
    throw Unsupported(answers.front()[0] == kUnsupported
                          ? why_unsupported_
                          : fmt::format("rank {} cannot run it", rank - answers.begin()));
  }
  if (const auto refused = answered(kRefused); refused != answers.end()) {
    const auto bytes = static_cast<std::int64_t>((*refused)[1]);
    throw OutOfMemory(
        fmt::format("rank {} has no memory for {}", refused - answers.begin(), format_bytes(bytes)), bytes);
  }
  if (const auto rank = answered(kInterrupted); rank != answers.end()) {
    if (!interrupted()) {  // the signal came to that rank alone
      fmt::print(stderr, "bench: rank {} was interrupted, so that the run ends\n", rank - answers.begin());
      set_interrupted(true);
    }
    throw Interrupted("interrupted while ranks were at work");
  }
  return answers;
}

std::vector<RankAnswer> RankTeam::run(std::int64_t number, std::int64_t calls) {
  return ordered({.action = Order::Action::run, .number = number, .calls = calls});
}

std::vector<RankAnswer> RankTeam::verify(std::int64_t number) {
  return ordered({.action = Order::Action::verify, .number = number});
}

void RankTeam::release(std::int64_t number) noexcept {
  if (ended_) {
    return;
  }
  try {
    carry_out({.action = Order::Action::release, .number = number});
  } catch (const std::exception&) {
    // The ranks are lost: the next call says so.
  }
}

RankTeam::~RankTeam() {
  try {
    if (ranks_.rank() == 0 && !ended_) {
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
