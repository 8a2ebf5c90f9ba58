/* What the collectors of JavaScript runners have in common: which checks each test ran, and where these stand.
 *
 * A test becomes one line of JSON in the file that EXECUTED_CHECKS names: file, line and name of the test; `lines`, of
 * its own file, with checks; `through`, lines of its own file from which others were come to; `count` of all checks.
 */
"use strict";
const fs = require("node:fs");
const path = require("node:path");
const { fileURLToPath } = require("node:url");

/* before the name of a symbolic link is followed: runners show either */
const ROOTS = [process.cwd(), fs.realpathSync(process.cwd())].map((root) => root + path.sep);
const PLACE = /\(?((?:file:\/\/)?\/[^()]*?)(?:\?[^():]*)?:(\d+):\d+\)?$/;
let current = null;

Error.stackTraceLimit = 60;

/* File and line of what a stack tells of the repository's own files, the innermost first. */
function frames(stack) {
  const found = [];
  for (const entry of stack.split("\n")) {
    const match = PLACE.exec(entry);
    const file = match && (match[1].startsWith("file:") ? fileURLToPath(match[1]) : match[1]);
    if (file && ROOTS.some((root) => file.startsWith(root)) && !file.includes("node_modules"))
      found.push({ file, line: Number(match[2]) });
  }
  return found;
}

/* A check runs: remember where it stands. */
function note() {
  if (current) current.checks.push(frames(new Error().stack));
}

/* A test begins. */
function begin() {
  current = { checks: [] };
}

/* A test has ended.  test: its file, line and name; passed: of others, some checks were not come to. */
function end(test, passed) {
  const checks = current ? current.checks : [];
  current = null;
  if (!passed || !process.env.EXECUTED_CHECKS) return;
  const lines = {};
  const through = {};
  for (const [first, ...others] of checks) {
    if (first && first.file === test.file) lines[first.line] = (lines[first.line] || 0) + 1;
    for (const one of others) if (one.file === test.file) through[one.line] = 1;
  }
  const told = { ...test, lines, through: Object.keys(through), count: checks.length };
  fs.appendFileSync(process.env.EXECUTED_CHECKS, JSON.stringify(told) + "\n");
}

/* An object of functions, and maybe a function itself, that notes each call first. */
function watched(owner) {
  const noting = (before) =>
    function (...given) {
      note();
      return before.apply(this, given);
    };
  return new Proxy(owner, {
    apply: (before, self, given) => noting(before).apply(self, given),
    get: (from, name) => (typeof from[name] === "function" && !/^[A-Z]/.test(name) ? noting(from[name]) : from[name]),
  });
}

module.exports = { begin, end, frames, note, watched };
