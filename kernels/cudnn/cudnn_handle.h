// cuDNN's handles: one for each CUDA device, made when it is first asked for. Needs no header of cuDNN.
#pragma once

struct CUstream_st;
struct cudnnContext;  // cudnnHandle_t is a pointer to it

namespace bench::kernels::cudnn {

// The handle of device `ordinal`. It stays until the process ends, as the device's context does. Makes the
// device current. Throws runtime_error.
cudnnContext* handle_of(int ordinal);

// The same, with its work queued on `stream`.
cudnnContext* handle_on(int ordinal, CUstream_st* stream);

}  // namespace bench::kernels::cudnn
