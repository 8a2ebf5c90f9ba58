// Run by node: writes each test that vitest collects.
import { writeFileSync } from 'node:fs'
import path from 'node:path'
import { createVitest } from 'vitest/node'

const statuses = ({ mode, fails }) =>
  ({ skip: ['skipped'], todo: ['todo'], only: ['focused'] })[mode] ?? [fails ? 'xfail' : 'active']

const vitest = await createVitest('test', { watch: false, includeTaskLocation: true, run: true })
const { testModules, unhandledErrors } = await vitest.collect(process.argv.slice(2))
const rows = []
for (const module of testModules) {
  for (const error of module.errors()) unhandledErrors.push(error)
  for (const test of module.children.allTests()) {
    const name = [test.name]
    for (let suite = test.parent; suite.type === 'suite'; suite = suite.parent) name.unshift(suite.name)
    rows.push({ file: path.relative(process.cwd(), module.moduleId), ...(test.location ?? { line: 0, column: 0 }), name, statuses: statuses(test.options) })
  }
}
for (const error of unhandledErrors) console.error(error.message)
writeFileSync(process.env.NATIVE_OUT, JSON.stringify(rows))
await vitest.close()
process.exit()
