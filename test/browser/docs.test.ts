// The reference at /docs, in a real browser. It sends requests only to its server.

import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { request } from 'node:http'
import { describe, test } from 'node:test'
import { promisify } from 'node:util'
import type { Locator } from 'playwright-core'
import { loadContract } from '../../src/contract/contract.ts'
import { startPlantStore } from '../../src/embed/start.ts'
import { startAnswering } from '../support/answering.ts'
import { findViolations, lanName, noBrowser } from '../support/browser.ts'
import { makeFolder } from '../support/folder.ts'
import { exhaustive, inRing } from '../support/ring.ts'
import { until } from '../support/time.ts'
import { open, store } from './visits.ts'

const sections = ['Get started', 'Plants', 'Webhooks', 'Guide', 'Schemas', 'Service']

/** A user's document. */
const ownDocument = {
  openapi: '3.1.0',
  info: {
    title: 'Greenhouse',
    version: '1',
    description:
      'About **plants**.\n\n## Schemas\n```\n# code\n## code\n```\n## Authentication\n1. one\n\n## Authentication\nText:\n- a `b` ' +
      '[c](https://c.example/) [x](javascript:y)',
  },
  paths: {
    '/plants': {
      post: {
        requestBody: {
          content: {
            'application/json': {
              schema: {
                type: 'object',
                required: ['id', 'name', 'light', 'care'],
                properties: {
                  heightCm: { type: 'number', exclusiveMinimum: 0, multipleOf: 0.5 },
                  id: { type: 'integer' },
                  name: { type: 'string' },
                  light: { enum: ['shade', 'sun'] },
                  care: {
                    type: 'array',
                    items: { type: 'object', properties: { least: { type: 'number', description: 'The **lowest**' } } },
                  },
                  pot: {
                    oneOf: [
                      { title: 'Clay', type: 'object', properties: { glazed: { type: 'boolean' } } },
                      { type: 'integer', minimum: 3 },
                    ],
                  },
                  labels: { type: 'object', additionalProperties: { type: 'string', maxLength: 9 } },
                },
              },
            },
          },
        },
        responses: { 200: { description: 'ok' } },
      },
    },
  },
}

/** What the reference says of a new plant of that document. */
const ownSays = [
  'id\ninteger (int64)\nrequired',
  'light\nenum\nrequired\none of shade, sun',
  'care\narray of object\nrequired\nEach item',
  'heightCm\nnumber\nexclusive minimum 0 \u00b7 multiple of 0.5',
  'pot\nClay or integer\nClay\ninteger: minimum 3',
  'labels\nobject\nEach other property: max length 9',
]

/** The path of a proxy. */
const prefix = '/garden'

/** What is done in the page to see all of it at once. */
const unfold = "for (const details of document.querySelectorAll('main details')) details.open = true"

describe('/docs', { skip: noBrowser }, () => {
  test('opens the operation that its address names, marks what is read in the contents, and copies code', async () => {
    await using watched = await open(`${store.url}/docs#deletePlant`, { viewport: { width: 1280, height: 800 } })
    const { page } = watched
    await page.locator('.contents [aria-current]').getByText('Delete a plant').waitFor()
    // At once, below the header.
    const { y } = (await page.locator('#deletePlant').boundingBox()) ?? assert.fail()
    assert.ok(Math.abs(y - 56) < 1, `at ${y} px`)
    const [text, code] = [page.locator('#deletePlant > dl').first(), page.locator('#deletePlant > .samples')]
    const [left, right] = [await text.boundingBox(), await code.boundingBox()]
    assert.ok(left && right && left.x + left.width < right.x && right.width >= 400 && right.width <= 480)
    // The code stays beside what is read.
    await page.locator('#deletePlant > .response').last().scrollIntoViewIfNeeded()
    await isInView(code)
    assert.deepEqual(await page.locator('main h2').allTextContents(), sections)
    await page.locator('.intro').getByText('Read a plant').click()
    await isInView(page.locator('#getPlant h3'))
    await page.locator('.contents').getByText('Paths and methods').click()
    await page.getByText('An unknown path gets 404').waitFor()
    await page.locator('#createPlant').getByRole('button', { name: 'Copy request: Create a plant' }).click()
    const said = page.locator('#createPlant').getByText(/Copied|Press Ctrl/)
    await said.waitFor({ state: 'attached' })
    await page.locator('.contents [aria-current]').getByText('Create a plant').waitFor()
    assert.deepEqual(watched.errors, [])
  })

  exhaustive.test('has requests that work as often as they are copied, in the language that was chosen', async () => {
    await using watched = await open(`${store.url}/docs#createPlant`)
    const { page } = watched
    const textOf = async (selector: string): Promise<string> =>
      (await page.locator(selector).first().textContent()) ?? ''
    const shell = (await textOf('.intro pre')).replace('plt_...', store.token)
    const [, created, listed = ''] = (await promisify(execFile)('sh', ['-c', shell])).stdout.split('HTTP/')
    assert.match(created ?? '', /^\S+ 200 /)
    assert.match(listed, /^\S+ 200 [\s\S]*\{"id":\d+,"name":"Monstera deliciosa","tag":"aroid"\}/)
    const article = page.locator('#createPlant')
    const [request, body] = ['#createPlant .snippets pre', '#createPlant .samples > .code pre']
    await article.getByRole('button', { name: 'JavaScript' }).click()
    const env = { ...process.env, TOKEN: store.token }
    const script = ['--input-type=module', '-e', await textOf(request)]
    const { stdout } = await promisify(execFile)(process.execPath, script, { env })
    assert.equal(stdout, '200 {"name":"Monstera deliciosa","tag":"aroid"}\n')
    await article.getByRole('button', { name: 'Python' }).click()
    assert.match(await textOf(request), /^import os\n/)
    assert.match(await textOf(body), /^\{\n {2}"id": 1,\n {2}"name": "Monstera deliciosa",\n/)
    await article.getByRole('button', { name: 'A plant without a tag' }).click()
    assert.match(await textOf(body), /^\{\n {2}"id": -7,\n/)
    // Another operation has the same language, also later; its code has no token, which it does not need.
    const health = page.locator('#getLivez')
    await page.reload()
    for (const [language, code] of [
      [undefined, /\nimport os\n/],
      ['curl', /curl -i/],
      ['JavaScript', /await fetch\(".*\/livez", \{\n {2}method: "GET"/],
    ] as const) {
      if (language !== undefined) await health.getByRole('button', { name: language }).click()
      assert.match(await health.innerText(), code)
      assert.doesNotMatch(await health.innerText(), /TOKEN/)
    }
    assert.deepEqual(watched.errors, [])
  })

  test('shows the whole document on a phone, its integers exact, with the contents in a menu', async () => {
    await using watched = await open(`${store.url}/docs#deletePlant`, { viewport: { width: 360, height: 800 } })
    const { page } = watched
    const [button, contents] = [page.getByRole('button', { name: 'Contents' }), page.locator('.contents')]
    await page.locator('#schema-Error').waitFor()
    assert.equal((await button.boundingBox())?.height, 44)
    assert.equal(await contents.isVisible(), false)
    await button.click()
    await contents.getByText('Count the plants').click()
    await contents.waitFor({ state: 'hidden' })
    await isInView(page.locator('#getSummary h3'))
    // The second ring has the whole page.
    assert.deepEqual(await findViolations(page, '#createPlant'), [])
    await page.evaluate(unfold)
    for (const { id, path, parameters, responses } of loadContract().operations) {
      const article = await page.locator(`article#${id}`).innerText()
      assert.ok(article.includes(path) && article.includes(id), id)
      for (const { name } of parameters) assert.ok(article.includes(name), `${id}: ${name}`)
      for (const status of responses.keys()) assert.match(article, new RegExp(`^${status}\\b`, 'm'), `${id}: ${status}`)
    }
    assert.match(await page.locator('#schema-NewPlant').innerText(), /\b9223372036854775807\b/)
    assert.match(await page.locator('#schema-Error').innerText(), /40901\s+idTaken\s+Another plant has this id\./)
    assert.doesNotMatch(await page.locator('body').innerText(), /undefined|\[object|null/)
    assert.equal(await page.evaluate('document.documentElement.scrollWidth'), 360)
    assert.deepEqual([watched.errors, watched.outside], [[], []])
  })

  for (const [colorScheme, width] of [
    ['light', 360],
    ['dark', 1280],
  ] as const) {
    exhaustive.test(`is accessible and not wider than its window: ${colorScheme}, ${width} px`, async () => {
      await using watched = await open(`${store.url}/docs`, { colorScheme, viewport: { width, height: 800 } })
      const { page } = watched
      await page.locator('#schema-Error').waitFor()
      await page.evaluate(unfold)
      assert.equal(await page.evaluate('document.documentElement.scrollWidth'), width)
      if (width === 360) await page.getByRole('button', { name: 'Contents' }).click()
      assert.deepEqual(await findViolations(page), [])
    })
  }

  exhaustive.test("shows a document of one's own: its Markdown, and values in values", async () => {
    await using folder = await makeFolder()
    const file = folder.file('own.json')
    await writeFile(file, JSON.stringify(ownDocument))
    await using own = await startPlantStore({ document: file })
    const options = { viewport: { width: 1280, height: 800 } }
    await using watched = await open(`${own.url}/docs`, options)
    const { page } = watched
    assert.deepEqual(await page.locator('main h2').allTextContents(), sections)
    assert.equal(await page.title(), 'Greenhouse: reference')
    const guide = page.getByRole('region', { name: 'Guide' })
    assert.deepEqual(await guide.locator('h3').allTextContents(), ['Schemas', 'Authentication', 'Authentication'])
    assert.equal(await guide.locator('li').last().innerHTML(), 'a <code>b</code> <a href="https://c.example/">c</a> x')
    assert.equal(await guide.locator('pre').innerText(), '# code\n## code')
    const ids = await page.evaluate<string[]>("[...document.querySelectorAll('[id]')].map(({ id }) => id)")
    assert.equal(new Set(ids).size, ids.length)
    const body = page.locator('#createPlant')
    const fields = (await body.locator('> dl').last().innerText()).replaceAll(/\n+/g, '\n')
    for (const text of ownSays) assert.ok(fields.includes(text), `${text} is not in:\n${fields}`)
    await page.evaluate(unfold.replace('main', '#createPlant'))
    await body.getByText('lowest').waitFor()
    assert.match(
      await body.locator('pre').first().innerText(),
      /-d '\{\n {4}"id": 1,\n {4}"name": "sample",\n {4}"light": "shade",\n {4}"care": \[\]\n {2}\}'$/,
    )
    for (const part of inRing([], ['#createPlant', '[aria-labelledby=guide]']))
      assert.deepEqual(await findViolations(page, part), [])
    assert.deepEqual(watched.errors, [])
  })

  exhaustive.test('works below a path of a proxy, and without its policy asks nobody else', async () => {
    await using proxy = await startProxy(Number(new URL(store.url).port))
    const base = proxy.url.replace('127.0.0.1', lanName) + prefix
    await using watched = await open(`${base}/docs#createPlant`, { bypassCSP: true })
    const article = watched.page.locator('article#createPlant')
    await article.waitFor()
    assert.ok((await article.innerText()).includes(`curl -i -X POST '${base}/plants'`))
    assert.deepEqual(watched.errors, [])
    assert.deepEqual(watched.outside, [])
  })
})

/** Waits until an element is in the upper half of the window. */
async function isInView(element: Locator): Promise<void> {
  const height = element.page().viewportSize()?.height ?? 0
  await until('the element is in view', async () => {
    const y = (await element.boundingBox())?.y ?? -1
    return y >= 0 && y < height / 2
  })
}

/** Serves everything of a server below the prefix, which it takes away. */
function startProxy(port: number) {
  return startAnswering((incoming, response) => {
    const { method, headers, url = '' } = incoming
    if (!url.startsWith(`${prefix}/`)) {
      response.writeHead(404).end()
      return
    }
    const path = url.slice(prefix.length)
    const forwarded = request({ port, host: '127.0.0.1', path, method, headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 500, answer.headers)
      answer.pipe(response)
    })
    incoming.pipe(forwarded)
  })
}
