// Finds and makes elements, copies texts and saves files. A missing element is a bug in the page or its script.

/** A field of a form. */
export type Field = HTMLInputElement | HTMLTextAreaElement | HTMLSelectElement

/** Returns the first element of the given kind that matches a selector. Throws TypeError if there is none. */
export function find(selector: string): HTMLElement
export function find<Kind extends Element>(selector: string, kind: new () => Kind, within?: ParentNode): Kind
export function find(selector: string, kind: new () => Element = HTMLElement, within: ParentNode = document): Element {
  const found = within.querySelector(selector)
  if (found instanceof kind) return found
  throw new TypeError(`the page has no ${kind.name} ${selector}`)
}

/** Returns a form's field by name. Throws TypeError if there is none. */
export function fieldOf(form: HTMLFormElement, name: string): Field {
  const field = form.elements.namedItem(name)
  if (isField(field)) return field
  throw new TypeError(`the form #${form.getAttribute('id')} has no field ${name}`)
}

export function isField(value: unknown): value is Field {
  return [HTMLInputElement, HTMLTextAreaElement, HTMLSelectElement].some((kind) => value instanceof kind)
}

/** What is in an element. Undefined, false and empty texts add nothing. */
export type Child = Node | string | false | undefined | readonly Child[]

type Attributes = Readonly<Record<string, string>>

/**
 * Makes an element.
 *
 * @param kind its name, with its classes, as in `p.hint`.
 * @param content its attributes and its children.
 */
export function make<Name extends keyof HTMLElementTagNameMap>(
  kind: Name | `${Name}.${string}`,
  ...content: readonly (Child | Attributes)[]
): HTMLElementTagNameMap[Name] {
  const [name, ...classes] = kind.split('.') as [Name, ...string[]]
  const element = document.createElement(name)
  if (classes.length > 0) element.className = classes.join(' ')
  fill(element, ...content)
  return element
}

/** Gives an element attributes and children. */
export function fill(element: Element, ...content: readonly (Child | Attributes)[]): void {
  for (const part of content) {
    if (part === undefined || part === false || part === '') continue
    if (typeof part === 'string' || part instanceof Node) element.append(part)
    else if (Symbol.iterator in part) fill(element, ...part)
    else for (const [name, value] of Object.entries(part)) element.setAttribute(name, value)
  }
}

/** Makes a table of rows of cells, the first row with the titles of the columns. */
export function makeTable(label: string, titles: readonly Child[], rows: readonly (readonly Child[])[]): HTMLElement {
  const toCell = (child: Child): Child => (child instanceof HTMLTableCellElement ? child : make('td', child))
  const heads = titles.map((title) => (title === '' ? make('td') : make('th', { scope: 'col' }, title)))
  const lines = rows.map((cells) => make('tr', cells.map(toCell)))
  return make('table', { 'aria-label': label }, make('tr', heads), lines)
}

/** Makes a button that does something. */
export function makeButton(
  text: Child,
  onClick: (button: HTMLButtonElement) => unknown,
  attributes: Attributes = {},
): HTMLButtonElement {
  const button = make('button', { type: 'button', ...attributes }, text)
  button.addEventListener('click', () => onClick(button))
  return button
}

/** Makes buttons of which one is pressed, at first the one that is named first. Their values are their names. */
export function makeTabs(
  label: string,
  names: readonly string[],
  first: string,
  onChoose: (name: string) => void,
): HTMLElement {
  const choose = (name: string): void => {
    for (const tab of tabs) tab.ariaPressed = String(tab.value === name)
    onChoose(name)
  }
  const tabs = names.map((name) => makeButton(name, () => choose(name), { class: 'quiet', value: name }))
  choose(first)
  return make('div.row.tabs', { role: 'group', 'aria-label': label }, tabs)
}

/**
 * Gives the focus back to the row of a plant, or to the heading, if it has no place any more.
 *
 * @param left where it is not wanted.
 */
export function refocus(id: bigint | string | undefined, left: Element | null = null): void {
  const { activeElement } = document
  // The focus stays for a while where a closed dialog has it.
  if (![document.body, left].includes(activeElement) && activeElement?.checkVisibility()) return
  const link = document.querySelector<HTMLElement>(`[data-id="${CSS.escape(String(id))}"] a.name`)
  ;(link ?? find('#plants-title')).focus()
}

/** Whether the focus is in an element, or nowhere. */
export const isHere = (element: Element): boolean =>
  document.activeElement === document.body || element.contains(document.activeElement)

/** Numbers attempts. What beginning one returns says whether no newer one has begun: an older answer may come later. */
export function attempts(): () => () => boolean {
  let newest = 0
  return () => {
    newest += 1
    const mine = newest
    return () => mine === newest
  }
}

/** How long something is shown before it can be pressed: an earlier press was meant for what was there before. */
const readingMsMin = 500
const holding = new WeakMap<HTMLElement, number>()

export function hold(button: HTMLButtonElement): void {
  button.inert = true
  clearTimeout(holding.get(button))
  const release = (): void => {
    button.inert = false
  }
  holding.set(button, setTimeout(release, readingMsMin))
}

/** Shows what serves in a state of a dialog, such as the buttons for it, and hides what serves in others alone. */
export function showState(dialog: HTMLElement, state: string): void {
  for (const each of dialog.querySelectorAll<HTMLElement>('[data-when]'))
    each.hidden = !each.dataset['when']?.split(' ').includes(state)
}

/** What the keyboard can scroll. */
export const scrollable = (label: string): Attributes => ({ tabindex: '0', role: 'group', 'aria-label': label })

/** Of this tab, and of the device; none where a person has forbidden to store anything. */
export const storages = ((): readonly Storage[] => {
  try {
    return [sessionStorage, localStorage]
  } catch {
    return []
  }
})()

/** Keeps on the device whether a box is checked, which it is at first. */
export function remember(box: HTMLInputElement, key: string): void {
  box.checked = storages[1]?.getItem(key) !== 'false'
  box.addEventListener('change', () => storages[1]?.setItem(key, String(box.checked)))
}

const copiedMs = 2_000

/**
 * Copies a text, and says on its button that it did. Without a clipboard, selects it where it is shown, or shows it.
 *
 * @param source where it is shown.
 */
export async function copy(text: string, button: HTMLElement, source?: Node): Promise<void> {
  let said = 'Copied'
  try {
    // Only HTTPS pages and pages of this machine have a clipboard, and a browser may deny access.
    await navigator.clipboard.writeText(text)
  } catch {
    if (source === undefined) return void prompt('Press Ctrl+C to copy.', text)
    getSelection()?.selectAllChildren(source)
    said = 'Press Ctrl+C'
  }
  button.dataset['said'] = said
  // For screen readers.
  const note = make('p.unseen', { role: 'status' }, said)
  button.after(note)
  setTimeout(() => {
    delete button.dataset['said']
    note.remove()
  }, copiedMs)
}

/** Lets a person keep a text as a file. */
export function download(name: string, type: string, parts: readonly BlobPart[]): void {
  const href = URL.createObjectURL(new Blob([...parts], { type }))
  make('a', { href, download: name }).click()
  // The browser reads it later.
  setTimeout(() => URL.revokeObjectURL(href), 60_000)
}
