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

/** Of Playwright's own list what matters here, and two popups of which each window would load the pages. */
const disabledFeatures = [
  ...['AvoidCorsURLLoaderRestartOnRedirect', 'DestroyProfileOnBrowserClose', 'HttpsUpgrades', 'MediaRouter'],
  ...['NetworkTimeServiceQuerying', 'OptimizationHints', 'PaintHolding', 'PreconnectToSearch'],
  ...['SpareRendererForSitePerProcess', 'WebUIOmniboxAimPopup', 'WebUIOmniboxPopup'],
]

/**
 * Launches a browser that reaches this machine alone.
 * @param name another name of this machine.
 */
export function launchBrowser(name = 'localhost'): Promise<Browser> {
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
      `--host-resolver-rules=MAP ${name} 127.0.0.1, MAP * ~NOTFOUND, EXCLUDE 127.0.0.1`,
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

/** Opens a page and notes what goes wrong. */
export async function openPage(browser: Browser, url: string, options?: BrowserContextOptions): Promise<WatchedPage> {
  const context = await browser.newContext(options)
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
