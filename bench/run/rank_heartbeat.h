// Signs of life of ranks on several hosts: a rank that computes gives them, one that is stopped or gone does
// not. Each rank keeps a connection to the first, which passes on to all what one of them found out.
#pragma once

#include <chrono>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "bench/ranks.h"
#include "bench/run/socket.h"

namespace bench {

class RankHeartbeat {
 public:
  // Every rank calls it. nullptr on every rank where all are on one host, whose processes the system tells
  // of, or where one of them cannot reach the first within a few seconds.
  static std::unique_ptr<RankHeartbeat> connect(RankGroup& group, const std::vector<RankPlace>& places);

  RankHeartbeat(const RankHeartbeat&) = delete;
  RankHeartbeat& operator=(const RankHeartbeat&) = delete;

  // Sends a sign and takes those that came; to be called a few times a second.
  void beat();
  // Since its last sign; nullopt of ranks that this one has no connection to: the first rank hears them.
  std::optional<std::chrono::nanoseconds> silent_for(int rank) const;
  // Its connection has ended.
  bool is_gone(int rank) const;
  // Tells all ranks why this one ends.
  void tell(const std::string& reason);
  // What another rank told; empty: nothing yet.
  std::string told() const;

 private:
  using Time = std::chrono::steady_clock::time_point;
  struct Peer {
    Socket socket{};
    bool gone = false;
    Time heard{};
    std::string text{};  // that has not ended
  };

  explicit RankHeartbeat(int ranks) : peers_(static_cast<std::size_t>(ranks)) {}
  void listen_for_all(const Socket& listening, const std::string& key);
  void reach_first(const std::string& invitation, int rank);
  void hear(std::size_t rank, Time now);
  void pass_on(const std::string& text, std::size_t except);

  mutable std::mutex mutex_;
  std::vector<Peer> peers_;  // by rank: of the first rank all others, else the first
  Time sent_{};
  std::string told_;
};

}  // namespace bench
