// Owns the tests' precompiled headers; see tests/CMakeLists.txt. Never run.
int main() {
  return 0;
}
