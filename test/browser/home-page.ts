// The actions of a user on the home page, and the elements that it shows.

import assert from 'node:assert/strict'
import type { Page } from 'playwright-core'
import { findViolations, type WatchedPage } from '../support/browser.ts'
import { inRing } from '../support/ring.ts'
import { until } from '../support/time.ts'

/** The console tells of refusals that are asked for, too, of a network that is switched off and a stream that is cut. */
const isRefusal = (error: string): boolean =>
  /status of (401|409|410|412|413|404|400)|net::ERR_(INTERNET_DISCONNECTED|INCOMPLETE_CHUNKED_ENCODING)/.test(error)

/** Nothing was asked of others, and nothing went wrong but what the server refused. */
export function assertQuiet({ outside, errors }: WatchedPage): void {
  assert.deepEqual([outside, errors.filter((error) => !isRefusal(error))], [[], []])
}

export async function enter(page: Page, token: string): Promise<void> {
  await page.getByLabel('Access token').fill(token)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.locator('#account').waitFor()
}

/** Keeps changes of others from the page, as a slow network does. Called before a token is entered. */
export async function holdChanges(page: Page): Promise<void> {
  await page.route(/\/changes\?/, () => {})
}

/** Holds the timers of a page that are set for so many milliseconds, until it calls `releaseTimers()`. */
export async function holdTimers(page: Page, ms: number): Promise<void> {
  await page.evaluate(`{
    const { setTimeout } = window
    const held = []
    window.setTimeout = (run, ms) => (ms === ${ms} ? held.push(run) : setTimeout(run, ms))
    window.releaseTimers = () => { for (const run of held.splice(0)) run() }
  }`)
}

export async function create(page: Page, id: string, name: string, tag: string): Promise<void> {
  if (!(await page.locator('#creating').isVisible())) await page.locator('#new').click()
  await unfoldId(page)
  await page.locator('#id').focus()
  await page.locator('#id').fill(id)
  await page.locator('#name').fill(name)
  await page.locator('#tag').fill(tag)
  const button = page.getByRole('button', { name: 'Create', exact: true })
  await button.click()
  // An empty name is asked for twice.
  if (name === '') await button.click()
}

/** Shows the field of the id, which is folded away. */
export async function unfoldId(page: Page): Promise<void> {
  if (!(await page.locator('#id').isVisible())) await page.locator('#own-id summary').click()
}

/** Opens the dialog that adds many plants: an empty store, once it is known to be empty, has a button of its own. */
export async function openMany(page: Page): Promise<void> {
  await page.locator('#live[data-state="live"]').waitFor()
  await page.locator('#more summary:visible, #welcome-many:visible').waitFor()
  const menu = page.locator('#more summary')
  if (await menu.isVisible()) await menu.click()
  await page.locator('#add-many:visible, #welcome-many:visible').click()
}

/** Presses the button that adds the rows of the dialog. */
export async function addMany(page: Page, name: string | RegExp = /^Add /): Promise<void> {
  await page.getByRole('dialog').getByRole('button', { name }).click()
}

export async function signOut(page: Page): Promise<void> {
  await page.locator('#account summary').click()
  await page.getByRole('button', { name: 'Sign out' }).click()
}

/** Opens the form of plant 1 by a button, and waits until the page has read the plant once more. */
export async function openForm(page: Page, selector = '[aria-label="Edit plant 1"]'): Promise<void> {
  const read = page.waitForResponse('**/plants/1')
  await page.locator(selector).click()
  await (await read).finished()
}

/** Changes the name of a plant in the dialog that its button opens. */
export async function rename(page: Page, id: string, name: string): Promise<void> {
  await page.getByRole('button', { name: `Edit plant ${id}`, exact: true }).click()
  await page.getByRole('dialog').getByLabel('Name').fill(name)
  await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click()
}

/** Filters by a tag that need not be among the chips. */
export async function filterByTag(page: Page, tag: string): Promise<void> {
  if (!(await page.locator('#tag-filter').isVisible())) await page.locator('#more-tags summary').click()
  await page.locator('#tag-filter').fill(tag)
}

export async function remove(page: Page, id: string): Promise<void> {
  await page.getByRole('button', { name: `Delete plant ${id}`, exact: true }).click()
}

export const noNameMatches = (name: string, plant = 'No plant'): string =>
  `${plant} begins with "${name}".\nThe search matches the beginning of a name, or an id.`

export const says = (page: Page, text: string): Promise<void> => page.getByRole('status').getByText(text).waitFor()

/** Waits for the sentence about an action, whatever the name of its plant. */
const done = (page: Page, sentence: RegExp): Promise<void> => page.locator('#changed').getByText(sentence).waitFor()

export const created = (page: Page, id: number | string | bigint): Promise<void> =>
  done(page, new RegExp(`^\\s*Created ".*" with the id ${id}\\.`, 's'))

export const saved = (page: Page): Promise<void> => done(page, /^\s*Saved ".*"\.\s*$/s)

export const textOf = async (page: Page, selector: string): Promise<string> =>
  (await page.locator(selector).textContent()) ?? ''

/** What a page says after a request, it says within this time on any machine. */
const readMsMax = 30_000

export const hasFocus = (page: Page, selector: string): Promise<void> => page.locator(`${selector}:focus`).waitFor()

/** Waits until an element has a text and no other; fails with what the page says and where its focus is. */
export async function reads(page: Page, selector: string, text: string): Promise<void> {
  const element = page.locator(selector)
  try {
    await element.getByText(text, { exact: true }).waitFor({ timeout: readMsMax })
  } catch (cause) {
    const seen = JSON.stringify(await element.allTextContents())
    const state = await page.evaluate<string>(`[...document.querySelectorAll('input, textarea, .error, :focus')]
      .map((each) => [each.tagName, each.id, each.value ?? each.textContent, each.matches(':focus') ? 'focus' : ''])
      .filter(([, , text, focus]) => text + focus !== '').join('; ')`)
    throw new Error(`${selector} reads ${seen}, not ${JSON.stringify(text)}; the page has ${state}`, { cause })
  }
}

/** Waits until an element has a text, be it seen or not. */
export const hasText = (page: Page, selector: string, text: string): Promise<void> =>
  until(`${selector} is ${JSON.stringify(text)}`, async () => (await textOf(page, selector)) === text)

export interface Box {
  readonly top: number
  readonly bottom: number
  readonly left: number
  readonly height: number
}

/** Where an element is in the window. */
export async function boxOf(page: Page, selector: string): Promise<Box> {
  type Placed = { getBoundingClientRect(): { toJSON(): Box } }
  const first = page.locator(selector).first()
  return first.evaluate((element) => (element as unknown as Placed).getBoundingClientRect().toJSON())
}

/** A property of an element as the browser computes it. */
export const styleOf = (page: Page, selector: string, property: string): Promise<string> =>
  page.evaluate<string>(`getComputedStyle(document.querySelector('${selector}')).getPropertyValue('${property}')`)

export async function assertInWindow(page: Page, selector: string): Promise<void> {
  const { top, bottom, height } = await boxOf(page, selector)
  const window = await page.evaluate<number>('innerHeight')
  assert.ok(height > 0 && top >= 0 && bottom <= window, `${selector} is at ${top} to ${bottom} of ${window}`)
}

const looks = [360, 1280].flatMap((width) => [
  { width, colorScheme: 'light' } as const,
  { width, colorScheme: 'dark' } as const,
])
let states = 0

/**
 * At both ends of the widths and in both colours, and no wider than its window. Only nightly in all four looks: the
 * second ring sees each state in one of them by turns, and the first ring every other state.
 */
export async function assertAccessible(page: Page, state: string): Promise<void> {
  states += 1
  const turn = Math.floor(states / 2) % looks.length
  for (const look of looks.filter((_, at) => inRing(at === turn && states % 2 === 0, at === turn, true))) {
    const { width, colorScheme } = look
    // Of a transition, axe would see the middle.
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
    await page.setViewportSize({ width, height: 800 })
    const where = `${state}, ${colorScheme}, ${width} px`
    assert.deepEqual(await findViolations(page), [], where)
    const overflow = await page.evaluate<number>('document.documentElement.scrollWidth - innerWidth')
    assert.ok(overflow <= 0, `${where}: ${overflow} px wider than the window`)
  }
  // A narrow one has fewer buttons.
  await page.setViewportSize({ width: 1_280, height: 800 })
}

/**
 * A function of the page: the letters of an element, in the order of the text and from left to right, without those
 * inside of elements that match a selector.
 */
export const readLetters = `(root, leftOut) => {
  const texts = document.createTreeWalker(root, NodeFilter.SHOW_TEXT)
  const found = []
  while (texts.nextNode()) {
    const node = texts.currentNode
    if (leftOut !== undefined && node.parentElement.closest(leftOut) !== null) continue
    for (let at = 0; at < node.data.length; at += 1) {
      const range = document.createRange()
      range.setStart(node, at)
      range.setEnd(node, at + 1)
      const { top, bottom, left, width } = range.getBoundingClientRect()
      const middle = (top + bottom) / 2
      if (width > 0 && node.data[at] !== ' ') found.push({ character: node.data[at], middle, left })
    }
  }
  const written = (all) => all.map(({ character }) => character).join('')
  const logical = written(found)
  // Letters of one line may be of several fonts.
  const isOfLine = (one, other) => Math.abs(one.middle - other.middle) < 8
  const order = (one, other) => (isOfLine(one, other) ? one.left - other.left : one.middle - other.middle)
  const seen = written(found.sort(order))
  return { logical, seen }
}`

/**
 * A sentence reads from left to right but for the texts of plants in it, whatever these have, and nothing is wider than
 * the element that it is in.
 */
export async function assertReadable(page: Page, selector: string): Promise<void> {
  const { logical, seen, overflow } = await page.evaluate<{ logical: string; seen: string; overflow: number }>(`(() => {
    const root = document.querySelector('${selector}')
    const { logical, seen } = (${readLetters})(root, 'bdi')
    return { logical, seen, overflow: root.scrollWidth - root.clientWidth }
  })()`)
  assert.equal(seen, logical)
  assert.ok(overflow <= 0, `${selector} is ${overflow} px too narrow for what is in it`)
}
