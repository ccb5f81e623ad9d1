// Asks for this tab's token, stores it once the server accepts it, and forgets it.

import { connect, token, wordsOf } from './api.js'
import { find } from './find.js'
import { clearRefusal, isFilledIn, onSubmit, tell, toSentence } from './form.js'

export interface Access {
  /** @param reason shown beside the field unless empty. */
  forget(reason: string): void
  /** Shows the store: the tab has a token. */
  show(): void
  ask(): void
}

interface AccessOptions {
  /** Called once the server has accepted a token. */
  readonly onEnter: () => Promise<void>
  /** Called when the token is forgotten. */
  readonly onForget: () => void
}

const form = find('#token-form', HTMLFormElement)
const secret = find('#secret', HTMLInputElement)

export function createAccess({ onEnter, onForget }: AccessOptions): Access {
  onSubmit(form, enter)
  find('#forget').addEventListener('click', () => forget(''))

  async function enter(): Promise<void> {
    clearRefusal(form, find('#secret-error'))
    if (!isFilledIn(form)) return
    const typed = secret.value.trim().replace(/^(authorization: *)?bearer +/i, '')
    // A header cannot carry such characters, so the request would never reach the server.
    if (!/^[!-~]+$/.test(typed)) return refuse('this is not a token: tokens have only visible ASCII characters')
    try {
      await connect({ secret: typed }).getSummary()
    } catch (refusal) {
      return refuse(wordsOf(refusal))
    }
    token.keep(typed)
    secret.value = ''
    await onEnter()
  }

  function refuse(message: string): void {
    tell(secret, toSentence(message))
    secret.focus()
  }

  function forget(reason: string): void {
    token.forget()
    onForget()
    show(false)
    if (reason === '') secret.focus()
    else refuse(reason)
  }

  return { forget, show: () => show(true), ask: () => secret.focus() }
}

function show(isKnown: boolean): void {
  form.hidden = isKnown
  find('#token-known').hidden = !isKnown
  find('#store').hidden = !isKnown
}
