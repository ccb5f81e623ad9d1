// The token of this page, which its tabs share, and what it may do.

import { base } from './address.js'
import { storages } from './elements.js'

/** The tabs of this page: one that is open has the token. */
export const tabs = new BroadcastChannel(`plantstore ${base.pathname}`)

const tokenKey = 'plantstore-token'
/** The token of this page, be it stored or not. */
let held = ''

/** What the token may do: all, until the server has said. */
export const may = { read: true, write: true }

export const token = {
  get: (): string => held || (storages.map((place) => place.getItem(tokenKey)).find((secret) => secret !== null) ?? ''),
  /** @param stays beyond this tab, on this device. */
  keep: (secret: string, stays: boolean): void => {
    token.forget()
    held = secret
    storages[stays ? 1 : 0]?.setItem(tokenKey, secret)
  },
  forget: (): void => {
    held = ''
    for (const place of storages) place.removeItem(tokenKey)
  },
}
