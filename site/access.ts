// Asks for a token, stores it once the server accepts it, shares it with other tabs and forgets it. Shows whose it is,
// and what it may.

import { base, readView } from './address.js'
import { connect, wordsOf } from './api.js'
import type { Home } from './client.js'
import { find } from './elements.js'
import { isFilledIn, onSubmit, tell } from './form.js'
import { toSentence, unauthorized } from './messages.js'
import { shown } from './texts.js'
import { may, tabs, token } from './token.js'

const form = find('#token-form', HTMLFormElement)
const secret = find('#secret', HTMLInputElement)
const stay = find('#stay', HTMLInputElement)
let leave = (): void => {}
/** The caller for whom something is shown, and who has typed what is there. */
const owner = find('#caller')

/**
 * @param onEnter called once the server has accepted a token, and the store is shown.
 * @param onForget called when the token is forgotten.
 */
export function startAccess(onEnter: () => Promise<void>, onForget: () => void): void {
  leave = () => {
    token.forget()
    onForget()
    show(false)
  }
  onSubmit(form, async () => {
    if (!isFilledIn(form, find('#secret-error'))) return
    const typed = secret.value.trim().replace(/^(authorization: *)?bearer +/i, '')
    // A header cannot carry such characters, so the request would never reach the server.
    if (!/^[!-~]+$/.test(typed)) return refuse('this is not a token: tokens have only visible ASCII characters')
    let home: Home
    try {
      home = await connect(typed).getHome()
    } catch (refusal) {
      return refuse(wordsOf(refusal))
    }
    token.keep(typed, stay.checked)
    secret.value = ''
    // Nothing of that is for somebody else.
    if (!['', home.caller?.name].includes(owner.textContent)) return location.reload()
    showCaller(home.caller)
    await onEnter()
  })
}

addEventListener(unauthorized, (event) => forget((event as CustomEvent<string>).detail))
// Before others that read the address.
addEventListener('popstate', takeToken)
find('#forget').addEventListener('click', () => {
  tabs.postMessage('forget')
  startAnew()
})
tabs.addEventListener('message', ({ data }) => {
  if (data === 'forget') startAnew()
  else if (data === 'ask') {
    if (token.get() !== '') tabs.postMessage({ token: token.get() })
  } else if (token.get() === '' && secret.value === '') {
    secret.value = data.token
    form.requestSubmit()
  }
})

/** Signs out. Loads the page anew: nothing of what was shown or typed stays. */
function startAnew(): void {
  token.forget()
  location.assign(base.href)
}

/** Asks for another token: the server refused this one for the given reason. What was typed stays. */
export function forget(reason: string): void {
  leave()
  refuse(reason)
}

/** Asks the server what the token may, and shows the store. Rejects if the server refuses the token. */
export async function openStore(): Promise<void> {
  show(true)
  showCaller((await connect().getHome()).caller)
}

export function askForToken(): void {
  show(false)
  tabs.postMessage('ask')
  const { plant } = readView()
  if (plant !== undefined) find('#token-title').textContent = `Sign in to see plant ${plant}`
  secret.focus()
}

/** Signs in with the token of the address, as in `#token=plt_...`. Returns whether there is one. */
export function takeToken(): boolean {
  const given = new URLSearchParams(location.hash.slice(1)).get('token')
  if (given === null) return false
  // At once: the history must not keep it.
  history.replaceState(history.state, '', location.pathname + location.search)
  leave()
  secret.value = given
  form.requestSubmit()
  return true
}

function refuse(message: string): void {
  tell(secret, toSentence(message))
  secret.focus()
}

function show(isKnown: boolean): void {
  find('#token').hidden = isKnown
  find('#account').hidden = !isKnown
  find('#store').hidden = !isKnown
}

/** Shows the store, hides what the token may not do, and says why. */
function showCaller(caller: Home['caller']): void {
  show(true)
  const scopes = caller?.scopes ?? []
  Object.assign(may, { read: scopes.includes('plants:read'), write: scopes.includes('plants:write') })
  const able = [may.read && 'read', may.write && 'write'].filter(Boolean)
  const limits = [
    !may.read && 'To see plants, this token also needs the scope plants:read.',
    !may.write && 'To change plants, this token needs the scope plants:write.',
  ]
  owner.replaceChildren(shown(caller?.name))
  find('#may').textContent = `can ${able.length === 1 ? 'only ' : ''}${able.join(' and ') || 'do nothing here'}`
  find('#limits').textContent = limits.filter(Boolean).join(' ')
  document.body.classList.toggle('no-reads', !may.read)
  document.body.classList.toggle('no-writes', !may.write)
}
