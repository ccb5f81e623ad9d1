// `plantstore watch`: prints the changes of a server's plants as they happen.

import { type Change, PlantStoreClient, PlantStoreError } from '../../client/client.ts'
import { toJson } from '../contract/plant.ts'
import { changeJson } from '../domain/change.ts'
import { OperatorError, SettingError } from '../domain/errors.ts'
import { withoutControls } from '../domain/shown.ts'
import { print, stopOnSignal, type Terminal } from '../terminal.ts'
import { escaping } from './output.ts'

const toJsonLine = ({ position, time, kind, plant, callerId }: Change): string =>
  changeJson(position, time, kind, toJson(plant), callerId)
const toShownLine = ({ time, kind, plant: { id, name, tag } }: Change): string =>
  `${time}  ${kind.padEnd('replaced'.length)}  ${id}  ${name}${tag === undefined ? '' : `  (${tag})`}`

export interface WatchOptions {
  readonly url: string
  readonly token: string | undefined
  readonly after?: string | undefined
  readonly all: boolean
}

/** Prints changes until a signal, or until the reader, such as `head`, has closed the pipe. */
export async function watch({ url, token, after, all }: WatchOptions, terminal: Terminal): Promise<void> {
  const stopping = stopOnSignal(terminal)
  const query = { after: after ?? (all ? undefined : 'now') }
  let told = ''
  const onFailure = ({ message }: Error): void => {
    if (message !== told) terminal.stderr.write(`${withoutControls(message)}; trying again\n`)
    told = message
  }
  const toShown = escaping(terminal)
  const toLine = terminal.stdout.isTTY === true ? toShownLine : toJsonLine
  try {
    const client = new PlantStoreClient({ url, token })
    for await (const change of client.followChanges(query, { signal: stopping, onFailure })) {
      told = ''
      if (!(await print(terminal.stdout, `${toShown(toLine(change))}\n`))) return
    }
  } catch (cause) {
    if (stopping.aborted) return
    if (!(cause instanceof PlantStoreError)) throw cause
    const { status, error = status, message } = cause
    if (status === 401 && token === undefined) {
      throw new SettingError(`${url} needs an access token: set PLANTSTORE_TOKEN, or give one with --token`)
    }
    // For 401, name the server: the token may belong to another one.
    throw new OperatorError(`${status === 401 ? `${url} answered ` : ''}${error}: ${withoutControls(message)}`)
  }
}
