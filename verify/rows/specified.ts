// The original Plant Store document: POST /plants with a NewPlant and a bearer credential returns a Plant, and failures
// return an Error. These rows test nothing on which it is silent.

import { type Check, isError, isPlant, notAccepted, refusedSomehow, status } from '../checks.ts'
import { whyExactAnyway } from '../ids.ts'
import { strayIds, strayName } from '../leftovers.ts'
import { type Plant, plantJson } from '../plant.ts'
import { near, type Row, type Rule, row, take } from '../row.ts'

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
const open = 'NewPlant does not forbid further properties'
const further = ',"colour":"orange","leaves":[1,{"a":null}]'

const created: readonly (readonly [title: string, rule: string, plant: Plant, more?: string])[] = [
  ['a NewPlant with a tag is answered with its Plant', valid, { name: 'Monstera deliciosa', tag: 'aroid' }],
  ['a NewPlant without a tag is answered without a tag', valid, { name: 'Crassula ovata' }],
  ['an empty tag is not the same as none', valid, { name: 'Aloe vera', tag: '' }],
  ['an empty name is a name', 'name is a string, without a bound on its length', { name: '' }],
  ['a name in Greek comes back as it was sent', aString, { name: 'Φοίνιξ ἡ δακτυλοφόρος' }],
  ['a name with an emoji and combining marks comes back as it was sent', aString, { name: '🌿 e\u0301' }],
  ['a name with quotes, backslashes and line breaks comes back as it was sent', aString, { name: '"\\/\n\r\t' }],
  ['properties outside NewPlant are accepted', open, { name: 'Clivia miniata', tag: 'bulb' }, further],
]

/** Bodies with `#` in place of the id. A wrong server might take one without an id for the plant 0. */
const refused: readonly (readonly [what: string, why: string, body: string])[] = [
  ['without a name', 'NewPlant requires name', '{"id":#}'],
  ['whose name is a number', aString, '{"id":#,"name":7}'],
  ['whose name is null', aString, '{"id":#,"name":null}'],
  ['whose tag is a number', 'tag is a string', '{"id":#,"name":"n","tag":7}'],
  ['whose tag is null', 'tag is a string', '{"id":#,"name":"n","tag":null}'],
  ['whose id is a string', 'id is an integer', '{"id":"#","name":"n"}'],
  ['whose id is a fraction', 'id is an integer', '{"id":#.5,"name":"n"}'],
  ['that is an array', 'a NewPlant is an object', '[{"id":#,"name":"n"}]'],
  ['that is not JSON', 'the body is application/json', '{"id":#,"name":"n"'],
  ['without an id', 'NewPlant requires id', `{"name":"${strayName}"}`],
  ['that is empty', 'the request body is required', ''],
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

const again = specified(twice, { turn: 'first' })

export const specifiedRows: readonly Row[] = [
  ...created.map(([title, rule, plant, more = ''], at) => {
    // With those that need a turn, three rows show a server that gives no whole answer before many rows are sent.
    const how: Partial<Rule> = at === 0 ? { turn: 'first' } : {}
    return row(title, specified(`${rule} (the response 200 of POST /plants)`, how), (store, id) => {
      const body = plantJson(id, plant.name, plant.tag).replace(/}$/, `${more}}`)
      return store.send({ body }, [status(200), isPlant(plant)])
    })
  }),
  row('neighbouring ids beyond 2^53 are two plants', specified(int64, { ids: near(3) }), async (store, ...ids) => {
    store.skipIf(whyExactAnyway(ids))
    for (const id of ids) await store.send({ body: plantJson(id, ficus) }, isFicus)
  }),
  row('a second create of the same id is answered with a Plant or an Error', again, async (store, id) => {
    for (const checks of [isFicus, [isFicusOrError]]) await store.send({ body: plantJson(id, ficus) }, checks)
  }),
  ...refused.map(([what, why, body]) => {
    const rule = specified(`says that ${why}; ${anyRefusal}`)
    return refusedRow(`a body ${what} is refused`, rule, body, [refusedSomehow])
  }),
  ...refused
    .filter(([what]) => errors.includes(what))
    .map(([what, , body]) =>
      refusedRow(`the refusal of a body ${what} is an Error`, specified(anError), body, [refusedSomehow, isError]),
    ),
  ...credentials.map(([what, Authorization]) =>
    row(`with${what} nothing is created`, specified(secured), (store, id) =>
      store.send({ body: plantJson(id, 'n'), headers: { Authorization } }, [notAccepted]),
    ),
  ),
]

function specified(document: string, how: Partial<Rule> = {}): Rule {
  return { document, level: 'specified', ...how }
}

function refusedRow(title: string, rule: Rule, body: string, checks: readonly Check[]): Row {
  const how = body.includes('#') ? {} : { ids: take(0), strays: strayIds.zero }
  return row(title, { ...rule, ...how }, (store, id) =>
    store.send({ body: body.replace('#', String(id)), isInvalid: true }, checks),
  )
}
