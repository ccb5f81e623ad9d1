// Wrong servers that the document itself names: each breaks one part of what it says of an operation's answers. A new
// operation has its wrong servers at once.

import { openDocument } from '../../verify/document.ts'
import { merged, propertiesOf, type Schema } from '../../verify/schemas.ts'
import { answering, caughtBy, drop, json, type Made, set, status, text, titled, type Wrong } from './operators.ts'
import type { Answered } from './wrong-servers.ts'

const { root, operations } = openDocument()
type Properties = Record<string, unknown>

/** Statuses of requests with a body. */
const ofBodies = [413, 415]

/** The statuses of right answers that every complete run gets. */
const reached = [200, 204, 304, 400, 401, 403, 404, 405, 409, 410, 412, 413, 415, 422]

/** Changes each object of a JSON body: the body itself, or the items of a list. */
const objects = (change: (object: Properties) => unknown) =>
  json((value: Properties | Properties[]) => (Array.isArray(value) ? value.map(change) : change(value)))
const items = (change: (all: readonly unknown[]) => readonly unknown[]) =>
  json((value: unknown) => (Array.isArray(value) ? change(value) : value))

const swapped = items(([one, two, ...rest]) => (two ? [two, one, ...rest] : [one].filter((each) => each !== undefined)))
const ofLists = {
  'in an object': json((all) => ({ all })),
  'without the last': items((all) => all.slice(0, -1)),
  'with the first two swapped': swapped,
  'with the first one twice': items((all) => [...all.slice(0, 1), ...all]),
} as const

type Change = (answered: Answered) => Partial<Answered>

function changesOf(schema: Schema): readonly (Change & { readonly says: string })[] {
  const whole = merged(root, schema)
  const isList = whole['type'] === 'array'
  const inner = isList ? (whole['items'] as Schema) : schema
  const required = propertiesOf(root, inner).filter(({ isRequired }) => isRequired)
  const changes: readonly (readonly [says: string, change: Change])[] = [
    ...required.flatMap(({ name }) => [
      [`without ${name}`, objects(({ [name]: _, ...rest }) => rest)] as const,
      [`with null for ${name}`, objects((each) => ({ ...each, [name]: null }))] as const,
    ]),
    ...Object.entries(isList ? ofLists : {}),
  ]
  return changes.map(([says, change]) => titled(says, change))
}

export const derived: readonly Wrong[] = operations.flatMap(
  ({ id, method, path, responses, parameters, body: taken }) =>
    [...responses]
      .filter(([done]) => reached.includes(done) && (taken !== undefined || !ofBodies.includes(done)))
      .filter(([done]) => done !== 400 || taken !== undefined || parameters.length > 0)
      .flatMap(([done, { headers, content }]) => {
        const isDone = done < 400
        const schema = content.get('application/json')
        const fields = headers.filter(({ isRequired }) => isRequired).map(({ name }) => drop(name))
        const type = content.size === 0 ? [] : [set('Content-Type', 'text/plain')]
        const body = schema === undefined ? [] : isDone ? changesOf(schema) : [text(/"error":\d+/, '"error":1')]
        const other = isDone ? status(done === 204 ? 200 : 202) : status(done === 404 ? 410 : 404)
        const made: readonly Made[] = answering(`${method} ${path} ${done}`)(...fields, ...type, ...body, other)
        return caughtBy(id)(...made.map(([does, behave]): Made => [`${does} (${id})`, behave]))
      }),
)
