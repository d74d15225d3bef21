#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/hdf5.h"
#include "tests/tools/program.h"

namespace superstep {
namespace {

constexpr const char* kScale = "run-codelet models/codelets/scale.toml ";

/// A file beside a codelet `c.S`; run with more words.
ProgramRun run_spec(const std::string& spec, const std::string& assembly,
                    const std::string& words = "") {
  const auto folder = scratch_folder();
  std::ofstream(folder / "c.toml") << "source = \"c.S\"\n" << spec;
  std::ofstream(folder / "c.S") << assembly;
  return superstep("run-codelet " + (folder / "c.toml").string() + " " + words);
}

TEST(RunCodelet, TheExampleOfTheDocsPrintsWhatTheySay) {
  const std::string docs = text_of(SUPERSTEP_SOURCE_DIR "/docs/run-codelet.md");
  const std::string command = "$ superstep run-codelet models/codelets/scale.toml\n";
  const std::size_t begin = docs.find(command) + command.size();
  ASSERT_NE(docs.find(command), std::string::npos);
  const ProgramRun run = superstep(kScale);
  EXPECT_EQ(run.code, 0);
  EXPECT_EQ(run.out, docs.substr(begin, docs.find("```", begin) - begin));
  const std::string spec = text_of(SUPERSTEP_SOURCE_DIR "/models/codelets/scale.toml");
  EXPECT_NE(docs.find("```toml\n" + spec + "```"), std::string::npos);
}

TEST(RunCodelet, JsonHasCyclesSlotsAndTensors) {
  const ProgramRun run = superstep(std::string(kScale) + "--json");
  ASSERT_EQ(run.code, 0) << run.err;
  const auto json = nlohmann::json::parse(run.out);
  // setzi, its latency, run: 12; 6 a slot; sync 1; br 6.
  EXPECT_EQ(json["cycles"], 12 + 15 * 6 + 1 + 6);
  EXPECT_EQ(json["slowest_worker_cycles"], 90);
  EXPECT_EQ(json["workers"][0]["bundles"], 6);
  EXPECT_EQ(json["workers"][1]["slots"], 0);
  EXPECT_EQ(json["tensors"]["out"]["values"], (std::vector<double>{2.5, 5, 7.5, 10, 12.5, 15}));
}

TEST(RunCodelet, HeadersHaveTheWorkersOfTheMachine) {
  const std::string spec =
      "entry = 'axpy'\nkind = 'multivertex'\n"
      "[[field]]\nname = 'x'\ntype = 'span'\ntensor = 'x'\n"
      "[[field]]\nname = 'y'\ntype = 'one_ptr'\ntensor = 'y'\n"
      "[tensor.x]\nvalues = [1,2,3,4,5,6,7,8,9,10,11,12,13,14]\nregion = 0\n"
      "[tensor.y]\nshape = [14]\nvalues = 100\n";
  // y[i] += x[i] by worker i modulo the number of workers.
  const std::string assembly =
      "#include \"poplar/TileConstants.hpp\"\n"
      ".section .text.axpy, \"ax\"\n.globl axpy\n.worker\naxpy:\n"
      " get $m5, $WSR\n and $m5, $m5, CSR_W_WSR__CTXTID_M1__MASK\n"
      " ld32 $m0, $mvertex_base, $mzero, 0\n ld32 $m1, $mvertex_base, $mzero, 1\n"
      " ld32 $m2, $mvertex_base, $mzero, 2\n"
      "1: cmpult $m6, $m5, $m1\n brz $m6, 2f\n"
      " ld32 $a0, $m0, $mzero, $m5\n ld32 $a1, $m2, $mzero, $m5\n f32add $a1, $a1, $a0\n"
      " st32 $a1, $m2, $mzero, $m5\n add $m5, $m5, CTXT_WORKERS\n bri 1b\n2: exitz $mzero\n";
  std::vector<double> expected;
  for (int i = 1; i <= 14; ++i) expected.push_back(100 + i);
  for (const std::string workers : {"3", "6", "8"}) {
    const ProgramRun run =
        run_spec(spec, assembly, "--json --foreign-machine --set tile.workers=" + workers);
    ASSERT_EQ(run.code, 0) << run.err;
    const auto json = nlohmann::json::parse(run.out);
    EXPECT_EQ(json["tensors"]["y"]["values"], expected) << workers << " workers";
    EXPECT_EQ(json["machine"], "gc200 with tile.workers=" + workers);
  }
}

TEST(RunCodelet, LooksForRacesWhereItIsAskedTo) {
  const std::string spec =
      "entry = 'all'\nkind = 'multivertex'\n[[field]]\nname = 'out'\ntype = 'one_ptr'\n"
      "tensor = 'out'\n[tensor.out]\ndtype = 'i32'\nshape = [1]\n";
  const std::string assembly =
      ".section .text.all, \"ax\"\n.globl all\n.worker\nall: ld32 $m0, $mvertex_base, $mzero, 0\n"
      " st32 $mzero, $m0, $mzero, 0\n exitz $mzero\n";
  for (const std::string words : {"", "--check-races never"}) {
    EXPECT_EQ(run_spec(spec, assembly, words).code, 0) << words;
  }
  for (const std::string words : {"--check-races always", "--check-races first"}) {
    const ProgramRun run = run_spec(spec, assembly, words);
    EXPECT_EQ(run.code, 1) << words;
    EXPECT_NE((run.out + run.err).find("which worker 0 writes"), std::string::npos)
        << run.out << run.err;
  }
}

TEST(RunCodelet, LinksSourcesAndObjectsOfSeveralFiles) {
  const auto folder = scratch_folder();
  std::ofstream(folder / "a.s") << ".section .text.a, \"ax\"\n.globl a\n.worker\n"
                                   "a: ld32 $m0, $mvertex_base, 0\n call $m10, helper\n"
                                   " st32 $m1, $m0, 0\n exitz $mzero\n";
  std::ofstream(folder / "b.s") << ".section .text.b, \"ax\"\n.globl helper\n.worker\n"
                                   "helper: setzi $m1, 42\n br $m10\n";
  for (const std::string name : {"a", "b"}) {
    const std::string file = (folder / name).string();
    ASSERT_EQ(superstep("asm " + file + ".s -o " + file + ".o").code, 0);
  }
  for (const std::string sources : {"'a.o', 'b.o'", "'b.s', 'a.o'"}) {
    std::ofstream(folder / "c.toml") << "source = [" + sources + "]\n"
                                     << "entry = 'a'\nkind = 'worker'\n[[field]]\nname = 'out'\n"
                                        "type = 'one_ptr'\ntensor = 'out'\n"
                                        "[tensor.out]\ndtype = 'i32'\nshape = [1]\n";
    const ProgramRun run = superstep("run-codelet " + (folder / "c.toml").string());
    EXPECT_EQ(run.code, 0) << run.err;
    EXPECT_NE(run.out.find("[42]"), std::string::npos) << run.out;
  }
  std::ofstream(folder / "c.toml") << "source = 'a.o'\nentry = 'a'\nkind = 'worker'\n";
  EXPECT_NE(superstep("run-codelet " + (folder / "c.toml").string())
                .err.find("undefined symbol `helper`"),
            std::string::npos);
  std::ofstream(folder / "c.toml") << "source = 'a.s'\nentry = 'a'\nkind = 'worker'\n";
  EXPECT_NE(superstep("run-codelet " + (folder / "c.toml").string())
                .err.find("a.s:5:13: error: undefined symbol `helper`"),
            std::string::npos);
}

TEST(RunCodelet, TheTraceHasARowForEachInstructionAndEachEnds) {
  const auto file = scratch_folder() / "scale.kanata";
  ASSERT_EQ(superstep(std::string(kScale) + "--trace " + file.string()).code, 0);
  const std::string text = text_of(file);
  EXPECT_EQ(text.rfind("Kanata\t0004\nC=\t0\n", 0), 0U);
  const auto lines = [&](const std::string& start) {
    std::size_t count = 0;
    for (std::size_t at = text.find("\n" + start); at != std::string::npos;
         at = text.find("\n" + start, at + 1)) {
      ++count;
    }
    return count;
  };
  // Threads tell the contexts apart; lanes are layers of one row, of which 0 is the pipeline
  // (shioyadan/Konata docs/kanata-log-format.md).
  EXPECT_EQ(lines("S\t0\t0\t"), 1U);
  EXPECT_EQ(lines("S\t18\t0\t"), 1U);
  EXPECT_EQ(lines("I\t"), 19U);  // 15 slots of the worker, 4 instructions of the supervisor
  EXPECT_EQ(lines("R\t"), 19U);
  EXPECT_NE(text.find("scale+0x8: ld32 $m2"), std::string::npos);
  EXPECT_NE(text.find("; f32v2mul $a2:3, $a6:B, $a0:1 }"), std::string::npos);
  // Time goes on to the end of the call.
  std::uint64_t cycles = 0;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with("C\t")) cycles += std::stoull(line.substr(2));
  }
  EXPECT_EQ(cycles, 109U);
}

TEST(RunCodelet, FieldsLieAsTheVertexHasThem) {
  // Copies 12 words of its state to `out`.
  const std::string copy =
      "c:\n ld32 $m0, $mvertex_base, $mzero, 0\n mov $m1, $mvertex_base\n nop\n nop\n"
      " setzi $m3, 11\n1: ld32step $m2, $mzero, $m1+=, 1\n st32step $m2, $mzero, $m0+=, 1\n"
      " brnzdec $m3, 1b\n exitz $mzero\n";
  const ProgramRun run = run_spec(
      "entry = \"c\"\nprint = [\"out\"]\n"
      "[[field]]\ntype = \"one_ptr\"\ntensor = \"out\"\n"
      "[[field]]\ntype = \"u8\"\nvalue = 7\n"
      "[[field]]\ntype = \"half\"\nvalue = 1.0\n"
      "[[field]]\ntype = \"scaled_ptr128\"\ntensor = \"a\"\n"
      "[[field]]\ntype = \"short_span\"\ntensor = \"a\"\n"
      "[[field]]\ntype = \"span\"\ntensors = [\"a\", \"b\"]\ninner = \"one_ptr\"\n"
      "[[field]]\ntype = \"delta_n_elements\"\ntensors = [\"a\", \"b\"]\n"
      "[[field]]\ntype = \"i64\"\nvalue = -2\n"
      "[[field]]\ntype = \"compact_ptr\"\ntensor = \"a\"\n"
      "[[field]]\ntype = \"scaled_ptr32\"\ntensor = \"b\"\n"
      "[tensor.out]\ndtype = \"u32\"\nshape = [12]\naddress = 0x90000\n"
      "[tensor.a]\ndtype = \"half\"\nshape = [5]\nalignment = 16\naddress = 0x81000\n"
      "[tensor.b]\ndtype = \"half\"\nshape = [3]\naddress = 0x81020\n",
      copy, "--json");
  ASSERT_EQ(run.code, 0) << run.err;
  const auto words =
      nlohmann::json::parse(run.out)["tensors"]["out"]["values"].get<std::vector<std::uint32_t>>();
  ASSERT_EQ(words.size(), 12U);
  EXPECT_EQ(words[0], 0x90000U);
  EXPECT_EQ(words[1], 7U | 0x3c00U << 16);
  EXPECT_EQ(words[2], 0x8100U);              // scaled, two bytes of padding
  EXPECT_EQ(words[3], 0x81000U | 5U << 20);  // short span
  EXPECT_EQ(words[5], 2U);                   // rows of the vector of vectors
  EXPECT_EQ(words[6], 0x81000U | 2U << 24);  // base of the list
  EXPECT_EQ(words[7] >> 24, 0U);
  EXPECT_EQ(words[8], 0xfffffffeU);
  EXPECT_EQ(words[9], 0xffffffffU);
  EXPECT_EQ(words[10], 0x8100U | (0x81020U - 0x4c000U) / 4 << 16);
}

TEST(RunCodelet, ATrapNamesCycleContextSymbolAndCause) {
  const ProgramRun run = run_spec("entry = \"c\"\nkind = \"multivertex\"\n",
                                  "c: nop\n ld32 $m0, $mzero, 0\n exitz $mzero\n");
  EXPECT_EQ(run.code, 1);
  EXPECT_NE(
      run.err.find("error: program trap at cycle 18, worker 0, pc c+0x4 (0x4c104): an address "
                   "outside the tile's memory, 0x0"),
      std::string::npos)
      << run.err;
}

TEST(RunCodelet, WorkersHaveTheSlotsThatTheyUsedBeforeATrap) {
  // Instructions of one slot each.
  const ProgramRun run =
      run_spec("entry = \"c\"\nkind = \"multivertex\"\n",
               "c: nop\n nop\n nop\n ld32 $m0, $mzero, 0\n exitz $mzero\n", " --json");
  const auto json = nlohmann::json::parse(run.out);
  EXPECT_NE(json["trap"], "");
  EXPECT_GE(json["workers"][0]["slots"], 3);
  EXPECT_EQ(json["workers"][0]["slots"], json["workers"][0]["instructions"]);
}

TEST(RunCodelet, WhatATrapEndsHasTheSlotsAndInstructionsOfItsWorkers) {
  // One slot each, of six cycles; the last one is the trap.
  const ProgramRun run =
      run_spec("entry = \"c\"\n", "c: nop\n nop\n nop\n trap 3\n exitz $mzero\n", " --json");
  const auto json = nlohmann::json::parse(run.out);
  EXPECT_TRUE(json["trap"].get<std::string>().ends_with(": trap instruction 3")) << json["trap"];
  EXPECT_EQ(json["workers"][0]["slots"], 4);
  EXPECT_EQ(json["slowest_worker_cycles"], 4 * 6);
  EXPECT_EQ(json["worker_instructions"], 4);
}

TEST(RunCodelet, ATrapNamesTheLineOfItsSource) {
  const auto trap_of = [](const std::string& assembly) {
    const ProgramRun run = run_spec("entry = \"c\"\nkind = \"multivertex\"\n", assembly);
    return run.err.substr(0, run.err.find(": error: "));
  };
  const auto is_at = [](const std::string& place, const std::string& end) {
    return place.ends_with(end);
  };
  EXPECT_PRED2(is_at, trap_of("c: nop\n ld32 $m0, $mzero, 0\n exitz $mzero\n"), "/c.S:2:2");
  // What a macro makes is where its body is, and what the preprocessor leaves out counts.
  EXPECT_PRED2(is_at,
               trap_of(".macro load from\n nop\n  ld32 $m0, \\from, 0\n.endm\n#if 0\n#endif\n"
                       "c: nop\n load $mzero\n exitz $mzero\n"),
               "/c.S:3:3");
  EXPECT_PRED2(is_at,
               trap_of(".macro load\n nop\n.endm\n#if 0\n#endif\nc: load\n load\n"
                       " ld32 $m0, $mzero, 0\n exitz $mzero\n"),
               "/c.S:8:2");
}

TEST(RunCodelet, ACallIsStoppedByEachLimitBelowItsCycles) {
  const std::string words = "run-codelet models/codelets/scale.toml --json";
  const auto cycles = nlohmann::json::parse(superstep(words).out)["cycles"].get<int>();
  for (const int limit : {cycles - 1, cycles - 2, cycles - 5, cycles - 8}) {
    const ProgramRun run = superstep(words + " --max-cycles " + std::to_string(limit));
    EXPECT_EQ(run.code, 1) << limit;
    EXPECT_EQ(nlohmann::json::parse(run.out)["cycles"], limit);
  }
  // Counts have 64 bits.
  for (const std::string& enough :
       {std::to_string(cycles), std::string("4294967296"), std::string("18446744073709551615")}) {
    EXPECT_EQ(superstep(words + " --max-cycles " + enough).code, 0) << enough;
  }
  EXPECT_EQ(superstep(words + " --max-cycles 18446744073709551616").code, 2);
}

TEST(RunCodelet, ACallThatIsStoppedShowsNoTensorsAndCountsUpToTheLimit) {
  // The worker first issues in cycle 12, and then every 6 cycles.
  const std::string all = "run-codelet models/codelets/scale.toml --max-cycles ";
  const std::string file = (scratch_folder() / "out.h5").string();
  const ProgramRun run = superstep(all + "42 --output " + file);
  EXPECT_EQ(run.code, 1);
  EXPECT_NE(run.err.find("stopped at cycle 42, the limit of --max-cycles, after worker 0 at pc "),
            std::string::npos)
      << run.err;
  EXPECT_NE(run.err.find(", issued in cycle 36\n"), std::string::npos) << run.err;
  EXPECT_EQ(run.out.find("tensor<"), std::string::npos) << run.out;
  EXPECT_EQ(run.out.find("no tensor changed"), std::string::npos) << run.out;
  EXPECT_NE(run.out.find("no tensor is shown"), std::string::npos) << run.out;
  EXPECT_FALSE(std::filesystem::exists(file));
  const auto json = nlohmann::json::parse(superstep(all + "42 --json").out);
  EXPECT_TRUE(json["tensors"].empty());
  EXPECT_EQ(json["cycles"], 42);
  EXPECT_EQ(json["workers"][0]["slots"], 5) << "in cycles 12 to 36";
  EXPECT_EQ(json["workers"][0]["instructions"], json["worker_instructions"]);
  EXPECT_EQ(json["slowest_worker_cycles"], 30);
  EXPECT_EQ(json["supervisor"]["sync_wait"], 42 - 7 - 1) << "from the cycle behind its issue";
  // The whole call takes 109 cycles, and stops at none behind them.
  EXPECT_EQ(superstep(all + "109").code, 0);
  EXPECT_NE(superstep(all + "109").out.find("[2.5, 5, 7.5, 10, 12.5, 15]"), std::string::npos);
  EXPECT_EQ(superstep(all + "100").code, 1);
}

TEST(RunCodelet, CodeOfTheSupervisorIsNoWorker) {
  const ProgramRun run = run_spec("entry = 'f'\nkind = 'worker'\n",
                                  ".section .text.f, \"ax\"\n.globl f\n.supervisor\nf: br $m10\n");
  EXPECT_EQ(run.code, 5);
  EXPECT_NE(run.err.find("`f` is `.supervisor` code"), std::string::npos) << run.err;
}

TEST(RunCodelet, WritingBehindATensorIsAnError) {
  const ProgramRun run = run_spec(
      "entry = \"c\"\n[[field]]\ntype = \"one_ptr\"\ntensor = \"out\"\n[tensor.out]\nshape = [1]\n",
      "c: ld32 $m0, $mvertex_base, 0\n st32 $m0, $m0, $mzero, 1\n exitz $mzero\n");
  EXPECT_EQ(run.code, 1);
  EXPECT_NE(run.err.find("error: bytes behind the end of tensor 'out' were written"),
            std::string::npos);
}

TEST(RunCodelet, TensorsComeFromFilesAndGoToFiles) {
  const auto folder = scratch_folder();
  HostTensor tensor(TensorType{DType::kI32, {3}});
  for (std::size_t i = 0; i < 3; ++i) tensor.set<std::int32_t>(i, static_cast<std::int32_t>(i) - 1);
  write_tensors(folder / "in.h5", {{"x", tensor}});
  const ProgramRun run = run_spec(
      "entry = \"c\"\n[tensor.t]\nvalues = \"in.h5:x\"\n[tensor.r]\nvalues = "
      "\"random:3\"\nshape = [2, 2]\n",
      "c: exitz $mzero\n", "--output " + (folder / "out.h5").string());
  ASSERT_EQ(run.code, 0) << run.err;
  const TensorFile out = read_tensors(folder / "out.h5");
  EXPECT_EQ(out.at("t").type, tensor.type);
  EXPECT_EQ(out.at("t").data, tensor.data);
  EXPECT_EQ(out.at("r").type, (TensorType{DType::kF32, {2, 2}}));
}

TEST(RunCodelet, TensorsThatMustLieApartDo) {
  const ProgramRun run = run_spec(
      "entry = \"c\"\nprint = [\"a\", \"b\", \"d\", \"e\"]\n[tensor.a]\nregion = 0\n"
      "[tensor.b]\nregion = 0\napart = [\"a\"]\n[tensor.d]\nshape = [9000]\n"
      "[tensor.e]\napart = [\"d\"]\nalignment = 32\noffset = 8\n",
      "c: exitz $mzero\n", "--json");
  ASSERT_EQ(run.code, 0) << run.err;
  const auto tensors = nlohmann::json::parse(run.out)["tensors"];
  const auto address = [&](const char* name) {
    return tensors[name]["address"].get<std::uint32_t>();
  };
  EXPECT_EQ(address("b"), 0x50000U);  // `a` is in the first element of 16 KiB
  EXPECT_EQ(address("d"), 0x80000U);
  EXPECT_EQ(address("e"), 0x90008U);  // 36,000 bytes reach into the second pair of elements
}

TEST(RunCodelet, ReportsEveryMistakeOfAFileWithItsPlace) {
  const ProgramRun run = run_spec(
      "entry = \"c\"\nkind = \"wroker\"\nmachin = \"gc200\"\n"
      "[[field]]\ntype = \"span\"\ntensor = \"oot\"\n"
      "[[field]]\ntype = \"u8\"\nvalue = 256\n"
      "[tensor.out]\ndtype = \"flaot\"\n",
      "c: exitz $mzero\n");
  EXPECT_EQ(run.code, 5);
  for (const char* part :
       {"c.toml:3:8: error: 'wroker' is no kind of entry point; it is worker, multivertex, "
        "supervisor",
        "c.toml:4:1: error: unknown key 'machin' of a codelet file; did you mean 'machine'?",
        "there is no tensor 'oot'; did you mean 'out'?",
        "c.toml:10:9: error: this is no number of type u8", "did you mean 'float'?"}) {
    EXPECT_NE(run.err.find(part), std::string::npos) << part << "\n" << run.err;
  }
  const ProgramRun missing = run_spec("entry = \"d\"\n", "c: exitz $mzero\n");
  EXPECT_EQ(missing.code, 5);
  EXPECT_NE(missing.err.find("undefined symbol `d`, the entry; did you mean `c`?"),
            std::string::npos)
      << missing.err;
}

}  // namespace
}  // namespace superstep
