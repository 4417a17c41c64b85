// How a sweep over ranks goes: the first rank gives orders, and all carry them out together.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "bench/ranks.h"

namespace bench::sweeps {

// What one rank answers; the sweep says what it means.
using RankAnswer = std::array<double, 5>;

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
};

class RankTeam {
 public:
  // Makes the part of this rank. Throws OutOfMemory and Unsupported.
  using Make = std::function<std::unique_ptr<RankPart>(RankGroup& ranks, std::size_t point)>;
  RankTeam(RankGroup& ranks, Make make) : ranks_(ranks), make_(std::move(make)) {}
  RankTeam(const RankTeam&) = delete;
  RankTeam& operator=(const RankTeam&) = delete;
  ~RankTeam();  // of the first rank: tells the others to end

  // --- The first rank's: each returns every rank's answer, by rank.

  // Makes a point on every rank, under a new number. Throws OutOfMemory naming the rank that has no memory
  // for it, and Unsupported.
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
    enum class Action : std::int64_t { prepare, run, verify, release, end };
    Action action = Action::end;
    std::int64_t number = 0;
    std::int64_t point = 0;  // of prepare
    std::int64_t calls = 0;  // of run
  };
  // Carries out the first rank's order; the others' is not read.
  std::vector<RankAnswer> carry_out(const Order& own);
  RankAnswer answer(const Order& order);

  RankGroup& ranks_;
  Make make_;
  std::map<std::int64_t, std::unique_ptr<RankPart>> parts_;
  std::int64_t numbers_ = 0;  // given
  bool ended_ = false;
  std::string why_unsupported_;  // the last point, on this rank
};

}  // namespace bench::sweeps
