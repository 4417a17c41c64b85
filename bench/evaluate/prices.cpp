#include "bench/evaluate/prices.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <system_error>
#include <vector>

#include <fmt/format.h>

#include "bench/error.h"
#include "bench/text/quote.h"

namespace bench {
namespace {

constexpr std::string_view kPriceForms =
    "give a device and 0.35/h (hire) or 280 (purchase): t4=0.35/h,rtx3060-12gb=280";

std::string_view without_spaces(std::string_view text) {
  while (text.starts_with(' ')) {
    text.remove_prefix(1);
  }
  while (text.ends_with(' ')) {
    text.remove_suffix(1);
  }
  return text;
}

// A sign, or three capital letters.
std::optional<std::string_view> currency_at(std::string_view text, bool at_start) {
  constexpr std::array<std::string_view, 4> kSigns{"$", "€", "£", "¥"};
  for (const std::string_view sign : kSigns) {
    if (at_start ? text.starts_with(sign) : text.ends_with(sign)) {
      return sign;
    }
  }
  constexpr std::size_t kLetters = 3;
  if (text.size() <= kLetters) {
    return std::nullopt;
  }
  const std::string_view code = at_start ? text.substr(0, kLetters) : text.substr(text.size() - kLetters);
  const bool is_code = std::ranges::all_of(code, [](char c) { return c >= 'A' && c <= 'Z'; });
  return is_code ? std::optional(code) : std::nullopt;
}

struct ReadPrice {
  Price price;
  std::string currency;
};

ReadPrice read_price(std::string_view part, std::string_view text) {
  const auto refuse = [&](std::string_view why) {
    throw UsageError(fmt::format("--price: {} {}; {}", quote(part), why, kPriceForms));
  };
  ReadPrice read;
  constexpr std::string_view kHire = "/h";
  if (text.ends_with(kHire)) {
    read.price.is_hire = true;
    text.remove_suffix(kHire.size());
  }
  text = without_spaces(text);
  for (const bool at_start : {true, false}) {
    const std::optional<std::string_view> currency = currency_at(text, at_start);
    if (currency && read.currency.empty()) {
      read.currency = *currency;
      at_start ? text.remove_prefix(currency->size()) : text.remove_suffix(currency->size());
      text = without_spaces(text);
    }
  }
  const std::optional<double> amount = positive_number(text);
  if (!amount) {
    refuse("has no positive price");
  }
  read.price.amount = *amount;
  if (!read.price.is_hire && *amount < kLeastPurchase) {
    refuse(fmt::format("may be hire or purchase (a purchase costs at least {})", kLeastPurchase));
  }
  return read;
}

}  // namespace

PriceList parse_prices(std::string_view text) {
  PriceList list;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    const std::string_view part = text.substr(begin, end - begin);
    begin = end + 1;
    const std::size_t equals = part.rfind('=');
    if (equals == std::string_view::npos && !part.empty() &&
        std::isdigit(static_cast<unsigned char>(part[0])) == 0) {
      throw UsageError(fmt::format("--price: {} has no price; {}", quote(part), kPriceForms));
    }
    if (equals == std::string_view::npos || equals == 0) {
      throw UsageError(fmt::format("--price: {} names no device; {}", quote(part), kPriceForms));
    }
    const ReadPrice read = read_price(part, without_spaces(part.substr(equals + 1)));
    const std::string device(without_spaces(part.substr(0, equals)));
    if (!list.by_device.emplace(device, read.price).second) {
      throw UsageError(fmt::format("--price: {} is given twice; give it once", quote(device)));
    }
    if (!read.currency.empty() && !list.currency.empty() && read.currency != list.currency) {
      throw UsageError(fmt::format("--price: {} and {} are given; give all prices in one currency",
                                   list.currency, read.currency));
    }
    list.currency = read.currency.empty() ? list.currency : read.currency;
  }
  return list;
}

double hours_of_use(const PriceList& list) {
  constexpr double kDaysAYear = 365;
  return list.years * kDaysAYear * list.hours_a_day;
}

double cost_per_hour(const Price& price, const PriceList& list, std::optional<double> power_w) {
  if (price.is_hire) {
    return price.amount;
  }
  const double energy = list.kwh && power_w ? *list.kwh * *power_w / 1000 : 0;
  return price.amount / hours_of_use(list) + energy;
}

std::optional<double> positive_number(std::string_view text) {
  double value = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), value, std::chars_format::fixed);
  const bool whole = read.ec == std::errc{} && read.ptr == text.data() + text.size();
  return whole && std::isfinite(value) && value > 0 ? std::optional(value) : std::nullopt;
}

double parse_positive(std::string_view option, std::string_view text, double most) {
  const std::optional<double> value = positive_number(text);
  if (!value || *value > most) {
    throw UsageError(
        fmt::format("{}: {} is not accepted; give a number above 0 and up to {}", option, quote(text), most));
  }
  return *value;
}

}  // namespace bench
