#pragma once

/// Whole numbers of definitions that tests compare with.
namespace equalux::test {

__extension__ using Wide = __int128;

/// a / b, rounded down; b > 0.
inline Wide floor_div(Wide a, Wide b) {
  const Wide q = a / b;
  return q * b > a ? q - 1 : q;
}

}  // namespace equalux::test
