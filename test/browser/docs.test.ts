// The reference at /docs, in a real browser: Scalar's page, which sends requests, and our own, where Scalar is not
// installed. Neither asks anybody but the server that it came from.

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Browser, Locator, Page } from 'playwright-core'
import { loadContract } from '../../src/contract/document.ts'
import { findViolations, launchBrowser, noBrowser, openPage } from '../support/browser.ts'
import { makeFolder } from '../support/folder.ts'
import { type RunningServer, startServer } from '../support/program.ts'
import { installAlone } from '../support/published.ts'
import { exhaustive, inRing } from '../support/ring.ts'

const largest = '9223372036854775807'

/** A name that is not loopback, so that the page is no secure context, as on a LAN without TLS. */
const lanName = 'plants.lan'
const prefix = '/garden'

/** What is done in the page to see all of it at once. */
const unfold = "for (const details of document.querySelectorAll('main details')) details.open = true"

describe('/docs', { skip: noBrowser }, () => {
  const stack = new AsyncDisposableStack()
  let browser: Browser
  /** A checkout, where Scalar is installed. */
  let server: RunningServer
  /** The package by itself, where it is not. */
  let alone: RunningServer

  before(async () => {
    browser = await launchBrowser([`--host-resolver-rules=MAP ${lanName} 127.0.0.1`])
    stack.defer(() => browser.close())
    const folder = stack.use(await makeFolder())
    const program = stack.use(await installAlone())
    server = stack.use(await startServer(folder.file('plants.db')))
    alone = stack.use(await startServer(folder.file('alone.db'), { launcher: program.file('bin/plantstore.js') }))
  })

  after(() => stack.disposeAsync())

  exhaustive.test(
    'with Scalar sends requests to the server it came from, over plain HTTP on any host name',
    async () => {
      await using watched = await openPage(browser, `http://${lanName}:${server.port}/docs#createPlant`)
      const { page } = watched
      await sectionOf(page, 'createPlant').getByText('Examples').first().locator('..').hover()
      await page.getByText(largest, { exact: true }).first().waitFor()
      await tryOut(page, server, { id: largest, name: 'Ficus lyrata' })
      assert.deepEqual(watched.errors, [])
      assert.deepEqual(watched.outside, [])
    },
  )

  exhaustive.test(
    'with Scalar works below a path of a proxy, and without its policy asks nobody else either',
    async () => {
      await using proxy = await startProxy(server)
      const url = `http://${lanName}:${proxy.port}${prefix}/docs#createPlant`
      await using watched = await openPage(browser, url, { bypassCSP: true })
      // As the home page leaves it for this tab.
      await watched.page.evaluate(`sessionStorage.setItem('plantstore-token', '${server.token}')`)
      await watched.page.reload()
      await tryOut(watched.page, server, { id: '-9223372036854775808', name: 'Ficus elastica' }, true)
      assert.match((await watched.page.getByRole('link', { name: 'Plant Store' }).getAttribute('href')) ?? '', /^\.\/$/)
      assert.deepEqual(watched.errors, [])
      assert.deepEqual(watched.outside, [])
    },
  )

  exhaustive.test('opens the operation that its address names, with Scalar and without', async () => {
    for (const { url } of [server, alone]) {
      for (const [name, summary] of [
        ['deletePlant', 'Delete a plant'],
        ['getReadyz', 'Is the service ready for requests?'],
      ]) {
        await using watched = await openPage(browser, `${url}/docs#${name}`)
        const heading = watched.page.getByRole('heading', { name: summary ?? '' }).first()
        await heading.waitFor()
        await isInView(heading)
        assert.deepEqual(watched.errors, [])
      }
    }
  })

  test('without Scalar shows the whole document, its integers exact, and says how to get Scalar', async () => {
    await using watched = await openPage(browser, `${alone.url}/docs`)
    await watched.page.locator('#schema-Error').waitFor()
    await watched.page.evaluate(unfold)
    const text = await watched.page.locator('body').innerText()
    const { operations } = loadContract()
    for (const { id, path, parameters, responses } of operations) {
      const article = await watched.page.locator(`article#${id}`).innerText()
      assert.ok(article.includes(path) && article.includes(id), id)
      for (const { name } of parameters) assert.ok(article.includes(name), `${id}: ${name}`)
      for (const status of responses.keys()) assert.match(article, new RegExp(`^${status} `, 'm'), `${id}: ${status}`)
    }
    assert.match(await watched.page.locator('#schema-NewPlant').innerText(), new RegExp(`\\b${largest}\\b`))
    assert.match(
      await watched.page.locator('#schema-Error').innerText(),
      /40901\s+idTaken\s+Another plant has this id\./,
    )
    const { devDependencies } = JSON.parse(await readFile(new URL('../../package.json', import.meta.url), 'utf8'))
    const name = '@scalar/fastify-api-reference'
    assert.ok(text.includes(`npm install ${name}@${devDependencies[name]}`))
    assert.doesNotMatch(text, /undefined|\[object|null/)
    assert.deepEqual(watched.errors, [])
    assert.deepEqual(watched.outside, [])
  })

  exhaustive.test('without Scalar works below a path of a proxy', async () => {
    await using proxy = await startProxy(alone)
    const base = `http://127.0.0.1:${proxy.port}${prefix}`
    await using watched = await openPage(browser, `${base}/docs#createPlant`)
    const article = watched.page.locator('article#createPlant')
    await article.waitFor()
    assert.ok((await article.innerText()).includes(`curl -i -X POST '${base}/plants'`))
    assert.deepEqual(watched.errors, [])
  })

  for (const colorScheme of inRing(['light'] as const, ['light', 'dark'] as const)) {
    for (const width of inRing([360], [360, 1280])) {
      test(`without Scalar is accessible and not wider than its window: ${colorScheme}, ${width} px`, async () => {
        const options = { colorScheme, viewport: { width, height: 800 }, bypassCSP: true }
        await using watched = await openPage(browser, `${alone.url}/docs`, options)
        const { page } = watched
        await page.locator('#schema-Error').waitFor()
        await page.evaluate(unfold)
        assert.equal(await page.evaluate('document.documentElement.scrollWidth'), width)
        assert.deepEqual(await findViolations(page), [])
      })
    }
  }

  exhaustive.test('without Scalar says so when the document does not come', async () => {
    const context = await browser.newContext()
    stack.defer(() => context.close())
    await context.route('**/openapi.json', (route) => route.fulfill({ status: 503 }))
    const page = await context.newPage()
    await page.goto(`${alone.url}/docs`)
    assert.match(await page.getByRole('alert').innerText(), /could not be read: the server answered 503/)
  })
})

/** Creates a plant by "Test Request", with a token that is pasted, and reads it by its path. */
async function tryOut(
  page: Page,
  server: RunningServer,
  { id, name }: { id: string; name: string },
  hasToken = false,
): Promise<void> {
  const dialog = page.getByRole('dialog')
  const response = dialog.getByRole('region', { name: /^Response/ })
  await openClient(page, 'createPlant')
  if (!hasToken) await dialog.getByPlaceholder('Token').fill(server.token)
  // These would round the id. That they are there, unseen, says that Scalar still names them so.
  for (const hasText of [/^Form$/, /^Code Snippet/]) {
    const rounding = dialog.locator('button', { hasText })
    await rounding.waitFor({ state: 'attached' })
    assert.equal(await rounding.isVisible(), false, String(hasText))
  }
  assert.ok(await dialog.getByRole('button', { name: 'Generate example from schema' }).isVisible())
  await dialog.locator('.cm-content', { hasText: 'Monstera' }).last().click()
  await page.keyboard.press('Control+a')
  await page.keyboard.insertText(`{"id": ${id}, "name": "${name}"}`)
  const creating = page.waitForRequest((each) => each.method() === 'POST')
  await dialog.getByRole('button', { name: /^Send/ }).first().click()
  const created = await creating
  assert.equal(created.postData(), `{"id": ${id}, "name": "${name}"}`)
  assert.equal(created.url(), page.url().replace(/docs#.*/, 'plants'))
  assert.equal((await created.response())?.status(), 200)
  const kept = await fetch(`${server.url}/plants/${id}`, { headers: { Authorization: `Bearer ${server.token}` } })
  assert.equal(await kept.text(), `{"id":${id},"name":"${name}"}`)
  await dialog.getByRole('button', { name: 'Close Client' }).click()

  await openClient(page, 'getPlant')
  await dialog.getByRole('combobox', { name: 'Value' }).first().fill(id)
  const reading = page.waitForRequest((each) => each.url().includes('/plants/'))
  await dialog.getByRole('button', { name: /^Send/ }).first().click()
  const read = await reading
  assert.equal(read.url(), page.url().replace(/docs#.*/, `plants/${id}`))
  assert.equal((await read.response())?.status(), 200)
  await response.getByText(id, { exact: true }).first().waitFor()
}

/** Opens the operation by its link, and the client for it. */
async function openClient(page: Page, operationId: string): Promise<void> {
  await page.evaluate(`location.hash = '${operationId}'`)
  await sectionOf(page, operationId)
    .getByRole('button', { name: /Test Request/ })
    .click()
}

/** What Scalar shows of an operation. */
function sectionOf(page: Page, operationId: string): Locator {
  return page.locator(`[id$="tag/plants/${operationId}"]`).first()
}

/** Waits until an element is in the upper half of the window. */
async function isInView(element: Locator): Promise<void> {
  const height = element.page().viewportSize()?.height ?? 0
  const isThere = async () => {
    const y = (await element.boundingBox())?.y ?? -1
    return y >= 0 && y < height / 2
  }
  while (!(await isThere())) await sleep(50)
}

interface Proxy extends AsyncDisposable {
  readonly port: number
}

/** Serves everything of a server below the prefix, which it takes away. */
async function startProxy(server: RunningServer): Promise<Proxy> {
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
