// A real browser, driven by playwright-core.

import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { type Browser, type BrowserContext, type BrowserContextOptions, chromium, type Page } from 'playwright-core'
import { inRing } from './ring.ts'

const browsers = [
  // The same engine without what a window needs, for two thirds of the CPU time. Nightly, it is the whole browser.
  ...inRing(['/usr/bin/chromium-headless-shell'], ['/usr/bin/chromium-headless-shell'], []),
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

/** What takes longer than this on any machine does not come any more. */
const patienceMs = 60_000

/** A name that is not loopback, so that its pages are no secure contexts, as on a LAN without TLS. */
export const lanName = 'plants.lan'

/** Of Playwright's own list what matters here, and two popups of which each window would load the pages. */
const disabledFeatures = [
  ...['AvoidCorsURLLoaderRestartOnRedirect', 'DestroyProfileOnBrowserClose', 'HttpsUpgrades', 'MediaRouter'],
  ...['NetworkTimeServiceQuerying', 'OptimizationHints', 'PaintHolding', 'PreconnectToSearch'],
  ...['SpareRendererForSitePerProcess', 'WebUIOmniboxAimPopup', 'WebUIOmniboxPopup'],
]

/** Launches a browser that reaches this machine alone. */
export function launchBrowser(): Promise<Browser> {
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
      `--disable-features=${disabledFeatures}`,
      `--host-resolver-rules=MAP ${lanName} 127.0.0.1, MAP * ~NOTFOUND, EXCLUDE 127.0.0.1`,
    ],
  })
}

export interface WatchedPage extends AsyncDisposable {
  readonly page: Page
  readonly context: BrowserContext
  /** Requests to other origins. */
  readonly outside: readonly string[]
  /** Errors of the console, failed scripts included. */
  readonly errors: readonly string[]
}

/** Opens a page and notes what goes wrong. Each frame costs time: in the first ring, nothing moves. */
export async function openPage(browser: Browser, url: string, options?: BrowserContextOptions): Promise<WatchedPage> {
  const context = await browser.newContext({ reducedMotion: inRing('reduce', 'no-preference'), ...options })
  const { origin } = new URL(url)
  const outside: string[] = []
  const errors: string[] = []
  context.on('request', (request) => {
    const isOwn = request.url().startsWith(`${origin}/`) || /^(about|blob|data):/.test(request.url())
    if (!isOwn) outside.push(request.url())
  })
  const page = await context.newPage()
  page.setDefaultTimeout(patienceMs)
  page.on('console', (message) => {
    if (message.type() === 'error') errors.push(message.text())
  })
  page.on('pageerror', (error) => errors.push(String(error)))
  await page.goto(url)
  return { page, context, outside, errors, [Symbol.asyncDispose]: () => context.close() }
}

/** What axe-core finds wrong with a page as it is now, or with the part of it that a selector names. */
export async function findViolations(page: Page, part = ':root'): Promise<string[]> {
  if (!(await page.evaluate<boolean>("'axe' in globalThis"))) await page.evaluate(await readFile(axePath, 'utf8'))
  return page.evaluate(async (selector) => {
    const { axe } = globalThis as unknown as {
      axe: {
        run(part: string, options: object): Promise<{ violations: { id: string; nodes: { html: string }[] }[] }>
      }
    }
    const { violations } = await axe.run(selector, { resultTypes: ['violations'], preload: false })
    return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' ')}`)
  }, part)
}
