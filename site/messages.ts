// What the page says about an action, and how it explains what the server refused.

import { isRefusal, wordsOf } from './api.js'
import { find } from './elements.js'
import type { Values } from './properties.js'
import { isolated } from './texts.js'
import { token } from './token.js'

/** Shows a sentence. Quoted server text, such as `got "x"`, does not affect the direction of the rest. */
export function say(element: HTMLElement, sentence: string): void {
  // Nothing is read out twice.
  if (element.textContent === sentence) return
  element.replaceChildren(...spoken(sentence))
}

/** The nodes of such a sentence. */
export function spoken(sentence: string): (Node | string)[] {
  const parts = sentence.split(/("(?:[^"\\]|\\.)*")/)
  return parts.map((part, at) => (at % 2 === 1 ? isolated(part) : part))
}

/** How a text in place of an integer is refused. */
export const notWhole = 'must be a whole number, not'

/**
 * Turns a server message into a sentence: `id: must be less` becomes `Id must be less.` A message with its own subject
 * loses its field name.
 */
export function toSentence(message: string): string {
  const plain = message.replace(/must be an integer from .+, got (?=".*[^\d"-])/, `${notWhole} `)
  const grouped = plain.replace(/\d{4,}(?= characters)|(?<=characters, got )\d+/g, (digits) =>
    Number(digits).toLocaleString('en'),
  )
  const words = grouped.replace(/^[^\s:]+: (?=(?:a|the|there) )/, '').replace(/^([^\s:]+): /, '$1 ')
  return words.replace(/^(?!https?:)./, (first) => first.toUpperCase()) + (/[.?]$/.test(words) ? '' : '.')
}

/** Explains a refusal that concerns no field. Without a valid token, the page asks for another one. */
export function explain(refusal: unknown): void {
  if (!isRefusal(refusal)) throw refusal
  // Nobody is signed in any more.
  if (refusal.status === undefined && token.get() === '') return
  const inFront = document.querySelector<HTMLElement>('#plant:modal #plant-error')
  const place = inFront ?? find(document.body.matches('.empty') ? '#create-error' : '#table-error')
  if (refusal.status === 401) dispatchEvent(new CustomEvent(unauthorized, { detail: wordsOf(refusal) }))
  else sayWhy(place, refusal)
}

/** Says in a place why a call has failed. */
export function sayWhy(place: HTMLElement, refusal: unknown): void {
  say(place, toSentence(wordsOf(refusal)))
}

/** The event of a token that is no longer valid. */
export const unauthorized = 'plantstore-unauthorized'

const toast = find('#toast')
const said = find('#changed')
const undo = find('#undo')
const opener = find('#open', HTMLButtonElement)
/** What has failed, which another action does not take from the toast. */
let failures = ''
const toastMs = 10_000
let timer: number | undefined

/**
 * Says what an action has done, for a while: also in the sheet of a plant, which covers the toast.
 *
 * @param id of a plant that a person may want to see.
 */
export function announce(sentence: string, id?: bigint): void {
  const all = `${failures}${sentence}`
  for (const place of document.querySelectorAll<HTMLElement>('#changed, #plant:modal #plant-said')) say(place, all)
  opener.hidden = id === undefined
  opener.value = String(id)
  expire()
}

/** @param done what has failed, such as `created`. */
export function announceFailure({ name }: Values, done: string, refusal: unknown): void {
  const outcome = isRefusal(refusal) && refusal.mayBeDone ? 'may or may not be' : 'is not'
  const sentence = `${JSON.stringify(name)} ${outcome} ${done}: ${wordsOf(refusal)}.`
  announce(sentence)
  failures += `${sentence} `
}

export const isSaid = (sentence: string): boolean => said.textContent?.endsWith(sentence) === true

/** Takes back what the toast says and offers, but not while a person is about to press it. */
function expire(): void {
  clearTimeout(timer)
  timer = setTimeout(() => (toast.matches(':hover, :focus-within') ? expire() : closeToast()), toastMs)
}

/** Takes back what was said and offered. */
export function closeToast(): void {
  failures = ''
  said.textContent = find('#plant-said').textContent = ''
  undo.hidden = opener.hidden = true
}

/** Clears the messages of earlier actions, which may no longer apply. A deletion can still be undone. */
export function hush(): void {
  for (const place of ['#create-error', '#table-error', '#plant-error', '#plant-said']) find(place).textContent = ''
  say(said, undo.hidden ? '' : undo.title)
  failures = ''
  opener.hidden = true
}
