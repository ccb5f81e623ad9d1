// A real browser for tests of pages, and what it asked of anybody but the server.

import { existsSync } from 'node:fs'
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core'

const browsers = [
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
]
const executablePath = process.env['CHROMIUM'] ?? browsers.find((path) => existsSync(path))

/** Why tests with a browser are skipped, if they are. */
export const noBrowser = executablePath === undefined && 'there is no Chromium here; name one with CHROMIUM'

/** A browser takes its time to start on a busy machine. */
const patienceMs = 300_000

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
    ],
  })
}

export interface WatchedPage {
  readonly page: Page
  /** Addresses outside the server's origin that were asked for; the requests were cut off. */
  readonly outside: readonly string[]
  /** Errors of the console and of scripts. */
  readonly errors: readonly string[]
}

/** Opens a page that gets nothing from elsewhere. */
export async function openPage(
  browser: Browser,
  origin: string,
  options: BrowserContextOptions = {},
): Promise<WatchedPage> {
  const context = await browser.newContext(options)
  const outside: string[] = []
  const errors: string[] = []
  await context.route(
    (url) => url.origin !== origin && url.protocol !== 'data:',
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
  return { page, outside, errors }
}
