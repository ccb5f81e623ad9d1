// `plantstore verify`: tests whether a server, written in any language, conforms to the Plant Store document.

import { accessSync, constants, lstatSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { DocumentError } from '../../verify/document.ts'
import { type IdRange, rangeIds } from '../../verify/ids.ts'
import { addressOf, formatJunitReport, formatReport } from '../../verify/report.ts'
import { type Level, NoAnswer, TakenError, type Tokens } from '../../verify/results.ts'
import { runRows } from '../../verify/run.ts'
import { parseSettings } from '../config.ts'
import { OperatorError, SettingError } from '../domain/errors.ts'
import { withoutControls } from '../domain/shown.ts'
import { renameDurably, writeWhole } from '../store/files.ts'
import { assertFolderOf, explained, explainFileFailure } from '../store/paths.ts'
import { assertNoStoreFile } from '../store/sqlite/file/names.ts'
import { print, stopOnSignal, type Terminal } from '../terminal.ts'
import { localUrl, parseArgument, parseUrl } from './options.ts'
import { printJson } from './output.ts'

export interface VerifyOptions extends Omit<Tokens, 'token'> {
  readonly url: string | undefined
  readonly token: string | undefined
  /** Path of the server's document, or `none` for the bundled one. */
  readonly document: string
  readonly level: Level
  readonly ids: IdRange
  /** Seconds. */
  readonly timeout: number
  readonly json: boolean
  readonly junit: string | undefined
  readonly verbose: boolean
}

/** Returns the exit status: 0 if no row failed and, at `complete`, nothing is left on the server. */
export async function verifyServer(options: VerifyOptions, terminal: Terminal): Promise<number> {
  const variable = terminal.environment['PLANTSTORE_URL'] || localUrl
  const url = options.url ?? parseArgument('PLANTSTORE_URL', variable, parseUrl)
  const { token, junit } = options
  if (token === undefined) throw new SettingError('a token is needed: set PLANTSTORE_TOKEN, or give one with --token')
  if (junit !== undefined) assertWritable(junit)
  const onStop = (): unknown => terminal.stderr.write('Stopping; the plants of the run are being deleted.\n')
  const stopping = stopOnSignal(terminal, onStop)
  const { document } = parseSettings({ document: options.document })
  const [firstId, timeoutMs] = [options.ids.first, options.timeout * 1_000]
  const rows = { ...options, url, token, document, firstId, timeoutMs, signal: stopping }
  const report = await runRows(rows).catch((cause) => {
    throw explainNoRun(cause, addressOf(new URL(url)))
  })
  if (junit !== undefined) {
    const write = (partial: string): void =>
      writeFileSync(partial, formatJunitReport(report), { flag: 'wx', flush: true })
    await writeWhole(junit, renameDurably, write).catch((cause) => {
      throw explainFileFailure(cause, junit, 'written')
    })
  }
  if (options.json) await printJson(report, terminal)
  else await print(terminal.stdout, formatReport(report, options.verbose))
  const isRight = report.counts.failed === 0
  // The original document has no operation that deletes.
  const isClean = report.left.length === 0 || options.level === 'specified'
  return isRight && isClean && !stopping.aborted ? 0 : 1
}

function explainNoRun(cause: unknown, address: string): unknown {
  if (cause instanceof TakenError) {
    const advice = `give the first of ${rangeIds} ids that are free with --ids`
    return new OperatorError(`${address} has a plant ${cause.id}, which must not be touched; ${advice}`)
  }
  if (cause instanceof DocumentError) return new SettingError(cause.message, { cause })
  if (!(cause instanceof NoAnswer)) return cause
  const why = withoutControls(cause.message)
  return new OperatorError(`${address} cannot be reached: ${why}; is the server running there?`, { cause })
}

/** Called before anything is sent, so that a whole run is not lost for lack of a file. */
function assertWritable(path: string): void {
  assertFolderOf(path)
  assertNoStoreFile(path)
  explained(path, 'written', () => {
    if (lstatSync(path, { throwIfNoEntry: false })?.isFile() === false)
      throw new OperatorError(`${path} is not a regular file; name another with --junit`)
    accessSync(dirname(path), constants.W_OK)
  })
}
