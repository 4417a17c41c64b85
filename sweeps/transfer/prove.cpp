#include "sweeps/transfer/prove.h"

#include "sweeps/transfer/studies.h"

namespace bench::sweeps {

void note_transfer(const SweepRequest& request, Device& device, ResultDocument& document) {
  const TransferOptions options = transfer_options(request);
  const Transfers* const transfers = transfers_of(device);
  document.sweep["transfer"] = {{"crosses_bus", transfers != nullptr && transfers->crosses_bus()},
                                {"workers", options.workers},
                                {"prefetch", options.prefetch},
                                {"node", options.node}};
}

void prove_transfer(SweepStudy& study) {
  Transfers* const transfers = transfers_of(study.device);
  if (transfers == nullptr) {
    return;
  }
  const TransferStudies studies{
      .sweep = study, .transfers = *transfers, .options = transfer_options(study.request)};
  study_pinning(studies);
  study_calls(studies);
  study_steps(studies);
}

}  // namespace bench::sweeps
