// A real browser, driven by playwright-core.

import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { type Browser, type BrowserContext, type BrowserContextOptions, chromium, type Page } from 'playwright-core'

const browsers = [
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
]

const axePath = fileURLToPath(import.meta.resolve('axe-core/axe.min.js'))

/** Undefined where there is none. */
const executablePath = process.env['CHROMIUM'] ?? browsers.find((path) => existsSync(path))

/** Why a test with a browser is skipped, or false. */
export const noBrowser = executablePath === undefined && 'there is no Chromium here; name one with CHROMIUM'

/** A browser takes its time to start on a busy machine. */
export const patienceMs = 300_000

/** @param args flags in addition. */
export function launchBrowser(args: readonly string[] = []): Promise<Browser> {
  return chromium.launch({
    executablePath: executablePath ?? '',
    timeout: patienceMs,
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
      ...args,
    ],
  })
}

export interface WatchedPage extends AsyncDisposable {
  readonly page: Page
  readonly context: BrowserContext
  /** Requests to other origins, none of which got out. */
  readonly outside: readonly string[]
  /** Errors of the console, failed scripts included. */
  readonly errors: readonly string[]
}

/** Opens a page from which no request gets to another origin than that of the URL, and notes what goes wrong. */
export async function openPage(browser: Browser, url: string, options?: BrowserContextOptions): Promise<WatchedPage> {
  const context = await browser.newContext(options)
  const outside: string[] = []
  const errors: string[] = []
  await context.route(
    (target) => target.origin !== new URL(url).origin,
    (route) => {
      outside.push(route.request().url())
      return route.abort()
    },
  )
  const page = await context.newPage()
  page.setDefaultTimeout(patienceMs)
  page.on('console', (message) => {
    if (message.type() === 'error') errors.push(message.text())
  })
  page.on('pageerror', (error) => errors.push(String(error)))
  await page.goto(url)
  return { page, context, outside, errors, [Symbol.asyncDispose]: () => context.close() }
}

/** What axe-core finds wrong with a page as it is now; the page's context has to bypass its policy. */
export async function findViolations(page: Page): Promise<string[]> {
  if (!(await page.evaluate<boolean>("'axe' in globalThis"))) await page.addScriptTag({ path: axePath })
  return page.evaluate(async () => {
    const { axe } = globalThis as unknown as {
      axe: { run(): Promise<{ violations: { id: string; nodes: { html: string }[] }[] }> }
    }
    const { violations } = await axe.run()
    return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' ')}`)
  })
}
