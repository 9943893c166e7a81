#pragma once

namespace equalux {

/// The page's text, UTF-8.
extern const char* const kPageHtml;

}  // namespace equalux
