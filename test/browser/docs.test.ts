// The reference at /docs, in a real browser. It sends requests only to its server.

import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, describe, test } from 'node:test'
import { promisify } from 'node:util'
import type { Browser, Locator } from 'playwright-core'
import { loadContract } from '../../src/contract/contract.ts'
import { startPlantStore } from '../../src/embed/start.ts'
import { findViolations, launchBrowser, noBrowser, openPage } from '../support/browser.ts'
import { makeFolder } from '../support/folder.ts'
import { exhaustive, inRing } from '../support/ring.ts'
import { type Served, serveHere } from '../support/service.ts'
import { until } from '../support/time.ts'

const largest = '9223372036854775807'

/** A name that is not loopback, so that the page is no secure context, as on a LAN without TLS. */
const lanName = 'plants.lan'
const prefix = '/garden'

const sections = ['Get started', 'Plants', 'Service', 'Webhooks', 'Guide', 'Schemas']

/** A user's document, and what the reference says of a new plant. */
const own = {
  openapi: '3.1.0',
  info: {
    title: 'Greenhouse',
    version: '1',
    description:
      'About **plants**.\n\n## Schemas\n```\n# code\n```\n## Authentication\n1. one\n\n## Authentication\nText:\n- a `b` ' +
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
  says: [
    'id\ninteger (int64)\nrequired',
    'light\nenum\nrequired\none of shade, sun',
    'care\narray of object\nrequired\nEach item',
    'heightCm\nnumber\nexclusive minimum 0 \u00b7 multiple of 0.5',
    'pot\nClay or integer\nClay\ninteger: minimum 3',
    'labels\nobject\nEach other property: max length 9',
  ],
}

/** What is done in the page to see all of it at once. */
const unfold = "for (const details of document.querySelectorAll('main details')) details.open = true"

describe('/docs', { skip: noBrowser }, () => {
  const stack = new AsyncDisposableStack()
  let browser: Browser
  let server: Served

  before(async () => {
    browser = await launchBrowser(lanName)
    stack.defer(() => browser.close())
    const folder = stack.use(await makeFolder())
    server = stack.use(await serveHere(folder.file('plants.db')))
  })

  after(() => stack.disposeAsync())

  exhaustive.test('opens the operation that its address names', async () => {
    for (const [name, summary] of [
      ['deletePlant', 'Delete a plant'],
      ['getReadyz', 'Is the service ready for requests?'],
    ]) {
      await using watched = await openPage(browser, `${server.url}/docs#${name}`)
      const heading = watched.page.getByRole('heading', { name: summary ?? '' }).first()
      await heading.waitFor()
      await isInView(heading)
      assert.deepEqual(watched.errors, [])
    }
  })

  test('marks what is read in the contents, and copies code', async () => {
    await using watched = await openPage(browser, `${server.url}/docs#deletePlant`)
    const { page } = watched
    await page.locator('.contents [aria-current]').getByText('Delete a plant').waitFor()
    await page.locator('#createPlant').getByRole('button', { name: 'Copy request: Create a plant' }).click()
    await page
      .locator('#createPlant')
      .getByText(/Copied|Press Ctrl/)
      .waitFor({ state: 'attached' })
    await page.locator('.contents [aria-current]').getByText('Create a plant').waitFor()
    assert.deepEqual(watched.errors, [])
  })

  test('keeps the language chosen for the requests, and shows one example of several', async () => {
    await using watched = await openPage(browser, `${server.url}/docs#createPlant`)
    const article = watched.page.locator('#createPlant')
    const [request, body] = [article.locator('.snippets pre'), article.locator('.samples > .code pre').first()]
    await article.getByRole('button', { name: 'JavaScript' }).click()
    const script = (await request.textContent()) ?? ''
    const env = { ...process.env, TOKEN: server.token }
    const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', script], { env })
    assert.equal(stdout, '200 {"name":"Monstera deliciosa","tag":"aroid"}\n')
    await article.getByRole('button', { name: 'Python' }).click()
    assert.match((await request.textContent()) ?? '', /^import os\n/)
    assert.match((await body.textContent()) ?? '', /^\{\n {2}"id": 1,\n {2}"name": "Monstera deliciosa",\n/)
    await article.getByRole('button', { name: 'A plant without a tag' }).click()
    assert.match((await body.textContent()) ?? '', /^\{\n {2}"id": -7,\n/)
    const health = watched.page.locator('#getLivez')
    assert.match(await health.innerText(), /\nimport os\n/)
    assert.doesNotMatch(await health.innerText(), /TOKEN/)
    await watched.page.reload()
    assert.match(await health.innerText(), /\nimport os\n/)
    await health.getByRole('button', { name: 'curl' }).click()
    assert.doesNotMatch(await health.innerText(), /TOKEN/)
    await health.getByRole('button', { name: 'JavaScript' }).click()
    assert.match(await health.innerText(), /await fetch\(".*\/livez", \{\n {2}method: "GET"/)
    assert.doesNotMatch(await health.innerText(), /TOKEN/)
    assert.deepEqual(watched.errors, [])
  })

  test('has the code beside the text, and the policies after the operations', async () => {
    const options = { viewport: { width: 1280, height: 800 } }
    await using watched = await openPage(browser, `${server.url}/docs#deletePlant`, options)
    const { page } = watched
    const [text, code] = [page.locator('#deletePlant > dl').first(), page.locator('#deletePlant > .samples')]
    const [left, right] = [await text.boundingBox(), await code.boundingBox()]
    assert.ok(left && right && left.x + left.width < right.x && right.width >= 400 && right.width <= 480)
    await page.locator('#deletePlant > .response').last().scrollIntoViewIfNeeded()
    await isInView(code)
    const titles = await page.locator('main h2').allTextContents()
    assert.deepEqual(titles, sections)
    await page.locator('.contents').getByText('Paths and methods').click()
    await page.getByText('An unknown path gets 404').waitFor()
    assert.deepEqual(watched.errors, [])
  })

  test('finds what contains a word, and goes there', async () => {
    await using watched = await openPage(browser, `${server.url}/docs`)
    const { page } = watched
    await page.locator('.contents').getByText('Count the plants').waitFor()
    await page.keyboard.press('/')
    await page.keyboard.type('idempotency-replayed')
    const found = page.locator('.contents :is(h2, a):visible')
    assert.deepEqual(await found.allInnerTexts(), ['Plants', 'Create a plant\nPOST'])
    await page.keyboard.press('Enter')
    await isInView(page.locator('#createPlant h3'))
    await page.keyboard.press('/')
    await page.keyboard.press('Control+A')
    await page.keyboard.type('none of these words')
    assert.deepEqual(await found.allInnerTexts(), [])
    assert.deepEqual(watched.errors, [])
  })

  test('has a quick start that works as often as it is copied', async () => {
    await using watched = await openPage(browser, `${server.url}/docs`)
    const code = (await watched.page.locator('.intro pre').textContent()) ?? ''
    const { stdout } = await promisify(execFile)('sh', ['-c', code.replace('plt_...', server.token)])
    const [, created, listed = ''] = stdout.split('HTTP/')
    assert.match(created ?? '', /^\S+ 200 /)
    assert.match(listed, /^\S+ 200 [\s\S]*\{"id":\d+,"name":"Monstera deliciosa","tag":"aroid"\}/)
  })

  test("shows a document of one's own: its Markdown, and values in values", async () => {
    await using folder = await makeFolder()
    const file = folder.file('own.json')
    await writeFile(file, JSON.stringify(own))
    await using store = await startPlantStore({ document: file })
    const options = { viewport: { width: 1280, height: 800 }, bypassCSP: true }
    await using watched = await openPage(browser, `${store.url}/docs`, options)
    const { page } = watched
    assert.deepEqual(await page.locator('main h2').allTextContents(), sections)
    assert.equal(await page.title(), 'Greenhouse: reference')
    const guide = page.getByRole('region', { name: 'Guide' })
    assert.deepEqual(await guide.locator('h3').allTextContents(), ['Schemas', 'Authentication', 'Authentication'])
    assert.equal(await guide.locator('li').last().innerHTML(), 'a <code>b</code> <a href="https://c.example/">c</a> x')
    assert.equal(await guide.locator('pre').innerText(), '# code')
    const ids = await page.evaluate<string[]>("[...document.querySelectorAll('[id]')].map(({ id }) => id)")
    assert.equal(new Set(ids).size, ids.length)
    const body = page.locator('#createPlant')
    const fields = (await body.locator('> dl').last().innerText()).replaceAll(/\n+/g, '\n')
    for (const text of own.says) assert.ok(fields.includes(text), `${text} is not in:\n${fields}`)
    await page.evaluate(unfold.replace('main', '#createPlant'))
    await body.getByText('lowest').waitFor()
    assert.match(
      await body.locator('pre').first().innerText(),
      /-d '\{\n {4}"id": 1,\n {4}"name": "sample",\n {4}"light": "shade",\n {4}"care": \[\]\n {2}\}'$/,
    )
    assert.deepEqual(await findViolations(page), [])
    assert.deepEqual(watched.errors, [])
  })

  test('has the contents in a menu on a phone', async () => {
    const options = { viewport: { width: 390, height: 844 }, bypassCSP: true }
    await using watched = await openPage(browser, `${server.url}/docs#deletePlant`, options)
    const { page } = watched
    const [button, contents] = [page.getByRole('button', { name: 'Contents' }), page.locator('.contents')]
    await page.locator('#deletePlant').waitFor()
    assert.equal((await button.boundingBox())?.height, 44)
    assert.equal(await contents.isVisible(), false)
    await button.click()
    assert.deepEqual(await findViolations(page), [])
    await contents.getByText('Count the plants').click()
    await contents.waitFor({ state: 'hidden' })
    await isInView(page.locator('#getSummary h3'))
    assert.deepEqual(watched.errors, [])
  })

  test('shows the whole document, its integers exact', async () => {
    await using watched = await openPage(browser, `${server.url}/docs`)
    await watched.page.locator('#schema-Error').waitFor()
    await watched.page.evaluate(unfold)
    const text = await watched.page.locator('body').innerText()
    const { operations } = loadContract()
    for (const { id, path, parameters, responses } of operations) {
      const article = await watched.page.locator(`article#${id}`).innerText()
      assert.ok(article.includes(path) && article.includes(id), id)
      for (const { name } of parameters) assert.ok(article.includes(name), `${id}: ${name}`)
      for (const status of responses.keys()) assert.match(article, new RegExp(`^${status}$`, 'm'), `${id}: ${status}`)
    }
    assert.match(await watched.page.locator('#schema-NewPlant').innerText(), new RegExp(`\\b${largest}\\b`))
    assert.match(
      await watched.page.locator('#schema-Error').innerText(),
      /40901\s+idTaken\s+Another plant has this id\./,
    )
    assert.doesNotMatch(text, /undefined|\[object|null/)
    assert.deepEqual(watched.errors, [])
    assert.deepEqual(watched.outside, [])
  })

  exhaustive.test('works below a path of a proxy, and without its policy asks nobody else', async () => {
    await using proxy = await startProxy(server)
    const base = `http://${lanName}:${proxy.port}${prefix}`
    await using watched = await openPage(browser, `${base}/docs#createPlant`, { bypassCSP: true })
    const article = watched.page.locator('article#createPlant')
    await article.waitFor()
    assert.ok((await article.innerText()).includes(`curl -i -X POST '${base}/plants'`))
    assert.deepEqual(watched.errors, [])
    assert.deepEqual(watched.outside, [])
  })

  for (const colorScheme of inRing(['light'] as const, ['light', 'dark'] as const)) {
    for (const width of inRing([360], [360, 1280])) {
      test(`is accessible and not wider than its window: ${colorScheme}, ${width} px`, async () => {
        const options = { colorScheme, viewport: { width, height: 800 }, bypassCSP: true }
        await using watched = await openPage(browser, `${server.url}/docs`, options)
        const { page } = watched
        await page.locator('#schema-Error').waitFor()
        await page.evaluate(unfold)
        assert.equal(await page.evaluate('document.documentElement.scrollWidth'), width)
        assert.deepEqual(await findViolations(page), [])
      })
    }
  }

  exhaustive.test('says so when the document does not come', async () => {
    const context = await browser.newContext()
    stack.defer(() => context.close())
    await context.route('**/openapi.json', (route) => route.fulfill({ status: 503 }))
    const page = await context.newPage()
    await page.goto(`${server.url}/docs`)
    assert.match(await page.getByRole('alert').innerText(), /could not be read: the server answered 503/)
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

interface Proxy extends AsyncDisposable {
  readonly port: number
}

/** Serves everything of a server below the prefix, which it takes away. */
async function startProxy(server: Served): Promise<Proxy> {
  const proxy = createServer((incoming, response) => {
    const { method, headers, url = '' } = incoming
    if (!url.startsWith(`${prefix}/`)) {
      response.writeHead(404).end()
      return
    }
    const target = { port: server.port, host: '127.0.0.1', path: url.slice(prefix.length), method, headers }
    const forwarded = request(target, (answer) => {
      response.writeHead(answer.statusCode ?? 500, answer.headers)
      answer.pipe(response)
    })
    incoming.pipe(forwarded)
  })
  proxy.listen(0, '127.0.0.1')
  await once(proxy, 'listening')
  return {
    port: (proxy.address() as AddressInfo).port,
    [Symbol.asyncDispose]: async () => {
      proxy.closeAllConnections()
      proxy.close()
    },
  }
}
