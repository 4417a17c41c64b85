#include "bench/result/result.h"

template class nlohmann::basic_json<nlohmann::ordered_map>;
