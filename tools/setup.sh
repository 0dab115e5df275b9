# shellcheck shell=bash disable=SC2034
# What ./quickstart and ./check share: lists of packages, and functions that install what is missing and
# report what they do. Sourced by bash, from the root of the tree. Sets nothing that users would have to know.

build_packages=(g++ cmake ninja-build ccache zlib1g-dev libopenblas-pthread-dev libsuitesparse-dev
                libmetis-dev libscotch-dev libcli11-dev libfmt-dev nlohmann-json3-dev)
test_packages=(git libgtest-dev clang-14 libclang-rt-14-dev libopenmpi-dev openmpi-bin libmpich-dev mpich
               libsimgrid-dev libeigen3-dev)
debian_python_packages=(python3 python3-venv python3-dev)
python_modules=(numpy scipy nanobind scikit_build_core)            # to build and use the Python module
# to run the checks; matplotlib for palmette.plots, mpi4py for palmette.mpi
python_test_modules=(pytest lizard matplotlib mpi4py threadpoolctl)
# Projects that have a door here, for its tests, which are skipped without them. pypardiso would bring 250 MB
# of oneMKL, which it does not need with our library.
python_door_modules=(casadi jax)
python_door_modules_alone=(pypardiso)
# Its wheels bring Ipopt; there is none for every Python.
python_door_wheels=(cyipopt)
# to build the documentation site; furo is its theme, myst-parser reads Markdown
book_modules=(sphinx furo myst_parser linkify_it sphinx_copybutton)
python_here=.venv/bin/python
# nvcc as PyPI has it, about 105 MB, for the tests of kernels for GPUs; and what prints its machine code, less
# than 1 MB.
nvcc_packages=("nvidia-cuda-nvcc==13.0.*" "nvidia-nvvm==13.0.*" "nvidia-cuda-crt==13.0.*"
               "nvidia-cuda-runtime==13.0.*" "nvidia-cuda-cccl==13.0.*")
cuobjdump_packages=("nvidia-cuda-cuobjdump>=13" "nvidia-cuda-nvdisasm>=13")
# Options for a CMake build that includes the Python module.
python_options=(-DPALMETTE_PYTHON=ON "-DPython_EXECUTABLE=$PWD/$python_here")
# The sources of the installed module: Python sources, pyproject.toml and the library.
python_module_inputs=(palmette python cmake cli bench/device data/interconnects CMakeLists.txt pyproject.toml)

jobs=$(nproc)

say() { printf '%s\n' "$*"; }

# step TEXT COMMAND…: one line when it begins; when it ends, how long it took. The output goes to a log, shown
# if it fails.
step() {
  local text=$1 started=$EPOCHREALTIME log
  shift
  log=$(mktemp)
  printf '%-64s' "$text …"
  if "$@" >"$log" 2>&1; then
    printf '%7.1f s\n' "$(seconds_since "$started")"
    rm -f "$log"
  else
    local status=$?
    printf 'failed\n'
    tail -n 60 "$log"
    rm -f "$log"
    return $status
  fi
}

seconds_since() { awk -v a="$1" -v b="$EPOCHREALTIME" 'BEGIN { print b - a }'; }

# Those of the given Debian packages that are not installed.
missing_packages() {
  local package
  for package in "$@"; do
    dpkg-query -W -f='${db:Status-Status}\n' "$package" 2>/dev/null | grep -qx installed || echo "$package"
  done
}

apt_install() {
  export DEBIAN_FRONTEND=noninteractive
  apt-get -o Acquire::Retries=3 -qq update </dev/null || return
  apt-get -o Acquire::Retries=3 -qq install -y --no-install-recommends "$@" </dev/null
}

# A Python of version 3.9 or later that can create an environment and has its headers.
is_usable_python() {
  "$1" -c 'import sys, sysconfig, os, venv, ensurepip
ok = sys.version_info >= (3, 9) and os.path.exists(os.path.join(sysconfig.get_paths()["include"], "Python.h"))
sys.exit(not ok)' >/dev/null 2>&1
}

# install_packages PACKAGE…: installs missing Debian packages, and Debian's Python if there is no usable one
# on the path.
install_packages() {
  local wanted=("$@") missing
  is_usable_python python3 || wanted+=("${debian_python_packages[@]}")
  if ! command -v dpkg-query >/dev/null; then
    say "This is no Debian system: nothing is installed. Needed are the equivalents of: ${wanted[*]}"
    return 0
  fi
  mapfile -t missing < <(missing_packages "${wanted[@]}")
  if [ ${#missing[@]} -eq 0 ]; then
    say "Debian packages: all there"
  elif [ "$(id -u)" -eq 0 ]; then
    step "Debian packages: installing ${#missing[@]} of ${#wanted[@]}" apt_install "${missing[@]}"
  else
    say "Missing Debian packages. Ask root to run:"
    say "  apt-get install --no-install-recommends ${missing[*]}"
    return 1
  fi
}

# Whether the environment's Python finds all the named modules.
has_modules() {
  "$python_here" - "$@" 2>/dev/null <<'END'
import importlib.util, sys
sys.exit(any(importlib.util.find_spec(name) is None for name in sys.argv[1:]))
END
}

# has_cuda_program NAME: on the path, in the usual folder, or in the environment.
has_cuda_program() {
  command -v "$1" >/dev/null || compgen -G "/usr/local/cuda/bin/$1" >/dev/null ||
    compgen -G "${python_here%/bin/*}/lib/python3*/site-packages/nvidia/cu13/bin/$1" >/dev/null
}

# Where it is missing, nvcc is installed into the environment .venv, which must exist. It is optional: if that
# fails, the tests that need it are skipped.
install_nvcc() {
  local wanted=()
  has_cuda_program nvcc || wanted+=("${nvcc_packages[@]}")
  has_cuda_program cuobjdump || wanted+=("${cuobjdump_packages[@]}")
  if [ ${#wanted[@]} -eq 0 ]; then
    say "nvcc: there"
  elif ! step "nvcc: installing into .venv" \
      "$python_here" -m pip install --quiet --disable-pip-version-check "${wanted[@]}"; then
    say "nvcc: could not be installed; the tests of what it compiles are skipped"
  fi
}

# The names of the packages of modules: those of the modules, with two exceptions.
package_names() {
  printf '%s\n' "${@//_/-}" | sed 's/^linkify-it$/linkify-it-py/; s/^cyipopt$/cyipopt-wheels/'
}

# install_modules MODULE…: the environment .venv, with these modules from PyPI.
install_modules() {
  local python=python3
  is_usable_python "$python" || python=/usr/bin/python3
  if ! "$python_here" -c '' 2>/dev/null; then
    step "Python environment .venv ($("$python" -V 2>&1))" "$python" -m venv --clear .venv || return
  fi
  if has_modules "$@"; then
    say "Python packages: all there"
  else
    step "Python packages: installing into .venv" \
      "$python_here" -m pip install --quiet --disable-pip-version-check $(package_names "$@")
  fi
}

# The modules of other projects are optional: if they cannot be installed, tests are skipped.
install_door_modules() {
  if has_modules "${python_door_modules[@]}" "${python_door_modules_alone[@]}"; then
    say "Other projects: all there"
  elif ! step "Other projects: installing into .venv" pip_install_door_modules; then
    say "Other projects: could not be installed; the tests of ${python_door_modules[*]} and" \
      "${python_door_modules_alone[*]} are skipped"
  fi
  has_modules "${python_door_wheels[@]}" ||
    step "Wheels of other projects: installing into .venv" "$python_here" -m pip install --quiet \
      --disable-pip-version-check --retries 0 --timeout 10 --only-binary :all: \
      $(package_names "${python_door_wheels[@]}") ||
    say "Wheels of other projects: could not be installed; the tests of ${python_door_wheels[*]} are skipped"
}
pip_install_door_modules() {
  "$python_here" -m pip install --quiet --disable-pip-version-check "${python_door_modules[@]}" &&
    "$python_here" -m pip install --quiet --disable-pip-version-check --no-deps \
      "${python_door_modules_alone[@]}"
}

# build_step TEXT COMMAND…: as step, for a command that runs ninja; on a terminal, it shows how much of the
# build is done.
build_step() {
  local text=$1
  shift
  if [ -t 1 ]; then
    step "$text" with_percentage "$text" "$@"
  else
    step "$text" "$@"
  fi
}

# with_percentage TEXT COMMAND…: passes the output on, and shows the percentage that ninja puts before each
# line on the terminal.
with_percentage() {
  local text=$1 line
  shift
  (set -o pipefail
   NINJA_STATUS='[%p] ' "$@" 2>&1 | while IFS= read -r line; do
     printf '%s\n' "$line"
     [[ $line =~ ^\[\ *([0-9]+%)\] ]] && printf '\r%-64s%9s' "$text …" "${BASH_REMATCH[1]}" >/dev/tty
   done
   exit "${PIPESTATUS[0]}")
  local status=$?
  printf '\r%-64s' "$text …" >/dev/tty
  return $status
}

# configure_and_build PRESET [OPTION…]: the command, and the Python modules for .venv.
configure_and_build() {
  local preset=$1
  shift
  step "Configuring build/$preset" cmake --preset "$preset" "${python_options[@]}" "$@" || return
  build_step "Building build/$preset with $jobs jobs" cmake --build "build/$preset" --parallel "$jobs" \
    --target palmette_command palmette_python_modules
}

# A fingerprint of the sources of the Python module.
python_fingerprint() {
  { "$python_here" -V
    find "${python_module_inputs[@]}" -type f ! -path '*/__pycache__/*' -printf '%p %s %T@\n' \
      2>/dev/null | sort
  } | sha256sum
}

# install_python FOLDER [OPTION…]: the Python module into .venv, unless the installed one was built from the
# same sources. pip builds in FOLDER, an existing build, so that nothing is compiled twice; OPTIONs are those
# in which that build differs from `pip install .`.
install_python() {
  local stamp=build/python.stamp options=() option fingerprint folder=$1
  shift
  for option in PALMETTE_NATIVE=ON "$@"; do
    options+=("--config-settings=cmake.define.$option")
  done
  fingerprint=$(python_fingerprint)
  if [ -f "$stamp" ] && [ "$(cat "$stamp")" = "$fingerprint" ] && has_modules palmette; then
    say "Python module: up to date in .venv"
    return 0
  fi
  mkdir -p build
  step "Python module: installing into .venv" \
    "$python_here" -m pip install --quiet --disable-pip-version-check --no-build-isolation --no-deps \
    --force-reinstall "--config-settings=build-dir=$folder" "${options[@]}" . || return
  say "$fingerprint" >"$stamp"
}

# The command that a build made, as a path relative to the root; empty if it made none.
built_command() {
  find "build/$1" -name palmette -type f -perm -u+x -not -path '*/tests/*' 2>/dev/null | head -n 1
}

# The command of any build of this tree; empty if there is none.
any_command() {
  local preset command
  for preset in release check; do
    command=$(built_command "$preset")
    [ -n "$command" ] && { echo "$PWD/$command"; return 0; }
  done
}

# build_book COMMAND: the documentation site in build/docs, of docs/, the headers, the installed module and
# the command's --help. Every warning of Sphinx is an error. Pages that did not change are not made again.
build_book() {
  (cd tools && "../$python_here" -m book.stage ../build/docs-pages --command "$1") &&
    "$python_here" -m sphinx -q -W --keep-going -b html build/docs-pages build/docs
}
