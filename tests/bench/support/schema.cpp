// A file of its own: what valijson's headers expand to takes longer to compile than most tests.
#include "tests/bench/support/schema.h"

#include <fstream>
#include <map>

#include <nlohmann/json.hpp>
// GCC 12 sees overlapping copies in std::string's operator+ where there are none (GCC bug 105651).
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wrestrict"
#endif
#include <valijson/adapters/nlohmann_json_adapter.hpp>
#include <valijson/schema.hpp>
#include <valijson/schema_parser.hpp>
#include <valijson/validation_results.hpp>
#include <valijson/validator.hpp>
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic pop
#endif

namespace bench::testing {
namespace {

// Each file is parsed once.
const valijson::Schema& parsed_schema(const std::string& file) {
  static std::map<std::string, valijson::Schema> parsed;
  const auto [at, absent] = parsed.try_emplace(file);
  if (absent) {
    std::ifstream stream(file);
    const nlohmann::json json = nlohmann::json::parse(stream);
    valijson::SchemaParser parser;
    parser.populateSchema(valijson::adapters::NlohmannJsonAdapter(json), at->second);
  }
  return at->second;
}

}  // namespace

std::string schema_errors(const std::string& text, const char* schema_file) {
  // Strict parsing also refuses NaN and Infinity, which are not JSON.
  const nlohmann::json document = nlohmann::json::parse(text);
  valijson::Validator validator(valijson::Validator::kStrongTypes);
  valijson::ValidationResults results;
  std::string errors;
  if (!validator.validate(parsed_schema(schema_file), valijson::adapters::NlohmannJsonAdapter(document),
                          &results)) {
    valijson::ValidationResults::Error error;
    while (results.popError(error)) {
      for (const std::string& place : error.context) {
        errors += place;
      }
      errors += ": " + error.description + "\n";
    }
  }
  return errors;
}

}  // namespace bench::testing
