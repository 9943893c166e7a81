#include "tests/pipewire/private_daemon.h"

#include <array>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <thread>

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "pipelines/pipewire/daemon_state.h"

namespace equalux::test {
namespace {

using namespace std::chrono_literals;

constexpr std::array<const char*, 3> kPrograms{"dbus-daemon", "pipewire", "wireplumber"};
constexpr auto kStart = 30s;

bool is_installed(const std::string& program) {
  return std::system(("command -v " + program + " >/dev/null 2>&1").c_str()) == 0;
}

/// Polls, within the time that programs need to start.
template <typename Condition>
void await(const std::string& what, const Condition& condition) {
  const auto deadline = std::chrono::steady_clock::now() + kStart;
  while (!condition()) {
    if (std::chrono::steady_clock::now() > deadline) throw std::runtime_error(what + " is missing");
    std::this_thread::sleep_for(10ms);
  }
}

}  // namespace

double cpu_seconds_of(pid_t process) {
  std::ifstream file("/proc/" + std::to_string(process) + "/stat");
  std::string text;
  std::getline(file, text);
  const std::size_t name_end = text.rfind(')');
  if (name_end == std::string::npos) return 0;
  // Behind the name: state, then ten numbers, then user and system time.
  char state = 0;
  std::array<long long, 10> skipped{};
  long long user = 0;
  long long system = 0;
  std::istringstream fields(text.substr(name_end + 1));
  fields >> state;
  for (long long& each : skipped)
    fields >> each;
  fields >> user >> system;
  return static_cast<double>(user + system) / static_cast<double>(::sysconf(_SC_CLK_TCK));
}

std::string PrivateDaemon::missing() {
  std::string names;
  for (const char* program : kPrograms)
    if (!is_installed(program)) names += (names.empty() ? "" : ", ") + std::string(program);
  return names;
}

PrivateDaemon::PrivateDaemon() {
  ::setenv("XDG_RUNTIME_DIR", folder_.text().c_str(), 1);
  ::unsetenv("PIPEWIRE_REMOTE");
  // No device of this machine is for tests. Both forms of WirePlumber's configuration, old and new.
  const std::filesystem::path settings = folder_ / "config/wireplumber";
  for (const char* part : {"main.lua.d", "bluetooth.lua.d", "wireplumber.conf.d"})
    std::filesystem::create_directories(settings / part);
  write_file(settings / "main.lua.d/60-no-devices.lua",
             "alsa_monitor.enabled = false\nv4l2_monitor.enabled = false\n"
             "libcamera_monitor.enabled = false\n");
  write_file(settings / "bluetooth.lua.d/60-no-devices.lua", "bluez_monitor.enabled = false\n");
  write_file(settings / "wireplumber.conf.d/60-no-devices.conf",
             "wireplumber.profiles = { main = { hardware.audio = disabled, hardware.bluetooth = "
             "disabled, hardware.video-capture = disabled } }\n");
  launch("dbus-daemon", "--session --nofork --address=unix:path=" + folder_ / "bus");
  await("the session bus", [&] { return std::filesystem::exists(folder_ / "bus"); });
  start();
}

PrivateDaemon::~PrivateDaemon() {
  for (const char* program : {"wireplumber", "pipewire", "dbus-daemon"})
    end(program);
}

void PrivateDaemon::kill() {
  end("pipewire");
  end("wireplumber");
}

void PrivateDaemon::start_without_manager() {
  launch("pipewire");
  await("the daemon", [] { return look_at_pipewire().trouble.empty(); });
}

void PrivateDaemon::start() {
  start_without_manager();
  launch("wireplumber");
  await("the session manager", [] { return !look_at_pipewire().session_manager.empty(); });
}

double PrivateDaemon::cpu_seconds() const {
  return cpu_seconds_of(running_.at("pipewire"));
}

void PrivateDaemon::launch(const std::string& program, const std::string& arguments) {
  const std::string log = folder_ / (program + ".log");
  const std::string command = "exec " + program + " " + arguments;
  const pid_t parent = ::getpid();
  const pid_t child = ::fork();
  if (child < 0) throw std::runtime_error("fork failed");
  if (child == 0) {
    // Not even a test that crashes leaves one behind.
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != parent) ::_exit(127);
    const int file = ::open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
    ::dup2(file, STDOUT_FILENO);
    ::dup2(file, STDERR_FILENO);
    ::setenv("DBUS_SESSION_BUS_ADDRESS", ("unix:path=" + folder_ / "bus").c_str(), 1);
    ::setenv("XDG_CONFIG_HOME", (folder_ / "config").c_str(), 1);
    ::setenv("XDG_STATE_HOME", (folder_ / "state").c_str(), 1);
    ::execl("/bin/sh", "sh", "-c", command.c_str(), nullptr);
    ::_exit(127);
  }
  running_[program] = child;
}

void PrivateDaemon::end(const std::string& program) {
  const auto at = running_.find(program);
  if (at == running_.end()) return;
  ::kill(at->second, SIGKILL);
  ::waitpid(at->second, nullptr, 0);
  running_.erase(at);
}

}  // namespace equalux::test
