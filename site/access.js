// The token of this tab: asked for, kept once the server has admitted it, and forgotten.

import { connect, token, wordsOf } from './api.js'
import { byId, clearRefusal, isFilledIn, onSubmit, tell, toSentence } from './form.js'

const [form, secret] = [byId('token-form'), byId('secret')]

/** @param onEnter called once the server has admitted a token. */
export function createAccess({ onEnter }) {
  onSubmit(form, enter)
  byId('forget').addEventListener('click', () => forget(''))

  async function enter() {
    clearRefusal(form, byId('secret-error'))
    if (!isFilledIn(form)) return
    const typed = secret.value.trim().replace(/^(authorization: *)?bearer +/i, '')
    // What no header may have never gets to the server.
    if (!/^[!-~]+$/.test(typed)) return refuse('this is no token: it has characters that no token has')
    try {
      await connect({ secret: typed }).getSummary()
    } catch (refusal) {
      return refuse(wordsOf(refusal))
    }
    token.keep(typed)
    secret.value = ''
    await onEnter()
  }

  function refuse(message) {
    tell(secret, toSentence(message))
    secret.focus()
  }

  function forget(reason) {
    token.forget()
    show(false)
    if (reason === '') secret.focus()
    else refuse(reason)
  }

  return { forget, show: () => show(true), ask: () => secret.focus() }
}

function show(isKnown) {
  form.hidden = isKnown
  byId('token-known').hidden = !isKnown
  byId('store').hidden = !isKnown
}
