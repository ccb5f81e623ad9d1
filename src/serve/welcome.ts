// The message of a server that has started: its addresses, its first token, and the next commands.

import { defaultConfig, type ServeConfig } from '../config.ts'
import { shellWord } from '../domain/shown.ts'
import { readVersion } from '../package.ts'
import type { Terminal } from '../terminal.ts'
import type { FirstToken } from './new-token.ts'

export interface Start {
  readonly config: ServeConfig
  readonly place: string
  readonly url: string
  readonly metricsUrl: string | undefined
  readonly firstToken: FirstToken
  /** Whether to suggest creating the example plant: the store is empty, and the example is valid there. */
  readonly isExampleWelcome: boolean
}

export function welcome(start: Start, { stdout, stderr, environment }: Terminal): string {
  const { url, metricsUrl, place, firstToken, config } = start
  const isTerminal = stderr.isTTY === true
  const isLogged = stdout.isTTY === true && isTerminal && config.log !== 'off'
  const lines = isLogged
    ? []
    : [`Plant Store ${readVersion()} listens on ${url}`, `Its plants are kept in ${place}`, '']
  if (!url.startsWith('unix:')) {
    // Only on a terminal does the URL contain the token. Browsers never send the fragment of a URL.
    const token = firstToken.kind === 'shown' && isTerminal ? `#token=${firstToken.secret}` : ''
    lines.push(`The page: ${localOf(url)}/${token}`, `The reference: ${localOf(url)}/docs`, '')
  }
  if (metricsUrl !== undefined) lines.push(`Its metrics are at ${metricsUrl}`, '')
  // A log reader may be in another folder, without the server's environment.
  const isHere = isTerminal && config.store === (environment['PLANTSTORE_STORE'] || defaultConfig.store)
  const program = isTerminal || environment['npm_command'] !== undefined ? 'npx plantstore' : 'plantstore'
  const another = `${program} token create --name NAME${isHere ? '' : ` --store ${shellWord(place)}`}`
  return `${[...lines, ...aboutToken(start), `To create a token: ${another}`].join('\n')}\n`
}

function aboutToken({ url, firstToken, isExampleWelcome, config: { tlsCert } }: Start): readonly string[] {
  switch (firstToken.kind) {
    case 'notNeeded':
      return []
    case 'notMade':
      return ['The store has no token yet, and without one every request for plants is refused.']
    case 'inFile':
      return [`The first token, which may read and write, is in ${firstToken.path}`]
  }
  const { secret } = firstToken
  const plants = url.startsWith('unix:')
    ? `--unix-socket ${shellWord(url.slice('unix:'.length))} http://localhost/plants`
    : `${tlsCert === undefined ? '' : `--cacert ${shellWord(tlsCert)} `}${localOf(url)}/plants`
  const list = `curl -i ${plants} -H 'Authorization: Bearer ${secret}'`
  const create = `${list} -H 'Content-Type: application/json' -d '{"id": 1, "name": "Monstera deliciosa", "tag": "aroid"}'`
  return [
    'The store had no token yet. This one may read and write; it is shown only this once:',
    `\n  ${secret}\n`,
    isExampleWelcome ? `Create a plant:\n\n  ${create}\n` : `List the plants:\n\n  ${list}\n`,
  ]
}

/** The local URL of a server that listens on all addresses. */
function localOf(url: string): string {
  return url.replace(/\/\/(0\.0\.0\.0|\[::\])/, '//127.0.0.1')
}
