// The original Plant Store document: POST /plants with a NewPlant and a bearer credential returns a Plant, and failures
// return an Error. These rows test nothing on which it is silent.

import { type Check, isError, isPlant, notAccepted, refusedSomehow, status } from '../checks.ts'
import { strayIds, strayName } from '../leftovers.ts'
import { type Plant, plantJson } from '../plant.ts'
import type { Circumstances, Row } from '../row.ts'
import { unless } from '../row.ts'

type Body = (id: bigint) => string

export function specifiedRows({ ids }: Circumstances): readonly Row[] {
  const rowOf = (title: string, document: string, own: readonly bigint[], run: RunOf): Row => ({
    title,
    level: 'specified',
    document,
    ids: own,
    run: (store) => run(store, ...own),
  })
  /** One POST. */
  const posted = (title: string, document: string, body: Body, checks: readonly Check[], headers = {}): Row =>
    rowOf(title, document, ids.take(1), (store, id) => store.send({ body: body(id), headers }, checks))
  const created = ([title, rule, { name, tag }, more = '']: Created): Row => {
    const checks = [status(200), isPlant({ name, ...(tag !== undefined && { tag }) })]
    const document = `${rule} (the response 200 of POST /plants)`
    return posted(title, document, (id) => plantJson(id, name, tag).replace(/}$/, `${more}}`), checks)
  }
  const refused = ([what, why, body]: Refused): Row =>
    posted(`a body ${what} is refused`, `says that ${why}; ${anyRefusal}`, body, [refusedSomehow])
  const [first, ...others] = plants.map(created)
  const neighbours = rowOf('neighbouring ids beyond 2^53 are two plants', int64, ids.near(3), async (store, ...own) => {
    for (const id of own) await store.send({ body: plantJson(id, ficus) }, isRight)
  })
  return [
    { ...(first as Row), turn: 'first' },
    ...others,
    unless(ids.whyExactAnyway, neighbours),
    { ...rowOf(twiceTitle, twiceRule, ids.take(1), createTwice), turn: 'first' },
    ...bodies.map(refused),
    ...bodiesWithoutId.map((each) => ({ ...refused(each), ids: [], strays: strayIds.zero })),
    // One row per way in which frameworks refuse, since they often use different error bodies.
    ...errors.map(([what, body]) =>
      posted(`the refusal of a body ${what} is an Error`, anError, body, [refusedSomehow, isError]),
    ),
    ...credentials.map(([what, Authorization]) =>
      posted(`with${what} nothing is created`, secured, (id) => plantJson(id, 'n'), [notAccepted], { Authorization }),
    ),
  ]
}

type RunOf = (store: Parameters<Row['run']>[0], ...ids: readonly bigint[]) => Promise<unknown>
type Created = readonly [title: string, rule: string, plant: Plant, more?: string]
type Refused = readonly [what: string, why: string, body: Body]

const anyRefusal = 'it does not define which failures get 400, so any 4xx passes (the request body of POST /plants)'
const anError =
  'describes one error body: an Error as application/json, with error (int32) and message (string) ' +
  '(the response 400 of POST /plants)'
const secured =
  'secures the whole interface with a bearer credential; it does not define the answer without one ' +
  '(the security scheme bearerAuth)'
const int64 =
  'id is an int64: each of these is a valid NewPlant, and a valid one is answered with 200 (the schema NewPlant)'
const valid =
  'a NewPlant with a bearer credential is answered with 200 and a Plant: its name, and its tag if it has one'
const aString = 'name is a string'

const plants: readonly Created[] = [
  ['a NewPlant with a tag is answered with its Plant', valid, { name: 'Monstera deliciosa', tag: 'aroid' }],
  ['a NewPlant without a tag is answered without a tag', valid, { name: 'Crassula ovata' }],
  ['an empty tag is not the same as none', valid, { name: 'Aloe vera', tag: '' }],
  ['an empty name is a name', 'name is a string, without a bound on its length', { name: '' }],
  ['a name in Greek comes back as it was sent', aString, { name: 'Φοίνιξ ἡ δακτυλοφόρος' }],
  ['a name with an emoji and combining marks comes back as it was sent', aString, { name: '🌿 e\u0301' }],
  ['a name with quotes, backslashes and line breaks comes back as it was sent', aString, { name: '"\\/\n\r\t' }],
  [
    'properties outside NewPlant are accepted',
    'NewPlant does not forbid further properties',
    { name: 'Clivia miniata', tag: 'bulb' },
    ',"colour":"orange","leaves":[1,{"a":null}]',
  ],
]

const bodies: readonly Refused[] = [
  ['without a name', 'NewPlant requires name', (id) => `{"id":${id}}`],
  ['whose name is a number', aString, (id) => `{"id":${id},"name":7}`],
  ['whose name is null', aString, (id) => `{"id":${id},"name":null}`],
  ['whose tag is a number', 'tag is a string', (id) => `{"id":${id},"name":"n","tag":7}`],
  ['whose tag is null', 'tag is a string', (id) => `{"id":${id},"name":"n","tag":null}`],
  ['whose id is a string', 'id is an integer', (id) => plantJson(`"${id}"`, 'n')],
  ['whose id is a fraction', 'id is an integer', (id) => plantJson(`${id}.5`, 'n')],
  ['that is an array', 'a NewPlant is an object', (id) => `[${plantJson(id, 'n')}]`],
  ['that is not JSON', 'the body is application/json', (id) => plantJson(id, 'n').slice(0, -1)],
]

const bodiesWithoutId: readonly Refused[] = [
  ['without an id', 'NewPlant requires id', () => `{"name":"${strayName}"}`],
  ['that is empty', 'the request body is required', () => ''],
]

const errors: readonly (readonly [what: string, body: Body])[] = [
  ['that is not JSON', (id) => `{"id":${id},"name"`],
  ['without a name', (id) => `{"id":${id}}`],
  ['whose name is a number', (id) => `{"id":${id},"name":7}`],
]

const credentials: readonly (readonly [what: string, authorization: string | undefined])[] = [
  ['out a credential', undefined],
  [' Basic instead of Bearer', 'Basic cGx0OmNvZGU='],
  [' Bearer and no credential', 'Bearer'],
]

const ficus = 'Ficus lyrata'
const isRight: readonly Check[] = [status(200), isPlant({ name: ficus })]
const twiceTitle = 'a second create of the same id is answered with a Plant or an Error'
const twiceRule =
  'defines 200 with a Plant and 400 with an Error, but not which applies here (the responses of POST /plants)'

/** Only POST is specified, so only another POST can reveal the state of a plant. */
const createTwice: RunOf = async (store, id) => {
  const request = { body: plantJson(id as bigint, ficus) }
  await store.send(request, isRight)
  await store.send(request, [
    (answer, known) =>
      answer.status === 200 ? isPlant({ name: ficus })(answer, known) : (refusedSomehow(answer) ?? isError(answer)),
  ])
}
