#include <string>

#include <gtest/gtest.h>

#include "src/common/utf8.h"

namespace equalux::test {
namespace {

// Letters of one byte, two, three and four.
const std::string kLetters = "a\xC3\xA4\xE2\x82\xAC\xF0\x9F\x8E\xA5z";

TEST(Utf8, LettersAreCounted) {
  EXPECT_EQ(letters_of(""), 0U);
  EXPECT_EQ(letters_of("clip.mp4"), 8U);
  EXPECT_EQ(letters_of(kLetters), 5U);
}

TEST(Utf8, ABeginningHasWholeLettersAlone) {
  const std::size_t expected[] = {0, 1, 1, 3, 3, 3, 6, 6, 6, 6, 10, 11, 11};
  for (std::size_t bytes = 0; bytes < std::size(expected); ++bytes)
    EXPECT_EQ(beginning_of(kLetters, bytes), kLetters.substr(0, expected[bytes])) << bytes;
}

}  // namespace
}  // namespace equalux::test
