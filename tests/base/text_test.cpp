#include "base/text.h"

#include <gtest/gtest.h>

#include "base/error.h"

namespace superstep {
namespace {

// Table 3-7 of the Unicode Standard 15.0, "Well-Formed UTF-8 Byte Sequences": the first and last of
// each row, and what lies just outside.
TEST(Text, Utf8IsWhatUnicodeSays) {
  for (const char* good :
       {"", "a", "\x7f", "\xc2\x80", "\xdf\xbf", "\xe0\xa0\x80", "\xe0\xbf\xbf", "\xe1\x80\x80",
        "\xec\xbf\xbf", "\xed\x80\x80", "\xed\x9f\xbf", "\xee\x80\x80", "\xef\xbf\xbf",
        "\xf0\x90\x80\x80", "\xf0\xbf\xbf\xbf", "\xf1\x80\x80\x80", "\xf3\xbf\xbf\xbf",
        "\xf4\x80\x80\x80", "\xf4\x8f\xbf\xbf"}) {
    EXPECT_FALSE(not_utf8(good)) << good;
  }
  for (const char* bad :
       {"\x80", "\xbf", "\xc0\x80", "\xc1\xbf", "\xc2", "\xc2\x7f", "\xe0\x9f\xbf", "\xe1\x80",
        "\xed\xa0\x80", "\xed\xbf\xbf", "\xf0\x8f\xbf\xbf", "\xf1\x80\x80", "\xf4\x90\x80\x80",
        "\xf5\x80\x80\x80", "\xff"}) {
    EXPECT_EQ(not_utf8(std::string("ab") + bad), 2U) << printable(bad);
  }
}

TEST(Text, PrintableTextHasNoControlCharacters) {
  EXPECT_EQ(printable("a\x1b[31mb\x7f\tc\nd\r"), "a\\x1b[31mb\\x7f\tc\nd\\x0d");
  EXPECT_EQ(printable("\xc2\x9b"
                      "31m caf\xc3\xa9 \xe9"),
            "\\xc2\\x9b31m caf\xc3\xa9 \\xe9");
  EXPECT_EQ(printable(std::string_view("\0", 1)), "\\x00");
}

TEST(Text, ShortenedTextKeepsItsEndsAndWholeCharacters) {
  EXPECT_EQ(shortened("0123456789", 10), "0123456789");
  EXPECT_EQ(shortened("0123456789a", 10), "012…89a");
  EXPECT_EQ(shortened("ééééééé", 10), "é…é");
}

TEST(Text, MessagesAreBoundedAndPrintableWhateverTheyQuote) {
  const MalformedInput error(
      {{{"a\x1b.mlir", 1, 2}, "no \xff" + std::string(1 << 20, 'x') + "\nhelp"}});
  const std::string& message = error.problems().at(0).message;
  EXPECT_LT(message.size(), 1100U);
  EXPECT_EQ(message.substr(0, 7), "no \\xff");
  EXPECT_EQ(message.substr(message.size() - 6), "x\nhelp");
  EXPECT_EQ(std::string(error.what()), "a\\x1b.mlir:1:2: error: " + message);
}

}  // namespace
}  // namespace superstep
