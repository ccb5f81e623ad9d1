// Looks up elements of the page. A missing element, or one of the wrong kind, is a bug in the page or its script.

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
