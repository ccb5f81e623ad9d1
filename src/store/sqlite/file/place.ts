// The place of a store: the real path of its file, under which its log, its index and its lock lie beside it for every
// process that opens it.

import { readFileSync, realpathSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { OperatorError } from '../../../domain/errors.ts'

/**
 * The real path of a file. One file has one log and one lock, whatever path opens it.
 *
 * @throws OperatorError for a file that is mounted by itself: what lies beside it in the folder that it was mounted from
 * is not beside it here, so that two servers would each have a log and a lock of their own.
 */
export function realPathOf(path: string): string {
  const realPath = realpathSync(path)
  if (!isMounted(realPath)) return realPath
  throw new OperatorError(
    `${path} is mounted as a single file, without the log and the lock that lie beside it; mount its folder instead`,
  )
}

function isMounted(realPath: string): boolean {
  const mounts = readMounts()
  return mounts === undefined ? statSync(realPath).dev !== statSync(dirname(realPath)).dev : mounts.includes(realPath)
}

/** Where something is mounted; undefined where the system does not say so. A mount of the same disk has its device. */
function readMounts(): readonly string[] | undefined {
  try {
    const lines = readFileSync('/proc/self/mountinfo', 'utf8').split('\n')
    return lines.map((line) => unescapeMount(line.split(' ')[4] ?? ''))
  } catch {
    return undefined
  }
}

/** Blanks, line ends and backslashes are there as octal numbers (proc_pid_mountinfo(5)). */
function unescapeMount(text: string): string {
  return text.replaceAll(/\\([0-7]{3})/g, (_, digits: string) => String.fromCharCode(Number.parseInt(digits, 8)))
}
