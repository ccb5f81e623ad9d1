// Looks up elements of the page. A page and its scripts belong together: an element that is missing, or of another kind
// than the script needs, is a mistake in one of the two.

/** What a person types into. */
export type Field = HTMLInputElement | HTMLTextAreaElement

/** The first element that a selector finds, of the kind given. Throws a TypeError when it is not there. */
export function find(selector: string): HTMLElement
export function find<Kind extends Element>(selector: string, kind: new () => Kind, within?: ParentNode): Kind
export function find(selector: string, kind: new () => Element = HTMLElement, within: ParentNode = document): Element {
  const found = within.querySelector(selector)
  if (found instanceof kind) return found
  throw new TypeError(`the page has no ${kind.name} ${selector}`)
}

/** The field of a form by its name. Throws a TypeError when it is not there. */
export function fieldOf(form: HTMLFormElement, name: string): Field {
  const field = form.elements.namedItem(name)
  if (isField(field)) return field
  throw new TypeError(`the form #${form.getAttribute('id')} has no field ${name}`)
}

export function isField(value: unknown): value is Field {
  return value instanceof HTMLInputElement || value instanceof HTMLTextAreaElement
}
