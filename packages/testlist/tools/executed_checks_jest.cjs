/* A set-up file of Jest that writes down which `expect(…)` each test ran (executed_checks.cjs).
 *
 *     EXECUTED_CHECKS=OUT.jsonl npx jest --setupFilesAfterEnv PATH/executed_checks_jest.cjs
 *
 * Each call of expect lists the known matchers, of which Jest keeps one object.  Where a test stands is told by the
 * error that jest-circus keeps with it.
 */
"use strict";
const { begin, end, frames, note } = require("./executed_checks.cjs");

const kept = globalThis[Symbol.for("$$jest-matchers-object")];
kept.matchers = new Proxy(kept.matchers, {
  ownKeys(matchers) {
    note();
    return Reflect.ownKeys(matchers);
  },
});

const symbol = Object.getOwnPropertySymbols(globalThis).find((one) => one.description === "JEST_STATE_SYMBOL");

beforeEach(begin);
afterEach(() => {
  const test = globalThis[symbol].currentlyRunningTest;
  const [place] = frames(test.asyncError.stack);
  end({ ...place, name: test.name }, test.errors.length === 0);
});
