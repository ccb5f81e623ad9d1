// Requests to the server that the page came from, with the token of this tab. Ids are texts all the way: a JavaScript
// number would round those beyond 2^53.

import { quoted } from './shell.js'

const tokenKey = 'plantstore-token'

export const token = {
  get: () => sessionStorage.getItem(tokenKey) ?? '',
  keep: (secret) => sessionStorage.setItem(tokenKey, secret),
  forget: () => sessionStorage.removeItem(tokenKey),
}

/** An answer that is none of 2xx; its message is the server's. */
export class Refusal extends Error {
  constructor(status, message) {
    super(message)
    this.status = status
  }
}

/** An answer as the refusal that it is. */
export function refusalOf({ status, body }) {
  return new Refusal(status, body?.message ?? `the server answered ${status}`)
}

/**
 * Sends a request and gives the answer: status, headers, text and, where there is one, body.
 *
 * @throws Refusal for any answer but 2xx; status 0 when there is none.
 */
export async function send(request) {
  const answer = await exchange(request)
  if (answer.status >= 300) throw refusalOf(answer)
  return answer
}

/** The same, whatever the answer is. */
export async function exchange({ method = 'GET', path, headers = {}, body, secret = token.get() }) {
  const sent = { ...headers, ...(body !== undefined && { 'Content-Type': 'application/json' }) }
  let response
  let text
  try {
    const init = { method, headers: { Authorization: `Bearer ${secret}`, ...sent }, cache: 'no-store' }
    response = await fetch(path, body === undefined ? init : { ...init, body })
    text = await response.text()
  } catch (cause) {
    throw new Refusal(0, `the server cannot be reached (${cause.message}); try again`)
  }
  const isJson = response.headers.get('content-type')?.startsWith('application/json')
  return { status: response.status, headers: response.headers, text, body: isJson ? parse(text) : undefined }
}

/** The server writes `"id":` and digits. Inside a text the quotes would have backslashes. */
function parse(text) {
  return JSON.parse(text.replaceAll(/"id":(-?\d+)/g, '"id":"$1"'))
}

/** A plant as JSON; an id that is no integer goes as it was typed, for the server to say what is wrong with it. */
export function plantJson({ id, name, tag }) {
  const fields = [`"name":${JSON.stringify(name)}`, ...(tag === '' ? [] : [`"tag":${JSON.stringify(tag)}`])]
  if (id !== undefined) fields.unshift(`"id":${/^(0|-?[1-9]\d*)$/.test(id) ? id : JSON.stringify(id)}`)
  return `{${fields.join(',')}}`
}

export function plantPath(id) {
  return `plants/${encodeURIComponent(id)}`
}

/** A request as a command that can be pasted into a shell where TOKEN is set. */
export function curl({ method, path, headers = {}, body }) {
  const fields = { 'Content-Type': 'application/json', ...headers }
  return [
    `curl -i -X ${method} ${quoted(new URL(path, document.baseURI).href)}`,
    '-H "Authorization: Bearer $TOKEN"',
    ...Object.entries(fields).map(([name, value]) => `-H ${quoted(`${name}: ${value}`)}`),
    `-d ${quoted(body)}`,
  ].join(' \\\n  ')
}
