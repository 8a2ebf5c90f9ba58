/* Writes down which functions of `node:assert` each test of Node's own runner ran (executed_checks.cjs).
 *
 *     EXECUTED_CHECKS=OUT.jsonl NODE_OPTIONS="--import=PATH/executed_checks_node.mjs" node --test
 *
 * Files that ask for node:assert get one that notes its calls (executed_checks_assert.mjs): the module itself compares
 * its functions with each other, so they stay.  Tests are seen by the names `test` and `it`, and `t.assert` is not.
 */
import Module, { createRequire, register, syncBuiltinESMExports } from "node:module";

const require = createRequire(import.meta.url);
const { begin, end, frames, watched } = require("./executed_checks.cjs");
const assert = require("node:assert");
const runner = require("node:test");

const HERE = new URL("./executed_checks_assert.mjs", import.meta.url).href;
const HOOK = `export async function resolve(specifier, context, next) {
  const asked = /^(?:node:)?assert(\\/strict)?$/.exec(specifier);
  const own = (context.parentURL || "").includes("executed_checks");
  const url = "${HERE}" + (asked && asked[1] ? "?strict" : "");
  return asked && !own ? { url, format: "module", shortCircuit: true } : next(specifier, context);
}`;
register("data:text/javascript," + encodeURIComponent(HOOK));

const load = Module._load;
Module._load = function (request, ...rest) {
  const asked = /^(?:node:)?assert(\/strict)?$/.exec(request);
  return asked ? watched(asked[1] ? assert.strict : assert) : load.call(this, request, ...rest);
};

/* A function of a test, with what it ran written down behind it. */
function told(place, name, fn) {
  const around = async function (...given) {
    begin();
    let passed = false;
    try {
      await fn.apply(this, given);
      passed = true;
    } finally {
      end({ ...place, name }, passed);
    }
  };
  return Object.defineProperty(around, "length", { value: Math.min(fn.length, 1) });
}

/* A function that declares tests; one that is ended by a callback is left as it is. */
function declares(before) {
  const declare = function (...given) {
    const place = frames(new Error().stack)[0];
    const at = given.findIndex((one) => typeof one === "function");
    const usable = place && at >= 0 && given[at].length < 2;
    if (usable) given[at] = told(place, typeof given[0] === "string" ? given[0] : "", given[at]);
    return before.apply(this, given);
  };
  return Object.assign(declare, before);
}

runner.test = declares(runner.test);
runner.it = declares(runner.it);
syncBuiltinESMExports();
