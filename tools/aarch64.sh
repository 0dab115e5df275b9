#!/usr/bin/env bash
# tools/aarch64.sh [REPORT.xml]: compile the library for 64-bit ARM with Debian's cross compiler, and run
# tests of its kernels and refinement in QEMU (QEMU is slow: not all tests). The libraries that Palmette
# needs are unpacked into build/aarch64/root; nothing of them is installed. REPORT.xml is what ctest reports.
set -euo pipefail

report=${1:+$(realpath -m -- "$1")}
cd "$(dirname -- "${BASH_SOURCE[0]}")/.."
# shellcheck source=tools/setup.sh
. tools/setup.sh
folder=$PWD/build/aarch64
foreign_packages=(libopenblas-pthread-dev libsuitesparse-dev libmetis-dev libscotch-dev zlib1g-dev
                  libgtest-dev libstdc++6 libgfortran5)
tests=(base blocks columns refine)

# Packages of another architecture, by an apt with a state of its own: this system's is not changed.
fetch_libraries() {
  local package
  [ -e "$folder/root/fetched" ] && return
  rm -rf "$folder/apt" "$folder/root"
  mkdir -p "$folder/apt"/{state/lists/partial,cache/archives/partial} "$folder/root"
  : >"$folder/apt/state/status"
  cat >"$folder/apt/apt.conf" <<END
APT::Architecture "arm64"; APT::Architectures { "arm64"; };
Dir::State "$folder/apt/state"; Dir::State::status "$folder/apt/state/status"; Dir::Cache "$folder/apt/cache";
END
  APT_CONFIG=$folder/apt/apt.conf apt-get -o Acquire::Retries=3 -qq update &&
    APT_CONFIG=$folder/apt/apt.conf apt-get -o Acquire::Retries=3 -qq install -y --download-only \
      --no-install-recommends "${foreign_packages[@]}" || return
  for package in "$folder"/apt/cache/archives/*.deb; do dpkg-deb -x "$package" "$folder/root" || return; done
  rm -rf "$folder/apt/cache"
  touch "$folder/root/fetched"
}

build_library() {
  cmake -S . -B "$folder/build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DPALMETTE_MPI=OFF -DPALMETTE_CUDA=OFF \
    -DPALMETTE_HIP=OFF -DPALMETTE_CLI=OFF -DPALMETTE_WARNINGS_AS_ERRORS=ON \
    -DCMAKE_TOOLCHAIN_FILE="$PWD/cmake/aarch64.cmake" -DPALMETTE_AARCH64_ROOT="$folder/root" &&
    cmake --build "$folder/build" --parallel "$jobs" --target palmette_capi "${tests[@]/#/test_}"
}

run_tests() {
  ctest --test-dir "$folder/build" --parallel "$jobs" --output-on-failure --no-tests=error \
    ${report:+--output-junit "$report"} -R "^($(IFS='|'; echo "${tests[*]}"))[.]"
}

install_packages "${build_packages[@]}" libgtest-dev g++-aarch64-linux-gnu qemu-user-static
step "aarch64: fetching libraries" fetch_libraries
build_step "aarch64: building" build_library
run_tests
