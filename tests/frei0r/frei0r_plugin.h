#pragma once

#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <dlfcn.h>
#include <gtest/gtest.h>

extern "C" {
#include <frei0r.h>
}

/// A frei0r plugin as hosts load it.
namespace equalux::test {

class Frei0rPlugin {
 public:
  explicit Frei0rPlugin(const std::string& name)
      : handle_(dlopen((std::string(EQUALUX_FREI0R_FOLDER "/") + name + ".so").c_str(),
                       RTLD_NOW | RTLD_LOCAL),
                &dlclose) {
    if (!handle_) throw std::runtime_error(dlerror());
    find(init, "f0r_init");
    find(deinit, "f0r_deinit");
    find(get_plugin_info, "f0r_get_plugin_info");
    find(get_param_info, "f0r_get_param_info");
    find(construct, "f0r_construct");
    find(destruct, "f0r_destruct");
    find(set_param_value, "f0r_set_param_value");
    find(get_param_value, "f0r_get_param_value");
    find(update, "f0r_update");
    EXPECT_EQ(init(), 1);
    get_plugin_info(&info);
    for (int i = 0; i < info.num_params; ++i) {
      f0r_param_info_t parameter{};
      get_param_info(&parameter, i);
      parameters.push_back(parameter);
    }
  }
  ~Frei0rPlugin() { deinit(); }
  Frei0rPlugin(const Frei0rPlugin&) = delete;
  Frei0rPlugin& operator=(const Frei0rPlugin&) = delete;

  [[nodiscard]] int index_of(const std::string& name) const {
    for (std::size_t i = 0; i < parameters.size(); ++i)
      if (parameters[i].name == name) return static_cast<int>(i);
    return -1;
  }
  void set(f0r_instance_t instance, const std::string& name, double value) const {
    set_param_value(instance, &value, index_of(name));
  }
  void set(f0r_instance_t instance, const std::string& name, const char* text) const {
    char* value = const_cast<char*>(text);
    set_param_value(instance, &value, index_of(name));
  }
  [[nodiscard]] double number(f0r_instance_t instance, const std::string& name) const {
    double value = -1;
    get_param_value(instance, &value, index_of(name));
    return value;
  }
  [[nodiscard]] std::string text(f0r_instance_t instance, const std::string& name) const {
    char* value = nullptr;
    get_param_value(instance, &value, index_of(name));
    return value;
  }

  f0r_plugin_info_t info{};
  std::vector<f0r_param_info_t> parameters;
  decltype(&f0r_init) init = nullptr;
  decltype(&f0r_deinit) deinit = nullptr;
  decltype(&f0r_get_plugin_info) get_plugin_info = nullptr;
  decltype(&f0r_get_param_info) get_param_info = nullptr;
  decltype(&f0r_construct) construct = nullptr;
  decltype(&f0r_destruct) destruct = nullptr;
  decltype(&f0r_set_param_value) set_param_value = nullptr;
  decltype(&f0r_get_param_value) get_param_value = nullptr;
  decltype(&f0r_update) update = nullptr;

 private:
  template <typename Function>
  void find(Function& function, const char* name) {
    function = reinterpret_cast<Function>(dlsym(handle_.get(), name));
    if (function == nullptr) throw std::runtime_error(std::string("no ") + name);
  }

  std::unique_ptr<void, int (*)(void*)> handle_;
};

}  // namespace equalux::test
