#pragma once

#include <type_traits>
#include <utility>

/// References to callables for parameters, without copy or allocation.
namespace equalux {

template <typename Signature>
class FunctionRef;

/// Reference to a callable that is owned elsewhere and must live as long as this is called: for
/// parameters, not for members.
template <typename Result, typename... Arguments>
class FunctionRef<Result(Arguments...)> {
 public:
  template <typename Callable>
  requires(!std::is_same_v<std::remove_cvref_t<Callable>, FunctionRef> &&
           std::is_object_v<std::remove_reference_t<Callable>> &&
           std::is_invocable_r_v<Result, Callable&, Arguments...>) FunctionRef(Callable&& callable)
  noexcept  // NOLINT(google-explicit-constructor)
      : callable_(const_cast<void*>(static_cast<const void*>(&callable))),
        call_([](void* from, Arguments... arguments) -> Result {
          return (*static_cast<std::remove_reference_t<Callable>*>(from))(
              std::forward<Arguments>(arguments)...);
        }) {}

  Result operator()(Arguments... arguments) const {
    return call_(callable_, std::forward<Arguments>(arguments)...);
  }

 private:
  void* callable_;
  Result (*call_)(void*, Arguments...);
};

}  // namespace equalux
