// The names that a program gives its arguments and results, in traces, views and messages.

#include <hdf5.h>

#include <fstream>
#include <map>

#include "base/hdf5.h"
#include "tests/tools/views.h"

namespace superstep {
namespace {

/// Texts of a column by those of another; empty ones are left out.
std::map<std::string, std::string> texts_by(const json& table, const std::string& key,
                                            const std::string& column) {
  std::map<std::string, std::size_t> at;
  for (std::size_t c = 0; c < table["columns"].size(); ++c) at[table["columns"][c]["name"]] = c;
  std::map<std::string, std::string> texts;
  for (const json& row : table["rows"])
    if (row[at.at(column)].is_string()) texts[row[at.at(key)]] = row[at.at(column)];
  return texts;
}

const std::map<std::string, std::string> kLabels = {
    {"arg0", "params.w"},       {"arg1", "params.b"},       {"arg2", "x"},           {"arg3", "y"},
    {"result0", "result[0].w"}, {"result1", "result[0].b"}, {"result2", "result[1]"}};

TEST_F(Views, OfStreamsAndTensorsHaveTheNamesThatTheProgramGivesThem) {
  const Hdf5File file = Hdf5File::open(trace(), Hdf5File::Access::kRead);
  const auto names = file.read_text("/program/stream/name"),
             labels = file.read_text("/program/stream/label");
  std::map<std::string, std::string> stored;
  for (std::size_t s = 0; s < names.size(); ++s)
    if (!labels[s].empty()) stored[names[s]] = labels[s];
  EXPECT_EQ(stored, kLabels);
  EXPECT_EQ(texts_by(tables("--view host")[0], "stream", "label"), kLabels);
  const auto tensors = texts_by(tables("--view memory --top 0")[2], "tensor", "label");
  EXPECT_EQ(tensors.at("arg2"), "x");
  for (const auto& [name, label] : tensors) EXPECT_EQ(label, kLabels.at(name));
  EXPECT_EQ(tables("--view host --match 'params.*'")[0]["rows"].size(), 2U);
  EXPECT_EQ(tables("--view host --match 'arg?'")[0]["rows"].size(), 4U);
  EXPECT_EQ(texts_by(tables("--view memory --match params.w")[2], "tensor", "label"),
            (std::map<std::string, std::string>{{"arg0", "params.w"}}));
}

TEST_F(Views, OfTracesBeforeLabelsHavePositionsAlone) {
  const std::string older = (scratch_folder() / "older.h5").string();
  std::filesystem::copy_file(trace(), older);
  const hid_t file = H5Fopen(older.c_str(), H5F_ACC_RDWR, H5P_DEFAULT);
  EXPECT_GE(H5Ldelete(file, "/program/stream/label", H5P_DEFAULT), 0);
  H5Fclose(file);
  Hdf5File::open(older, Hdf5File::Access::kWrite)
      .set_attribute("/", "format_version", std::string("1.11.0"));
  EXPECT_EQ(superstep("trace validate " + older).code, 0);
  for (const char* view : {"host", "memory"}) {
    const std::string words = std::string(" --view ") + view;
    const std::string text = superstep("report " + older + words).out;
    EXPECT_NE(text.find("arg2"), std::string::npos) << text;
    EXPECT_EQ(text.find("label"), std::string::npos) << text;
    EXPECT_NE(superstep("report " + trace() + words).out.find("label"), std::string::npos);
  }
  EXPECT_EQ(superstep("report diff " + older + " " + trace() + " --view host").code, 0);
}

TEST_F(Views, OfInsightsNameStreamsAsTheProgramDoes) {
  const std::string path = scratch_folder() / "state.mlir", traced = scratch_folder() / "state.h5";
  std::ofstream(path) << "func.func @main(%a: tensor<4096xf32> loc(\"state.weights\")) -> "
                         "(tensor<4096xf32> {jax.result_info = \"result.weights\"}) {\n"
                         "  %0 = stablehlo.add %a, %a : tensor<4096xf32>\n"
                         "  return %0 : tensor<4096xf32>\n}\n";
  ASSERT_EQ(superstep("run " + path +
                      " -m tiny4 --input random:1 --repeat 5 -q --trace superstep -o " + traced)
                .code,
            0);
  const std::string text = superstep("report " + traced + " --view insights", "COLUMNS=1000").out;
  EXPECT_NE(text.find("donate the argument that takes the value of result0 (result.weights), which "
                      "has the type of arg0 (state.weights)"),
            std::string::npos)
      << text;
}

TEST(Inputs, ThatLackAnArgumentSayWhatTheProgramCallsIt) {
  const std::string values = scratch_folder() / "values.h5", image = scratch_folder() / "image.h5";
  write_tensors(values, {{"arg0", HostTensor(TensorType{DType::kF32, {4, 3}})},
                         {"arg2", HostTensor(TensorType{DType::kF32, {4}})}});
  const std::string affine = "models/quickstart/affine.mlir -m tiny4 -q";
  ASSERT_EQ(superstep("compile " + affine + " -o " + image).code, 0);
  for (const std::string& program : {affine, image + " -q"}) {
    const ProgramRun run = superstep("run " + program + " --input " + values);
    EXPECT_EQ(run.code, 5);
    EXPECT_NE(run.err.find("no dataset 'arg1' (x); the program expects tensor<3xf32> there"),
              std::string::npos)
        << run.err;
  }
}

}  // namespace
}  // namespace superstep
