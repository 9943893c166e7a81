#pragma once

#include <cstdint>

/// Operator new and aligned_alloc of a whole test program, which fail where they are asked to.
namespace equalux::test::short_memory {

enum class Lasting : std::uint8_t {
  once,      ///< one call fails
  from_then  ///< it and all after it
};

/// The at-th call from now on fails, counted from 0 over all threads.
void fail_at(std::int64_t at, Lasting lasting);
/// Nothing fails any more. True where something did.
bool stop();
/// What operator new gave and has not got back.
[[nodiscard]] std::int64_t held();

}  // namespace equalux::test::short_memory
