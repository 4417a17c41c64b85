// The calls of NCCL that groups of ranks make, so that their logic runs against a double on machines without
// cards. Plain numbers and pointers: needs no header of NVIDIA's.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

// The pointee of ncclComm_t, and of cudaStream_t.
struct ncclComm;
struct CUstream_st;

namespace bench::kernels::nccl {

// ncclResult_t of these names; the numbers are part of NCCL's interface.
namespace result {
inline constexpr int kSuccess = 0;
inline constexpr int kInProgress = 7;
}  // namespace result

// By which the ranks of a communicator find each other (ncclUniqueId).
using UniqueId = std::array<char, 128>;

// Each call returns a ncclResult_t. Communicators block, unless NCCL_COMM_BLOCKING=0 is set: kInProgress then
// means that the call goes on, and async_error() says how it ended. Collectives are queued on the stream;
// reductions add fp32 values.
class Nccl {
 public:
  Nccl() = default;
  Nccl(const Nccl&) = delete;
  Nccl& operator=(const Nccl&) = delete;
  virtual ~Nccl() = default;

  virtual int version(int& version) = 0;  // 22809 is 2.28.9
  virtual int unique_id(UniqueId& id) = 0;
  virtual int init(ncclComm*& comm, int ranks, const UniqueId& id, int rank) = 0;
  virtual int async_error(ncclComm* comm, int& error) = 0;
  virtual int finalize(ncclComm* comm) = 0;
  virtual int destroy(ncclComm* comm) = 0;
  virtual int abort(ncclComm* comm) = 0;

  virtual int all_reduce(const void* from, void* to, std::size_t values, ncclComm* comm,
                         CUstream_st* stream) = 0;
  virtual int reduce_scatter(const void* from, void* to, std::size_t values_of_rank, ncclComm* comm,
                             CUstream_st* stream) = 0;
  virtual int all_gather(const void* from, void* to, std::size_t bytes_of_rank, ncclComm* comm,
                         CUstream_st* stream) = 0;
  virtual int send(const void* from, std::size_t bytes, int peer, ncclComm* comm, CUstream_st* stream) = 0;
  virtual int receive(void* to, std::size_t bytes, int peer, ncclComm* comm, CUstream_st* stream) = 0;

  // Sends and receives between these two calls start together, at group_end().
  virtual int group_start() = 0;
  virtual int group_end() = 0;

  virtual std::string error_text(int code) = 0;
  virtual std::string last_error() = 0;  // in words; may be empty
};

// 22809 is "2.28.9", 2708 is "2.7.8".
std::string version_text(int version);

// The library itself, opened at its first call and never closed; nullptr: `why_missing` says why. Only in a
// program built with NCCL's header.
Nccl* opened_nccl(std::string& why_missing);

}  // namespace bench::kernels::nccl
