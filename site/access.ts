// Asks for a token, stores it once the server accepts it, shares it with other tabs and forgets it. Shows whose it is,
// and what it may.

import { readView } from './address.js'
import { base, connect, token, wordsOf } from './api.js'
import type { Home } from './client.js'
import { find } from './find.js'
import { clearRefusal, isFilledIn, onSubmit, tell, toSentence } from './form.js'
import { shown } from './plant-text.js'

export interface Access {
  /** Asks for another token: the server refused this one for the given reason. What was typed stays. */
  forget(reason: string): void
  /** Asks the server what the token may, and shows the store. Rejects if the server refuses the token. */
  open(): Promise<May>
  ask(): void
  /** Signs in with the token of the address, as in `#token=plt_...`. Returns whether there is one. */
  takeToken(): boolean
}

/** What the token may. */
export interface May {
  readonly read: boolean
  readonly write: boolean
}

interface AccessOptions {
  /** Called once the server has accepted a token, and the store is shown. */
  readonly onEnter: (may: May) => Promise<void>
  /** Called when the token is forgotten. */
  readonly onForget: () => void
}

const form = find('#token-form', HTMLFormElement)
const secret = find('#secret', HTMLInputElement)
const stay = find('#stay', HTMLInputElement)
/** The tabs of this page: one that is open has the token. */
const tabs = new BroadcastChannel(`plantstore ${base.pathname}`)

export function createAccess({ onEnter, onForget }: AccessOptions): Access {
  onSubmit(form, enter)
  find('#forget').addEventListener('click', () => {
    token.forget()
    tabs.postMessage('forget')
    // Loads the page anew: nothing of what was shown or typed stays.
    location.assign(base.href)
  })

  tabs.addEventListener('message', ({ data }) => {
    if (data === 'forget') {
      token.forget()
      location.assign(base.href)
    } else if (data === 'ask') {
      if (token.get() !== '') tabs.postMessage({ token: token.get() })
    } else if (token.get() === '' && secret.value === '') {
      secret.value = data.token
      form.requestSubmit()
    }
  })

  async function enter(): Promise<void> {
    clearRefusal(form, find('#secret-error'))
    if (!isFilledIn(form)) return
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
    show(true)
    await onEnter(showCaller(home.caller))
  }

  function refuse(message: string): void {
    tell(secret, toSentence(message))
    secret.focus()
  }

  function leave(): void {
    token.forget()
    onForget()
    show(false)
  }

  function takeToken(): boolean {
    const given = new URLSearchParams(location.hash.slice(1)).get('token')
    if (given === null) return false
    // At once: the history must not keep it.
    history.replaceState(history.state, '', location.pathname + location.search)
    leave()
    secret.value = given
    form.requestSubmit()
    return true
  }
  // Before others that read the address.
  addEventListener('popstate', takeToken)

  async function open(): Promise<May> {
    const { caller } = await connect().getHome()
    show(true)
    return showCaller(caller)
  }

  return {
    forget: (reason) => {
      leave()
      refuse(reason)
    },
    open,
    takeToken,
    ask: () => {
      show(false)
      tabs.postMessage('ask')
      const { plant } = readView()
      if (plant !== undefined) find('#token-title').textContent = `Sign in to see plant ${plant}`
      secret.focus()
    },
  }
}

function show(isKnown: boolean): void {
  find('#token').hidden = isKnown
  find('#account').hidden = !isKnown
  find('#store').hidden = !isKnown
}

/** Hides what the token may not do, and says why. */
function showCaller(caller: Home['caller']): May {
  const scopes = caller?.scopes ?? []
  const may = { read: scopes.includes('plants:read'), write: scopes.includes('plants:write') }
  find('#caller').replaceChildren(shown(caller?.name ?? 'token'))
  find('#may').textContent = may.read
    ? may.write
      ? 'can read and write'
      : 'can only read'
    : may.write
      ? 'can only create'
      : 'can do nothing here'
  document.body.classList.toggle('no-reads', !may.read)
  document.body.classList.toggle('no-writes', !may.write)
  const limits = find('#limits')
  limits.hidden = may.read && may.write
  limits.textContent = limitsOf(may)
  return may
}

function limitsOf({ read, write }: May): string {
  if (read) return 'This token can read plants, but not change them: that needs the scope plants:write.'
  return write
    ? 'This token can create plants, but not read them: to see, change and delete plants here, it also needs the scope plants:read. A program can replace or delete a plant by its id.'
    : 'This token can neither read nor change plants: it has neither the scope plants:read nor plants:write.'
}
