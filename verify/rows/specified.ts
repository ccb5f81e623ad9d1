// The original Plant Store document: POST /plants with a NewPlant and a bearer credential returns a Plant, and failures
// return an Error. These rows test nothing on which it is silent.

import { isError, isPlant, notAccepted, refusedSomehow, status } from '../checks.ts'
import { strayIds, strayName } from '../leftovers.ts'
import { type Plant, plantJson } from '../plant.ts'
import type { Check, Circumstances, Row, Step } from '../row.ts'
import { isExactAnyway, unless } from './building.ts'

export function specifiedRows(circumstances: Circumstances): readonly Row[] {
  return [
    ...createRows(circumstances),
    ...idRows(circumstances),
    ...refusalRows(circumstances),
    ...credentialRows(circumstances),
  ]
}

const response200 = 'the response 200 of POST /plants'
const response400 = 'the response 400 of POST /plants'

function createRows({ ids }: Circumstances): Row[] {
  const created = (title: string, document: string, plant: Plant, more = ''): Row => {
    const id = ids.next()
    const body = plantJson(id, plant.name, plant.tag).replace(/}$/, `${more}}`)
    const steps = [{ request: { body }, checks: [status(200), isPlant(plant)] }]
    return { title, level: 'specified', document, where: response200, ids: [id], kept: { id, ...plant }, steps }
  }
  const comesBack = (what: string, name: string): Row =>
    created(`a name ${what} comes back as it was sent`, 'name is a string', { name })
  const valid =
    'a NewPlant with a bearer credential is answered with 200 and a Plant: its name, and its tag if it has one'
  const open = 'NewPlant does not forbid further properties'
  const more = ',"colour":"orange","leaves":[1,{"a":null}]'
  return [
    created('a NewPlant with a tag is answered with its Plant', valid, { name: 'Monstera deliciosa', tag: 'aroid' }),
    created('a NewPlant without a tag is answered without a tag', valid, { name: 'Crassula ovata' }),
    created('an empty tag is not the same as none', valid, { name: 'Aloe vera', tag: '' }),
    created('an empty name is a name', 'name is a string, without a bound on its length', { name: '' }),
    comesBack('in Greek', 'Φοίνιξ ἡ δακτυλοφόρος'),
    comesBack('with an emoji and combining marks', '🌿 e\u0301'),
    comesBack('with quotes, backslashes and line breaks', '"\\/\n\r\t'),
    created('properties outside NewPlant are accepted', open, { name: 'Clivia miniata', tag: 'bulb' }, more),
  ]
}

/** Only POST is specified, so only another POST can reveal the state of a plant. */
function idRows({ ids }: Circumstances): Row[] {
  const neighbours = ids.next()
  const twice = ids.next()
  const create = (id: bigint, checks: readonly Check[]): Step => ({
    request: { body: plantJson(id, 'Ficus lyrata') },
    checks,
  })
  const succeeds = [status(200), isPlant({ name: 'Ficus lyrata' })]
  const apart: Row = {
    title: 'neighbouring ids beyond 2^53 are two plants',
    level: 'specified',
    document: 'id is an int64: each of these is a valid NewPlant, and a valid one is answered with 200',
    where: 'the schema NewPlant',
    ids: [neighbours + 1n, neighbours + 2n, neighbours + 3n],
    steps: [1n, 2n, 3n].map((offset) => create(neighbours + offset, succeeds)),
  }
  return [
    unless(isExactAnyway(ids), apart),
    {
      title: 'a second create of the same id is answered with a Plant or an Error',
      level: 'specified',
      document: 'defines 200 with a Plant and 400 with an Error, but not which applies here',
      where: 'the responses of POST /plants',
      ids: [twice],
      steps: [
        create(twice, succeeds),
        create(twice, [
          (answer, before, plants) =>
            answer.status === 200
              ? isPlant({ name: 'Ficus lyrata' })(answer, before, plants)
              : (refusedSomehow(answer) ?? isError(answer)),
        ]),
      ],
    },
  ]
}

/** Bodies that are not a NewPlant. The document does not say which input gets 400, so any 4xx is right. */
function refusalRows({ ids }: Circumstances): Row[] {
  const bodies: readonly (readonly [what: string, where: string, body: (id: bigint) => string])[] = [
    ['without a name', 'NewPlant requires name', (id) => `{"id":${id}}`],
    ['whose name is a number', 'name is a string', (id) => `{"id":${id},"name":7}`],
    ['whose name is null', 'name is a string', (id) => `{"id":${id},"name":null}`],
    ['whose tag is a number', 'tag is a string', (id) => plantJson(id, 'n').replace('}', ',"tag":7}')],
    ['whose tag is null', 'tag is a string', (id) => plantJson(id, 'n').replace('}', ',"tag":null}')],
    ['whose id is a string', 'id is an integer', (id) => plantJson(`"${id}"`, 'n')],
    ['whose id is a fraction', 'id is an integer', (id) => plantJson(`${id}.5`, 'n')],
    ['that is an array', 'a NewPlant is an object', (id) => `[${plantJson(id, 'n')}]`],
    ['that is not JSON', 'the body is application/json', (id) => plantJson(id, 'n').slice(0, -1)],
  ]
  const withId = bodies.map(([what, why, body]) => {
    const id = ids.next()
    return { what, why, body: body(id), ids: [id] }
  })
  const withoutId = [
    {
      what: 'without an id',
      why: 'NewPlant requires id',
      body: `{"name":"${strayName}"}`,
      ids: [],
      strays: strayIds.zero,
    },
    { what: 'that is empty', why: 'the request body is required', body: '', ids: [], strays: strayIds.zero },
  ]
  const refused = [...withId, ...withoutId].map(
    ({ what, why, body, ...rest }): Row => ({
      title: `a body ${what} is refused`,
      level: 'specified',
      document: `says that ${why}; it does not define which failures get 400, so any 4xx passes`,
      where: 'the request body of POST /plants',
      steps: [{ request: { body }, checks: [refusedSomehow] }],
      ...rest,
    }),
  )
  return [...refused, ...errorRows(ids.next())]
}

/** One row per way in which frameworks refuse, since they often use different error bodies. */
function errorRows(id: bigint): Row[] {
  const error = (title: string, body: string): Row => ({
    title,
    level: 'specified',
    document: 'describes one error body: an Error as application/json, with error (int32) and message (string)',
    where: response400,
    ids: [id],
    steps: [{ request: { body }, checks: [refusedSomehow, isError] }],
  })
  return [
    error('the refusal of a body that is not JSON is an Error', `{"id":${id},"name"`),
    error('the refusal of a body without a name is an Error', `{"id":${id}}`),
    error('the refusal of a name that is a number is an Error', `{"id":${id},"name":7}`),
  ]
}

/** The document does not define the answer without a credential, but the call must not succeed. */
function credentialRows({ ids }: Circumstances): Row[] {
  const notServed = (title: string, authorization: string | undefined): Row => {
    const id = ids.next()
    return {
      title,
      level: 'specified',
      document: 'secures the whole interface with a bearer credential; it does not define the answer without one',
      where: 'the security scheme bearerAuth',
      ids: [id],
      steps: [
        { request: { body: plantJson(id, 'n'), headers: { Authorization: authorization } }, checks: [notAccepted] },
      ],
    }
  }
  return [
    notServed('without a credential nothing is created', undefined),
    notServed('with Basic instead of Bearer nothing is created', 'Basic cGx0OmNvZGU='),
    notServed('with Bearer and no credential nothing is created', 'Bearer'),
  ]
}
