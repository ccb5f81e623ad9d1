// The totals of the whole store, regardless of the search: the number of plants, and the most common tags as bars.

import type { Summary } from './client.js'
import { find } from './find.js'
import { whileBusy } from './form.js'
import { shown } from './plant-text.js'
import { isOneLine } from './text-field.js'

type TagCount = Summary['tags'][number]

const barsMax = 12
/** The server returns at most this many tags; a full list may be incomplete. */
const tagsMax = 100

/** @param onTag receives the tag whose bar was pressed. */
export function showSummary({ plants, tags, isExact }: Summary, onTag: (tag: string) => Promise<void>): void {
  const isEmpty = plants === 0
  find('#welcome').hidden = !isEmpty
  find('#plants').hidden = isEmpty
  find('#create-title').textContent = isEmpty ? 'Create your first plant' : 'Create a plant'
  const id = find('#id', HTMLInputElement)
  if (isEmpty && id.value === '') id.value = '1'

  find('#count').textContent = `${isExact ? '' : 'About '}${count(plants)} in the store.`
  const most = Math.max(...tags.map((tag) => tag.plants), 1)
  find('#bars').replaceChildren(...tags.slice(0, barsMax).map((tag) => toBar(tag, most, onTag)))
  find('#bars-hint').textContent = describeTags(plants, tags, isExact && tags.length < tagsMax)
  const suggested = tags.filter(({ tag }) => isOneLine(tag))
  find('#tags').replaceChildren(...suggested.map(({ tag }) => new Option(tag, tag)))
}

/** Hides totals that may be out of date. */
export function hideSummary(): void {
  for (const part of ['#count', '#bars', '#bars-hint']) find(part).replaceChildren()
}

/** @param areAll whether the list contains all tags, with exact counts. */
function describeTags(plants: number, tags: readonly TagCount[], areAll: boolean): string {
  if (tags.length === 0) return ''
  const listed =
    tags.length > barsMax
      ? `The ${barsMax} most common tags${areAll ? ` of ${tags.length}` : ''}. Press one to see its plants.`
      : 'Press a tag to see its plants.'
  const untagged = plants - tags.reduce((sum, tag) => sum + tag.plants, 0)
  if (!areAll || untagged <= 0) return listed
  return `${listed} ${count(untagged)} ${untagged === 1 ? 'has' : 'have'} no tag.`
}

function toBar({ tag, plants }: TagCount, most: number, onTag: (tag: string) => Promise<void>): HTMLLIElement {
  const item = document.createElement('li')
  const button = document.createElement('button')
  const bar = document.createElement('span')
  button.type = 'button'
  button.append(shown(tag))
  button.title = tag
  button.disabled = tag === ''
  button.addEventListener('click', () => whileBusy(button, () => onTag(tag)))
  bar.textContent = plants.toLocaleString('en')
  bar.style.setProperty('--share', String(plants / most))
  item.append(button, bar)
  return item
}

function count(plants: number): string {
  return `${plants.toLocaleString('en')} ${plants === 1 ? 'plant' : 'plants'}`
}
