// A reporter of jest: writes each test of a run, with the place it was defined at (--testLocationInResults).
const fs = require('node:fs')
const path = require('node:path')

const STATUSES = { pending: ['skipped'], disabled: ['skipped'], todo: ['todo'] }

module.exports = class {
  rows = []

  onTestResult(test, result) {
    const file = path.relative(process.cwd(), test.path)
    if (result.testExecError) console.error(`${file}: ${result.testExecError.message}`)
    for (const one of result.testResults) {
      const statuses = STATUSES[one.status] ?? ['active', 'focused', 'xfail'] // jest does not tell which
      this.rows.push({ file, line: one.location.line, column: one.location.column, name: [...one.ancestorTitles, one.title], statuses })
    }
  }

  onRunComplete() {
    fs.writeFileSync(process.env.NATIVE_OUT, JSON.stringify(this.rows))
  }
}
