#include "pipelines/core/thrown.h"

#include <new>

#include "pipelines/core/processor.h"

namespace equalux {
namespace {

/// What `make` says, or what was thrown there.
template <typename Make>
std::exception_ptr made_or_thrown(const Make& make) noexcept {
  try {
    return std::make_exception_ptr(make());
  } catch (...) {
    return std::current_exception();
  }
}

}  // namespace

std::exception_ptr as_error(std::exception_ptr thrown, ExitCode code,
                            const std::function<std::string()>& name) noexcept {
  try {
    std::rethrow_exception(thrown);
  } catch (const Error&) {
    return thrown;
  } catch (const std::bad_alloc&) {
    return thrown;
  } catch (const std::exception& error) {
    return made_or_thrown([&] { return Error(code, name() + ": " + error.what()); });
  } catch (...) {
    return thrown;
  }
}

std::exception_ptr as_processor_failure(std::exception_ptr thrown) noexcept {
  try {
    std::rethrow_exception(thrown);
  } catch (const Error& error) {
    if (error.code() != ExitCode::unavailable) return thrown;
    return made_or_thrown([&] { return ProcessorFailed(error.what()); });
  } catch (...) {
    return thrown;
  }
}

std::string message_of(const std::exception_ptr& thrown) {
  try {
    std::rethrow_exception(thrown);
  } catch (const std::bad_alloc&) {
    return "memory is short";
  } catch (const std::exception& error) {
    return error.what();
  } catch (...) {
    return "unknown error";
  }
}

}  // namespace equalux
