#!/usr/bin/env bash
# tools/eigen_tests.sh [REPORT.xml]: run Eigen's own tests of its sparse solvers on palmette::eigen::LLT, LDLT
# and LU (tests/eigen/own_tests.cpp). They are not among Debian's packages, so the source of libeigen3-dev is
# fetched into build/eigen; nothing of it is installed. REPORT.xml is what ctest reports.
set -euo pipefail

report=${1:+$(realpath -m -- "$1")}
cd "$(dirname -- "${BASH_SOURCE[0]}")/.."
# shellcheck source=tools/setup.sh
. tools/setup.sh
folder=$PWD/build/eigen

# By an apt with a state of its own, since this system's may know no sources.
fetch_sources() {
  [ -e "$folder/source/test/sparse_solver.h" ] && return
  rm -rf "$folder"
  mkdir -p "$folder"/{state/lists/partial,cache/archives/partial,source}
  : >"$folder/state/status"
  echo "deb-src http://deb.debian.org/debian $(. /etc/os-release && echo "$VERSION_CODENAME") main" \
    >"$folder/sources.list"
  cat >"$folder/apt.conf" <<END
Dir::State "$folder/state"; Dir::State::status "$folder/state/status"; Dir::Cache "$folder/cache";
Dir::Etc::sourcelist "$folder/sources.list"; Dir::Etc::sourceparts "/dev/null"; APT::Sandbox::User "root";
END
  APT_CONFIG=$folder/apt.conf apt-get -o Acquire::Retries=3 -qq update &&
    (cd "$folder" && APT_CONFIG=$folder/apt.conf apt-get -o Acquire::Retries=3 -qq source --download-only \
      eigen3) && tar -xf "$folder"/eigen3_*.orig.tar.* --strip-components 1 -C "$folder/source"
}

build_tests() {
  cmake --preset check "-DPALMETTE_EIGEN_SOURCES=$folder/source" &&
    cmake --build build/check --parallel "$jobs" --target test_eigen_own
}

install_packages "${build_packages[@]}" libgtest-dev libeigen3-dev bzip2
step "Eigen's own tests: fetching" fetch_sources
build_step "Eigen's own tests: building" build_tests
ctest --test-dir build/check --output-on-failure --no-tests=error -L '^eigen-own$' \
  ${report:+--output-junit "$report"}
