// The original Plant Store document: POST /plants with a NewPlant and a bearer credential returns a Plant, and failures
// return an Error. These rows test nothing on which it is silent.

import { type Check, isError, isPlant, notAccepted, refusedSomehow, status } from '../checks.ts'
import { strayIds, strayName } from '../leftovers.ts'
import { type Plant, plantJson } from '../plant.ts'
import { near, none, type Row, type Rule, row, take } from '../row.ts'

type Write = (id: bigint) => string

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
const twice =
  'defines 200 with a Plant and 400 with an Error, but not which applies here (the responses of POST /plants)'
const aString = 'name is a string'

const created: readonly (readonly [title: string, rule: string, plant: Plant, more?: string])[] = [
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

/** A wrong server might take a body without an id for the plant 0. */
type Refused = readonly [what: string, why: string, write: Write, hasNoId?: 'no id']
const refused: readonly Refused[] = [
  ['without a name', 'NewPlant requires name', (id) => `{"id":${id}}`],
  ['whose name is a number', aString, (id) => `{"id":${id},"name":7}`],
  ['whose name is null', aString, (id) => `{"id":${id},"name":null}`],
  ['whose tag is a number', 'tag is a string', (id) => `{"id":${id},"name":"n","tag":7}`],
  ['whose tag is null', 'tag is a string', (id) => `{"id":${id},"name":"n","tag":null}`],
  ['whose id is a string', 'id is an integer', (id) => plantJson(`"${id}"`, 'n')],
  ['whose id is a fraction', 'id is an integer', (id) => plantJson(`${id}.5`, 'n')],
  ['that is an array', 'a NewPlant is an object', (id) => `[${plantJson(id, 'n')}]`],
  ['that is not JSON', 'the body is application/json', (id) => plantJson(id, 'n').slice(0, -1)],
  ['without an id', 'NewPlant requires id', () => `{"name":"${strayName}"}`, 'no id'],
  ['that is empty', 'the request body is required', () => '', 'no id'],
]
/** Ways in which frameworks refuse, often with different error bodies. */
const errors = ['without a name', 'whose name is a number', 'that is not JSON']

const credentials: readonly (readonly [what: string, authorization: string | undefined])[] = [
  ['out a credential', undefined],
  [' Basic instead of Bearer', 'Basic cGx0OmNvZGU='],
  [' Bearer and no credential', 'Bearer'],
]

const ficus = 'Ficus lyrata'
const isFicus: readonly Check[] = [status(200), isPlant({ name: ficus })]
/** Only POST is specified, so only another POST can reveal the state of a plant. */
const isFicusOrError: Check = (answer, plants) =>
  answer.status === 200 ? isPlant({ name: ficus })(answer, plants) : (refusedSomehow(answer) ?? isError(answer, plants))

export const specifiedRows: readonly Row[] = [
  ...created.map(([title, rule, plant, more = ''], at) => {
    const write: Write = (id) => plantJson(id, plant.name, plant.tag).replace(/}$/, `${more}}`)
    const document = `${rule} (the response 200 of POST /plants)`
    return posted(title, specified(document, at === 0 ? { turn: 'first' } : {}), write, [status(200), isPlant(plant)])
  }),
  row(
    'neighbouring ids beyond 2^53 are two plants',
    specified(int64, { unless: ({ ids }) => ids.whyExactAnyway }),
    near(3),
    async (store, ...ids) => {
      for (const id of ids) await store.send({ body: plantJson(id, ficus) }, isFicus)
    },
  ),
  row(
    'a second create of the same id is answered with a Plant or an Error',
    specified(twice, { turn: 'first' }),
    take(1),
    async (store, id) => {
      for (const checks of [isFicus, [isFicusOrError]]) await store.send({ body: plantJson(id, ficus) }, checks)
    },
  ),
  ...refused.map(([what, why, write, hasNoId]) => {
    const rule = specified(`says that ${why}; ${anyRefusal}`, hasNoId && { strays: strayIds.zero })
    return posted(`a body ${what} is refused`, rule, write, [refusedSomehow], hasNoId ? none : take(1))
  }),
  ...refused
    .filter(([what]) => errors.includes(what))
    .map(([what, , write]) =>
      posted(`the refusal of a body ${what} is an Error`, specified(anError), write, [refusedSomehow, isError]),
    ),
  ...credentials.map(([what, Authorization]) =>
    row(`with${what} nothing is created`, specified(secured), take(1), (store, id) =>
      store.send({ body: plantJson(id, 'n'), headers: { Authorization } }, [notAccepted]),
    ),
  ),
]

function specified(document: string, how: Partial<Rule> = {}): Rule {
  return { document, level: 'specified', ...how }
}

/** One POST. */
function posted(title: string, rule: Rule, write: Write, checks: readonly Check[], ids = take(1)): Row {
  return row(title, rule, ids, (store, id) => store.send({ body: write(id) }, checks))
}
