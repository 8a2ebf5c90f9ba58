// Required by mocha: writes each test with the place that `it` was called from.  Nothing need run (--dry-run).
const fs = require('node:fs')
const path = require('node:path')
const Mocha = require('mocha')

const root = process.cwd() + path.sep
const added = []

function place() {
  const render = Error.prepareStackTrace
  Error.prepareStackTrace = (_, frames) => frames
  const frames = new Error('place').stack
  Error.prepareStackTrace = render
  const file = (frame) => (frame.getFileName() ?? '').replace(/^file:\/\//, '')
  const frame = frames.find((one) => file(one).startsWith(root))
  return frame && { file: file(frame).slice(root.length), line: frame.getLineNumber(), column: frame.getColumnNumber() }
}

const add = Mocha.Suite.prototype.addTest
Error.stackTraceLimit = 100
Mocha.Suite.prototype.addTest = function (test) {
  added.push({ test, place: place() })
  return add.call(this, test)
}

process.on('exit', () => {
  const rows = added.filter(({ place }) => place).map(({ test, place }) => ({
    ...place,
    name: test.titlePath(),
    statuses: test.pending
      ? ['skipped', 'todo'] // mocha takes a test without a body for pending
      : [test.parent._onlyTests.includes(test) ? 'focused' : 'active'],
  }))
  fs.writeFileSync(process.env.NATIVE_OUT, JSON.stringify(rows))
})
