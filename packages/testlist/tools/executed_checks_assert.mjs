/* What files of tests get for `node:assert` where executed_checks_node.mjs is loaded; with ?strict, for its strict mode. */
import { createRequire } from "node:module";
import assert from "node:assert";

const { watched } = createRequire(import.meta.url)("./executed_checks.cjs");
const seen = watched(import.meta.url.endsWith("?strict") ? assert.strict : assert);

export default seen;
export const { AssertionError, deepEqual, deepStrictEqual, doesNotMatch, doesNotReject, doesNotThrow, equal } = seen;
export const { fail, ifError, match, notDeepEqual, notDeepStrictEqual, notEqual, notStrictEqual, ok, rejects } = seen;
export const { strict, strictEqual, throws } = seen;
