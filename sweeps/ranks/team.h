// How a sweep over ranks goes: the first rank gives orders, and all carry them out together.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "bench/ranks.h"

namespace bench::sweeps {

// What one rank answers; the sweep says what it means.
using RankAnswer = std::array<double, 12>;

// Bytes that a rank needs for a point by its plan, and its memory cap.
struct RankNeed {
  std::int64_t planned = 0;
  std::optional<std::int64_t> cap{};
};

// A rank's part of a point of the plan, which is the same on every rank. All ranks call the same functions.
class RankPart {
 public:
  RankPart() = default;
  RankPart(const RankPart&) = delete;
  RankPart& operator=(const RankPart&) = delete;
  virtual ~RankPart() = default;

  virtual RankAnswer prepared() = 0;  // what is known once it is made
  virtual RankAnswer run(std::int64_t calls) = 0;
  virtual RankAnswer verify() = 0;
  // Whether run() and verify() exchange data with other ranks, which then wait for this one.
  virtual bool meets_others() const { return true; }
};

class RankTeam {
 public:
  // Plans and makes this rank's part of a point. Both throw OutOfMemory and Unsupported.
  struct Parts {
    std::function<RankNeed(RankGroup& ranks, std::size_t point)> plan;
    std::function<std::unique_ptr<RankPart>(RankGroup& ranks, std::size_t point)> make;
  };
  RankTeam(RankGroup& ranks, Parts parts) : ranks_(ranks), parts_of_(std::move(parts)) {}
  RankTeam(const RankTeam&) = delete;
  RankTeam& operator=(const RankTeam&) = delete;
  ~RankTeam();  // of the first rank: tells the others to end

  // --- The first rank's: each returns every rank's answer, by rank. Throws Interrupted too.

  // Makes a point on every rank, under a new number; on none where one of them would exceed its memory cap.
  // Throws OutOfMemory naming the rank that has no memory for it, and Unsupported.
  std::vector<RankAnswer> prepare(std::size_t point, std::int64_t& number);
  std::vector<RankAnswer> run(std::int64_t number, std::int64_t calls);
  std::vector<RankAnswer> verify(std::int64_t number);
  void release(std::int64_t number) noexcept;
  // Its own part of a point, while the others wait for an order.
  RankPart& own(std::int64_t number) { return *parts_.at(number); }

  // --- The others': carries out orders until the first rank ends.
  void serve();

 private:
  // Sent as its bytes: every rank runs the same build.
  struct Order {
    enum class Action : std::int64_t { plan, prepare, run, verify, release, end };
    Action action = Action::end;
    std::int64_t number = 0;
    std::int64_t point = 0;  // of plan and prepare
    std::int64_t calls = 0;  // of run
  };
  // Carries out the first rank's order; the others' is not read.
  std::vector<RankAnswer> carry_out(const Order& own);
  RankAnswer answer(const Order& order);
  // The first rank's order. Throws what a rank refused it with.
  std::vector<RankAnswer> ordered(const Order& order);
  void require_memory(std::size_t point);

  RankGroup& ranks_;
  Parts parts_of_;
  std::map<std::int64_t, std::unique_ptr<RankPart>> parts_;
  std::set<std::size_t> fitting_;  // points that every rank has memory for, by plan
  std::int64_t numbers_ = 0;       // given
  bool ended_ = false;
  std::string why_unsupported_;  // the last point, on this rank
};

}  // namespace bench::sweeps
