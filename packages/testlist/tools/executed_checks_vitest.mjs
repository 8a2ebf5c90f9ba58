/* A set-up file of Vitest that writes down which `expect(…)` and `assert.…(…)` each test ran (executed_checks.cjs).
 *
 *     EXECUTED_CHECKS=OUT.jsonl npx vitest run --includeTaskLocation --config CONFIG
 *
 * CONFIG names this file in test.setupFiles.  Vitest counts each call of expect in a map of its own.
 */
import { createRequire } from "node:module";
import { afterEach, assert, beforeEach } from "vitest";

const { begin, end, note, watched } = createRequire(import.meta.url)("./executed_checks.cjs");
const states = globalThis[Symbol.for("matchers-object")];

states.set = function (expect, state) {
  const before = this.counted || 0;
  this.counted = state.assertionCalls || 0;
  if (this.counted > before) note();
  return WeakMap.prototype.set.call(this, expect, state);
};
const seen = watched({ ...assert });
for (const name of Object.keys(assert)) assert[name] = seen[name];

beforeEach(begin);
afterEach(({ task }) => {
  const { filepath } = task.file;
  end({ file: filepath, line: task.location ? task.location.line : 0, name: task.name }, task.result?.state !== "fail");
});
