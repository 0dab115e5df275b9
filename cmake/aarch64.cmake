# Toolchain file: Debian's cross compiler for 64-bit ARM, with libraries unpacked into PALMETTE_AARCH64_ROOT
# (tools/aarch64.sh), and QEMU to run what it makes.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES PALMETTE_AARCH64_ROOT)
set(CMAKE_FIND_ROOT_PATH ${PALMETTE_AARCH64_ROOT})
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
set(_palmette_triplet aarch64-linux-gnu)
# Unpacked packages have no alternatives, so that the header of OpenBLAS is found in its own folder only.
set(_palmette_headers ${PALMETTE_AARCH64_ROOT}/usr/include/${_palmette_triplet})
set(CMAKE_CXX_FLAGS_INIT "-idirafter ${_palmette_headers}/openblas-pthread")
# Debian 12 has some libraries below /lib, which is a link to /usr/lib in a system but not among unpacked
# packages.
set(_palmette_folders "${PALMETTE_AARCH64_ROOT}/usr/lib/${_palmette_triplet}")
string(APPEND _palmette_folders ":${PALMETTE_AARCH64_ROOT}/lib/${_palmette_triplet}")
set(CMAKE_EXE_LINKER_FLAGS_INIT "-Wl,-rpath-link,${_palmette_folders}")
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-aarch64-static -L ${PALMETTE_AARCH64_ROOT} -E
    LD_LIBRARY_PATH=/usr/lib/${_palmette_triplet}/openblas-pthread)
