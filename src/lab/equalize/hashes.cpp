#include "pipelines/core/frame_hash.h"
#include "src/lab/lab.h"
#include "src/lab/pivot.h"

/// `lab hashes`: Tables 1 and 2 of the report on equalization.
namespace equalux::cli::lab {

void measure_hashes(Lab& lab) {
  lab.fact("input_md5", frame_md5(lab.image().view()));
  lab.fact("md5_of", "the pixels, rows without padding, as --verify has it");
  lab.begin({"backend", "chain", "scaler", "bins", "md5"});
  for (const std::string_view chain : enum_names<Chain>()) {
    for (const std::string_view scaler : enum_names<Scaler>()) {
      for (const Backend backend : lab.backends()) {
        EqualizeParams params;
        params.bins = lab.options().common.equalize.bins;
        params.chain = *enum_from<Chain>(chain);
        params.scaler = *enum_from<Scaler>(scaler);
        const Image result = filtered(lab.image().view(), params, backend, lab.options());
        lab.add({std::string(enum_name(backend)), std::string(chain), std::string(scaler),
                 cell(params.bins == 0 ? 256 : params.bins), frame_md5(result.view())});
      }
    }
  }
}

Report report_hashes(const Table& table) {
  Report report;
  for (const std::string& chain : texts_of(table, "chain")) {
    report.markdown += "## Chain " + chain + "\n\n" +
                       markdown_table(pivot(table, {"backend", "scaler", "md5", ""},
                                            rows_where(table, "chain", chain))) +
                       "\n";
  }
  const auto cpu = rows_where(table, "backend", "cpu");
  const auto cuda = rows_where(table, "backend", "cuda");
  if (cpu.empty() || cuda.empty()) {
    report.markdown += "One backend was here to be asked.\n";
    return report;
  }
  std::size_t same = 0;
  for (std::size_t i = 0; i < cpu.size() && i < cuda.size(); ++i)
    same += table.text(cpu[i], "md5") == table.text(cuda[i], "md5") ? 1 : 0;
  report.markdown += "CPU and GPU agree in " + cell(same) + " of " + cell(cpu.size()) + ".\n";
  return report;
}

}  // namespace equalux::cli::lab
