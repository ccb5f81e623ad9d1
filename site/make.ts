// Makes elements and copies texts.

/** Makes an element with a class and what is in it. */
export function make<Name extends keyof HTMLElementTagNameMap>(
  name: Name,
  className: string,
  ...children: readonly (Node | string)[]
): HTMLElementTagNameMap[Name] {
  const element = document.createElement(name)
  if (className !== '') element.className = className
  element.append(...children)
  return element
}

/** Makes a button that does something. */
export function makeButton(text: Node | string, onClick: (button: HTMLButtonElement) => unknown): HTMLButtonElement {
  const button = make('button', '', text)
  button.type = 'button'
  button.addEventListener('click', () => onClick(button))
  return button
}

const copiedMs = 2_000

/** Copies a text, and says on its button that it did. Without a clipboard, selects what is shown. */
export async function copy(text: string, button: HTMLElement, source: Node = button): Promise<void> {
  let said = 'Copied'
  try {
    // Only HTTPS pages and pages of this machine have a clipboard, and a browser may deny access.
    await navigator.clipboard.writeText(text)
  } catch {
    getSelection()?.selectAllChildren(source)
    said = 'Press Ctrl+C'
  }
  button.dataset['said'] = said
  announce(said)
  setTimeout(() => delete button.dataset['said'], copiedMs)
}

/** Tells screen readers. */
function announce(text: string): void {
  const note = make('p', 'unseen', text)
  note.role = 'status'
  document.body.append(note)
  setTimeout(() => note.remove(), copiedMs)
}

/** Lets a person keep a text as a file. */
export function download(name: string, type: string, parts: readonly BlobPart[]): void {
  const link = document.createElement('a')
  link.href = URL.createObjectURL(new Blob([...parts], { type }))
  link.download = name
  link.click()
  // The browser reads it later.
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000)
}
