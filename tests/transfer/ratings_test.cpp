// Files of ratings: forms in which they are published, faults with their lines, and ALS on them.
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "palmette/transfer/transfer.hpp"
#include "tests/transfer/refusals.hpp"

namespace palmette::transfer {
namespace {

using testing_transfer::error_of;

Ratings ratings_of(const std::string& text) {
  std::istringstream stream(text);
  return read_ratings(stream, "r.txt");
}

TEST(ratings, all_usual_forms_are_the_same_ratings) {
  for (const char* const text :
       {"ann 7 3.5\nbob 7 4\nann 9 -1\n", "user,item,rating,time\nann,7,3.5,0\nbob,7,4,1\nann,9,-1,2",
        "ann::7::3.5::11\n\nbob::7::4::12\nann::9::-1::13\n",
        "# from somewhere\r\nann\t7\t3.5\r\nbob\t7\t4\r\nann\t9\t-1\r\n"}) {
    const Ratings ratings = ratings_of(text);
    EXPECT_EQ(ratings.users, 2u);
    EXPECT_EQ(ratings.items, 2u);
    ASSERT_EQ(ratings.list.size(), 3u) << text;
    EXPECT_EQ(ratings.list[1].user, 1u) << "numbered as they appear";
    EXPECT_EQ(ratings.list[1].item, 0u);
    EXPECT_EQ(ratings.list[2].value, -1);
  }
}

TEST(ratings, faults_name_their_line) {
  EXPECT_NE(error_of(ratings_of, "a b 1\na b\n").find("r.txt:2"), std::string::npos)
      << error_of(ratings_of, "a b 1\na b\n");
  EXPECT_NE(error_of(ratings_of, "a b 1\na b x\n").find("not 'x'"), std::string::npos);
  EXPECT_NE(error_of(ratings_of, "a b 1\na b inf\n").find("finite"), std::string::npos);
  EXPECT_NE(error_of(ratings_of, "a b 1\na b 1e99\n").find("finite"), std::string::npos) << "no float";
  EXPECT_NE(error_of(ratings_of, "").find("no rating"), std::string::npos);
  EXPECT_NE(error_of(ratings_of, "user,item,rating\n").find("no rating"), std::string::npos);
}

TEST(ratings, als_on_a_file_has_the_serial_answer_and_equal_images) {
  std::ifstream file(PALMETTE_DATA_FOLDER "/ratings/sample.csv");
  ApplicationOptions options;
  options.devices = 3;
  options.iterations = 2;
  options.ratings = std::make_shared<const Ratings>(read_ratings(file, "sample.csv"));
  EXPECT_EQ(options.ratings->list.size(), 600u);
  const ApplicationRun run = run_application(Application::als, options);
  EXPECT_LE(run.error, 1e-6);
  // 16 factors are stored after each rating, by users and by items.
  std::size_t stores = 0;
  for (const TracedPhase& phase : run.trace.phases)
    for (const TracedKernel& kernel : phase.kernels)
      for (const Access& one : kernel.accesses) stores += one.kind == AccessKind::store;
  EXPECT_EQ(stores, 600u * 16 * 2 * 2);
  Fabric fabric;
  fabric.gbs = 32;
  fabric.latency_us = 1;
  fabric.credit_bytes = 65536;
  ReplayOptions replay;
  for (const Paradigm paradigm : {Paradigm::finepack, Paradigm::gps, Paradigm::proact}) {
    replay.paradigm = paradigm;
    EXPECT_EQ(simulate_transfers(run.trace, fabric, replay).different_bytes, 0) << name_of(paradigm);
  }
  options.scale = 0.1;
  EXPECT_LT(run_application(Application::als, options).trace.num_accesses(), run.trace.num_accesses() / 5);
  EXPECT_THROW(run_application(Application::jacobi, options), UsageError);
}

}  // namespace
}  // namespace palmette::transfer
