// What the page says about an action, and how it explains what the server refused.

import { isRefusal, wordsOf } from './api.js'
import { find } from './elements.js'
import { isolated } from './texts.js'

/** Shows a sentence. Quoted server text, such as `got "x"`, does not affect the direction of the rest. */
export function say(element: HTMLElement, sentence: string): void {
  element.replaceChildren(...spoken(sentence))
}

/** The nodes of such a sentence. */
export function spoken(sentence: string): (Node | string)[] {
  const parts = sentence.split(/("(?:[^"\\]|\\.)*")/)
  return parts.map((part, at) => (at % 2 === 1 ? isolated(part) : part))
}

/**
 * Turns a server message into a sentence: `id: must be less` becomes `Id must be less.` A message with its own subject
 * loses its field name.
 */
export function toSentence(message: string): string {
  const plain = message.replace(/must be an integer from .+, got (?=".*[^\d"-])/, 'must be a whole number, not ')
  const words = plain.replace(/^[^\s:]+: (?=(?:a|the|there) )/, '').replace(/^([^\s:]+): /, '$1 ')
  return words.charAt(0).toUpperCase() + words.slice(1) + (words.endsWith('.') ? '' : '.')
}

/** Explains a refusal that concerns no field. Without a valid token, the page asks for another one. */
export function explain(refusal: unknown): void {
  if (!isRefusal(refusal)) throw refusal
  const place = find('#plants').hidden ? '#create-error' : '#table-error'
  if (refusal.status === 401) dispatchEvent(new CustomEvent(unauthorized, { detail: wordsOf(refusal) }))
  else sayWhy(find(place), refusal)
}

/** Says in a place why a call has failed. */
export function sayWhy(place: HTMLElement, refusal: unknown): void {
  say(place, toSentence(wordsOf(refusal)))
}

/** The event of a token that is no longer valid. */
export const unauthorized = 'plantstore-unauthorized'

const toast = find('#toast')
const toastMs = 10_000
let timer: number | undefined

/** Takes back what the toast says and offers after a while, but not while a person is about to press it. */
export function expireToast(): void {
  clearTimeout(timer)
  timer = setTimeout(() => {
    if (toast.matches(':hover, :focus-within')) return expireToast()
    find('#changed').textContent = ''
    find('#undo').hidden = true
  }, toastMs)
}

/** Clears the messages of earlier actions, which may no longer apply, and what they offer. */
export function hush(): void {
  for (const place of ['#created', '#create-error', '#table-error', '#changed']) find(place).textContent = ''
  find('#undo').hidden = true
}
