// A reporter of node's test runner: the tests of a run, without those that stand in tests.
import path from 'node:path'

const status = ({ skip, todo }) => (skip !== undefined ? 'skipped' : todo !== undefined ? 'todo' : 'active')

export default async function* (events) {
  const rows = []
  let open = [] // reported, and waiting for the suite or test around them, which is reported after them
  for await (const { type, data } of events) {
    if (type !== 'test:pass' && type !== 'test:fail') continue
    const inner = open.filter((one) => one.nesting > data.nesting)
    open = open.filter((one) => one.nesting <= data.nesting)
    if (data.details?.type === 'suite') {
      for (const one of inner) open.push({ ...one, nesting: data.nesting, name: [data.name, ...one.name] })
    } else if (data.file && data.name !== data.file) {
      const { nesting, line, column, name } = data
      open.push({ nesting, file: path.relative(process.cwd(), data.file), line, column, name: [name], statuses: [status(data)] })
    }
    if (data.nesting === 0) rows.push(...open.splice(0))
  }
  yield JSON.stringify(rows)
}
