// What the headers beside this one have in common: checks of the test that runs, in the form of executed_checks.cjs.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace executed_checks {

using place = std::pair<std::string, int>;

struct record {
  // the test and its parts that are open, the outermost first
  std::vector<place> open;
  // of the test and of each part: lines with checks in the file of the test, and how often
  std::map<place, std::map<int, int>> lines;
  std::map<place, std::string> names;
  std::map<place, int> counts;

  static record& one() {
    static record made;
    return made;
  }

  void begin(std::string name, std::string file, int line) {
    open.emplace_back(std::move(file), line);
    names[open.back()] = std::move(name);
    counts[open.back()] += 0;
  }

  void end() { open.pop_back(); }

  void note(const std::string& file, int line) {
    for (const auto& each : open) {
      counts[each]++;
      if (file == each.first) lines[each][line]++;
    }
  }

  // The test is over: of one that did not pass, some checks were not come to.
  void tell(bool has_passed) {
    const char* path = std::getenv("EXECUTED_CHECKS");
    std::FILE* out = has_passed && path != nullptr ? std::fopen(path, "a") : nullptr;
    for (const auto& each : names) {
      if (out == nullptr) break;
      std::fprintf(out, "{\"file\": \"%s\", \"line\": %d, \"name\": \"%s\", \"count\": %d, \"lines\": {",
                   each.first.first.c_str(), each.first.second, escaped(each.second).c_str(), counts[each.first]);
      const char* comma = "";
      for (const auto& line : lines[each.first]) {
        std::fprintf(out, "%s\"%d\": %d", comma, line.first, line.second);
        comma = ", ";
      }
      std::fputs("}}\n", out);
    }
    if (out != nullptr) std::fclose(out);
    *this = record();
  }

  static std::string escaped(const std::string& name) {
    std::string found;
    for (char each : name) {
      if (each == '"' || each == '\\') found += '\\';
      found += static_cast<unsigned char>(each) < 32 ? ' ' : each;
    }
    return found;
  }
};

inline int note(const char* file, int line) {
  record::one().note(file, line);
  return 0;
}

}  // namespace executed_checks
