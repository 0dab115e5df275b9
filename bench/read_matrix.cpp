// Question: is a Matrix Market file read at least as fast as by fast_matrix_market, on one thread and on
// several? Palmette's time is that of the finished matrix (compressed columns, both triangles, everything
// checked). The other reader is timed twice: up to its unsorted triplets, and with the conversion to
// compressed columns that a solver needs. Without -DFAST_MATRIX_MARKET_INCLUDE=FOLDER the other reader is a
// plain one, std::ifstream with operator>>, to triplets.
//
//   bench_read_matrix [--entries N] [--repeats R] [--threads T] [--json FILE] [MATRIX.mtx …]
//   bench_read_matrix --alone [--repeats R] [--threads T] [--json FILE] MATRIX.mtx …
//
// --alone: only the given files, without the other reader, which takes minutes for a file of a gigabyte; also
// prints the peak of memory relative to the finished matrix.
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iostream>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include <time.h>

#include "palmette/matrix/matrix.hpp"
#ifdef PALMETTE_BENCH_FAST_MATRIX_MARKET
#include <fast_matrix_market/fast_matrix_market.hpp>
#endif

namespace {

using namespace palmette;

struct Options {
  std::int64_t entries = 2000000;
  int repeats = 9;
  int threads = 2;
  bool alone = false;
  std::string json;
  std::vector<std::string> files;
};

struct Timing {
  std::string reader;
  int threads = 1;
  std::string product;
  std::vector<double> seconds;      // wall-clock time
  std::vector<double> cpu_seconds;  // user and system time of all threads: hardly disturbed by other programs
};

double median(std::vector<double> numbers) {
  std::sort(numbers.begin(), numbers.end());
  return numbers[numbers.size() / 2];
}

double cpu_seconds_now() {
  timespec now;
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

struct Contender {
  Timing timing;
  std::function<std::int64_t()> read;  // returns a count of entries, so that nothing is optimized away
};

#ifdef PALMETTE_BENCH_FAST_MATRIX_MARKET
constexpr const char* rival_name = "fast_matrix_market";

template <class T>
Triplets<T> read_rival(const std::string& path, int threads) {
  fast_matrix_market::read_options options;
  options.parallel_ok = threads > 1;
  options.num_threads = threads;
  Triplets<T> triplets;
  std::ifstream file(path);
  fast_matrix_market::read_matrix_market_triplet(file, triplets.rows, triplets.cols, triplets.row,
                                                 triplets.column, triplets.value, options);
  return triplets;
}
#else
constexpr const char* rival_name = "ifstream";

void read_number(std::istream& file, double& value) { file >> value; }
void read_number(std::istream& file, std::complex<double>& value) {
  double real = 0, imaginary = 0;
  file >> real >> imaginary;
  value = {real, imaginary};
}

template <class T>
Triplets<T> read_rival(const std::string& path, int) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  const bool pattern = line.find("pattern") != std::string::npos;
  const bool general = line.find("general") != std::string::npos;
  while (file.peek() == '%') std::getline(file, line);
  Triplets<T> triplets;
  std::int64_t entries = 0;
  file >> triplets.rows >> triplets.cols >> entries;
  for (std::int64_t entry = 0; entry < entries; ++entry) {
    index_t row = 0, column = 0;
    T value(1);
    file >> row >> column;
    if (!pattern) read_number(file, value);
    for (int rhs = 0; rhs < (general || row == column ? 1 : 2); ++rhs) {
      triplets.row.push_back((rhs == 0 ? row : column) - 1);
      triplets.column.push_back((rhs == 0 ? column : row) - 1);
      triplets.value.push_back(value);
    }
  }
  return triplets;
}
#endif

struct Shape {
  const char* kind;  // field and symmetry, as in the banner
  bool lower;        // lower triangle only
  bool shuffled;     // otherwise in column order
};

/// Rows near the diagonal, 25 in a column; `body` prints the value.
void write_case(const std::string& path, const Shape& shape, std::int64_t entries,
                const std::function<void(std::FILE*, std::mt19937_64&)>& body) {
  const std::int64_t n = std::max<std::int64_t>(entries / 25, 100);
  std::mt19937_64 random(1);
  std::vector<std::pair<std::int64_t, std::int64_t>> places;
  for (std::int64_t column = 0; column < n; ++column)
    for (std::int64_t part = 0; part < 25; ++part) {
      const std::int64_t offset = (part < 13 ? part : 40 * part) - (shape.lower ? 0 : 6);
      if (column + offset >= 0 && column + offset < n) places.push_back({column + offset + 1, column + 1});
    }
  if (shape.shuffled) std::shuffle(places.begin(), places.end(), random);
  std::FILE* file = std::fopen(path.c_str(), "w");
  std::fprintf(file, "%%%%MatrixMarket matrix coordinate %s\n%lld %lld %zu\n", shape.kind,
               static_cast<long long>(n), static_cast<long long>(n), places.size());
  for (const auto& [row, column] : places) {
    std::fprintf(file, "%lld %lld", static_cast<long long>(row), static_cast<long long>(column));
    body(file, random);
    std::fputc('\n', file);
  }
  std::fclose(file);
}

struct Case {
  std::string name;
  std::string path;
  bool is_complex = false;
};

std::vector<Case> make_cases(const std::filesystem::path& folder, const Options& options) {
  const auto digits = [](const char* format) {
    return [format](std::FILE* file, std::mt19937_64& random) {
      std::fprintf(file, format, std::normal_distribution<double>(0, 100)(random));
    };
  };
  const auto two = [](std::FILE* file, std::mt19937_64& random) {
    std::normal_distribution<double> normal(0, 1);
    std::fprintf(file, " %.16e %.16e", normal(random), normal(random));
  };
  const auto whole = [](std::FILE* file, std::mt19937_64& random) {
    std::fprintf(file, " %d", static_cast<int>(random() % 20001) - 10000);
  };
  const auto nothing = [](std::FILE*, std::mt19937_64&) {};
  std::vector<Case> cases;
  const auto add = [&](const char* name, const Shape& shape, const auto& body) {
    const std::string path = (folder / ("case" + std::to_string(cases.size()) + ".mtx")).string();
    write_case(path, shape, options.entries, body);
    cases.push_back({name, path, std::string(shape.kind).find("complex") == 0});
  };
  add("real general, 17 digits", {"real general", false, false}, digits(" %.16e"));
  add("real symmetric, 17 digits", {"real symmetric", true, false}, digits(" %.16e"));
  add("real general, 6 digits", {"real general", false, false}, digits(" %.6g"));
  add("real general, 17 digits, entries shuffled", {"real general", false, true}, digits(" %.16e"));
  add("integer general", {"integer general", false, false}, whole);
  add("complex general, 17 digits", {"complex general", false, false}, two);
  add("pattern symmetric", {"pattern symmetric", true, false}, nothing);
  for (const std::string& file : options.files) {
    const auto header = read_matrix(file).header;
    cases.push_back({std::filesystem::path(file).filename().string(), file, header.field == "complex"});
  }
  return cases;
}

template <class T>
std::vector<Contender> contenders_for(const std::string& path, int threads) {
  std::vector<Contender> contenders;
  for (const int count : {1, threads}) {
    if (count == 1 && !contenders.empty()) break;
    contenders.push_back({{"palmette", count, "compressed columns", {}, {}}, [path, count] {
                            ReadOptions options;
                            options.threads = count;
                            return std::get<SparseMatrix<T>>(read_matrix(path, options).matrix).nnz();
                          }});
    contenders.push_back({{rival_name, count, "triplets", {}, {}}, [path, count] {
                            return static_cast<std::int64_t>(read_rival<T>(path, count).row.size());
                          }});
    contenders.push_back({{rival_name, count, "compressed columns", {}, {}},
                          [path, count] { return from_triplets(read_rival<T>(path, count)).nnz(); }});
  }
  return contenders;
}

/// The readers take turns, so that a disturbance of the machine affects all of them.
void measure(std::vector<Contender>& contenders, int repeats) {
  for (int turn = -1; turn < repeats; ++turn)
    for (Contender& contender : contenders) {
      const double cpu_before = cpu_seconds_now();
      const Stopwatch watch;
      const std::int64_t entries = contender.read();
      if (turn >= 0) {
        contender.timing.seconds.push_back(watch.seconds());
        contender.timing.cpu_seconds.push_back(cpu_seconds_now() - cpu_before);
      }
      if (entries <= 0) throw UsageError("a reader found no entries");
    }
}

std::string first_line_of(const char* command) {
  std::string line;
  if (std::FILE* pipe = ::popen(command, "r")) {
    char buffer[256];
    if (std::fgets(buffer, sizeof buffer, pipe) != nullptr) line = buffer;
    ::pclose(pipe);
  }
  while (!line.empty() && (line.back() == '\n' || line.back() == ' ')) line.pop_back();
  return line;
}

std::string report(const Case& one, const std::vector<Contender>& contenders) {
  const auto bytes = static_cast<double>(std::filesystem::file_size(one.path));
  std::ostringstream json;
  json << "{\"case\":\"" << one.name << "\",\"file_bytes\":" << bytes << ",\"readers\":[";
  std::printf("| %s | %.1f |", one.name.c_str(), bytes / 1e6);
  bool first = true;
  for (const Contender& contender : contenders) {
    const Timing& timing = contender.timing;
    const auto palmette = std::find_if(contenders.begin(), contenders.end(), [&](const Contender& other) {
      return other.timing.reader == "palmette" && other.timing.threads == timing.threads;
    });
    const double wall = median(timing.seconds);
    const double cpu = median(timing.cpu_seconds);
    const double wall_ratio = wall / median(palmette->timing.seconds);
    const double cpu_ratio = cpu / median(palmette->timing.cpu_seconds);
    json << (first ? "" : ",") << "{\"reader\":\"" << timing.reader << "\",\"threads\":" << timing.threads
         << ",\"product\":\"" << timing.product << "\",\"seconds\":" << wall << ",\"cpu_seconds\":" << cpu
         << ",\"time_over_palmette\":" << wall_ratio << ",\"cpu_time_over_palmette\":" << cpu_ratio << "}";
    if (timing.reader == "palmette") std::printf(" %.0f (%.0f) |", bytes / 1e6 / wall, bytes / 1e6 / cpu);
    else std::printf(" %.2f (%.2f) |", wall_ratio, cpu_ratio);
    first = false;
  }
  std::puts("");
  std::fflush(stdout);
  json << "]}";
  return json.str();
}

Options parse(int argc, char** argv) {
  Options options;
  const auto is = [&](int at, const char* name) { return std::strcmp(argv[at], name) == 0 && at + 1 < argc; };
  for (int at = 1; at < argc; ++at) {
    if (is(at, "--entries")) options.entries = std::stoll(argv[++at]);
    else if (is(at, "--repeats")) options.repeats = std::max(1, std::stoi(argv[++at]));
    else if (is(at, "--threads")) options.threads = std::stoi(argv[++at]);
    else if (is(at, "--json")) options.json = argv[++at];
    else if (std::strcmp(argv[at], "--alone") == 0) options.alone = true;
    else options.files.push_back(argv[at]);
  }
  return options;
}

/// Bytes of the finished matrix, which every reader must hold.
offset_t matrix_bytes(const AnyMatrix& any) {
  return std::visit(
      [](const auto& matrix) {
        const auto size_of = [](const auto& list) {
          return static_cast<offset_t>(list.size() * sizeof(list[0]));
        };
        return size_of(matrix.values) + size_of(matrix.pattern.row_index) +
               size_of(matrix.pattern.column_ptr);
      },
      any);
}

struct Reading {
  double seconds = 0;  // the median
  double cpu_seconds = 0;
  double memory_ratio = 0;  // peak over resident before, divided by the finished matrix
};

Reading read_alone(const std::string& path, int threads, int repeats) {
  // resets the peak of earlier files, if the system allows it
  std::ofstream("/proc/self/clear_refs") << "5\n";
  ReadOptions how;
  how.threads = threads;
  std::vector<double> seconds, cpu_seconds;
  Reading result;
  for (int turn = -1; turn < repeats; ++turn) {
    const std::int64_t before = resident_memory_bytes();
    const double cpu_before = cpu_seconds_now();
    const Stopwatch watch;
    const AnyMatrix matrix = read_matrix(path, how).matrix;
    if (turn >= 0) seconds.push_back(watch.seconds()), cpu_seconds.push_back(cpu_seconds_now() - cpu_before);
    else
      result.memory_ratio =
          static_cast<double>(peak_memory_bytes() - before) / static_cast<double>(matrix_bytes(matrix));
  }
  result.seconds = median(seconds);
  result.cpu_seconds = median(cpu_seconds);
  return result;
}

void run_alone(const Options& options) {
  std::ostringstream json;
  std::puts(
      "| file | MB | threads | seconds | MB/s (of processor time) | memory ÷ matrix "
      "|\n|---|--:|--:|--:|--:|--:|");
  for (const std::string& path : options.files)
    for (const int threads : {1, options.threads}) {
      const Reading reading = read_alone(path, threads, options.repeats);
      const std::string name = std::filesystem::path(path).filename().string();
      const double megabytes = static_cast<double>(std::filesystem::file_size(path)) / 1e6;
      std::printf("| %s | %.1f | %d | %.3f | %.0f (%.0f) | %.2f |\n", name.c_str(), megabytes, threads,
                  reading.seconds, megabytes / reading.seconds, megabytes / reading.cpu_seconds,
                  reading.memory_ratio);
      std::fflush(stdout);
      json << (json.tellp() > 0 ? ",\n" : "") << "{\"file\":\"" << name << "\",\"megabytes\":" << megabytes
           << ",\"threads\":" << threads << ",\"seconds\":" << reading.seconds
           << ",\"cpu_seconds\":" << reading.cpu_seconds << ",\"memory_ratio\":" << reading.memory_ratio
           << "}";
    }
  if (!options.json.empty()) std::ofstream(options.json) << "{\"rows\":[\n" << json.str() << "\n]}\n";
}

void run(const Options& options, const std::string& command) {
  const std::filesystem::path folder = std::filesystem::temp_directory_path() /
                                       ("palmette_bench_read_" + std::to_string(std::random_device{}()));
  std::filesystem::create_directories(folder);
  std::ostringstream json;
  json << "{\"question\":\"reading a Matrix Market file, against " << rival_name << "\",\"commit\":\""
       << first_line_of("git rev-parse --short HEAD 2>/dev/null") << "\",\"machine\":\""
       << first_line_of("grep -m1 'model name' /proc/cpuinfo | cut -d: -f2 | sed 's/^ //'")
       << "\",\"compiler\":\"g++ or clang " << __VERSION__ << "\",\"command\":\"" << command
       << "\",\"repeats\":" << options.repeats << ",\"cases\":[";
  std::printf(
      "MB/s of Palmette, and the rival's time over Palmette's: wall clock (processor time)\n"
      "| case | MB | Palmette, 1 thread | %s triplets ÷ | …columns ÷ | Palmette, %d threads | triplets ÷ | "
      "columns ÷ |\n"
      "|---|--:|--:|--:|--:|--:|--:|--:|\n",
      rival_name, options.threads);
  bool first = true;
  for (const Case& one : make_cases(folder, options)) {
    auto contenders = one.is_complex ? contenders_for<std::complex<double>>(one.path, options.threads)
                                     : contenders_for<double>(one.path, options.threads);
    measure(contenders, options.repeats);
    json << (first ? "\n" : ",\n") << report(one, contenders);
    first = false;
  }
  json << "\n]}\n";
  std::filesystem::remove_all(folder);
  if (!options.json.empty()) std::ofstream(options.json) << json.str();
}

}  // namespace

int main(int argc, char** argv) {
  try {
    std::string command;
    for (int at = 0; at < argc; ++at) {
      if (at > 0) command += ' ';
      command += std::filesystem::path(argv[at]).filename().string();
    }
    const Options options = parse(argc, argv);
    options.alone ? run_alone(options) : run(options, command);
    return 0;
  } catch (const std::exception& error) {
    std::cerr << "bench_read_matrix: " << error.what() << '\n';
    return 1;
  }
}
