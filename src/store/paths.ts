// Explains file errors to the operator, in one line.

import { accessSync, constants, type Stats, statSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { codeOf, messageOf, OperatorError, SettingError } from '../domain/errors.ts'

/** Makes a path absolute. Throws OperatorError if the path is relative and the current folder was deleted. */
export function toAbsolute(path: string): string {
  return explained(path, 'read', () => resolve(path))
}

/** Returns the stats of a path; undefined if it certainly does not exist. Throws any other failure. */
export function statThere(path: string): Stats | undefined {
  try {
    return statSync(path)
  } catch (cause) {
    if (codeOf(cause) === 'ENOENT' || codeOf(cause) === 'ENOTDIR') return undefined
    throw cause
  }
}

/** Throws OperatorError unless a path is a file that this user may read. */
export function assertReadableFile(path: string): void {
  explained(path, 'read', () => {
    const facts = statThere(path)
    if (facts === undefined) throw new OperatorError(`there is no file ${path}`)
    if (facts.isDirectory()) throw new OperatorError(`${path} is a folder; name a file`)
    // It may be endless.
    if (facts.isCharacterDevice()) throw new OperatorError(`${path} is a device; name a file`)
    accessSync(path, constants.R_OK)
  })
}

/** Throws OperatorError unless the folder of a file exists. */
export function assertFolderOf(path: string): void {
  const folder = dirname(toAbsolute(path))
  explained(path, 'written', () => {
    const facts = statThere(folder)
    if (facts === undefined) throw new OperatorError(`the folder ${folder} does not exist; create it first`)
    if (!facts.isDirectory()) throw new OperatorError(`${folder} is not a folder; name another file`)
  })
}

/** Returns the result of an action on a file; explains its failure. */
export function explained<T>(path: string, purpose: 'read' | 'written', act: () => T): T {
  try {
    return act()
  } catch (cause) {
    throw explainFileFailure(cause, path, purpose)
  }
}

/** @param purpose what could not be done with the file. */
export function explainFileFailure(cause: unknown, path: string, purpose: 'read' | 'written'): OperatorError {
  if (cause instanceof OperatorError) return cause
  const why = whyNot(cause, purpose) ?? `cannot be ${purpose}: ${messageOf(cause)}`
  return new OperatorError(`${path} ${why}`, { cause })
}

/** Like `explainFileFailure`, for a file that a setting names: a SettingError, unless the failure is transient. */
export function explainSettingFailure(cause: unknown, path: string, purpose: 'read' | 'written'): OperatorError {
  const failure = explainFileFailure(cause, path, purpose)
  return passingCodes.includes(codeOf(cause)) ? failure : new SettingError(failure.message, { cause })
}

/** The explanation that follows the path in a message; undefined for an unknown error. */
export function whyNot(cause: unknown, purpose: 'read' | 'written'): string | undefined {
  // In a deleted current folder, threads cannot be started, either.
  if (cause instanceof Error && 'syscall' in cause && cause.syscall === 'uv_cwd') return isNowhere
  const [read, written = read] = explanations[String(codeOf(cause))] ?? []
  return purpose === 'read' ? read : written
}

/** Transient failures of the machine, not of a path. */
const passingCodes: readonly unknown[] = ['ENOSPC', 'EDQUOT', 'EIO', 'EMFILE', 'ENFILE', 'ENOMEM', 'ETXTBSY']

const isNowhere = 'cannot be used here: the current folder was deleted; change to another folder'
export const isUnreadable = 'cannot be read; give this user the right to read it, or name another file'
export const isForbidden =
  'cannot be written; give this user the right to write to it and to its folder, or name another file'
export const isFull = 'is on a full disk; make room there and start again; nothing was changed'

/** By error code. The second explanation is for a write, if it differs. */
const explanations: Readonly<Record<string, readonly [read: string, written?: string]>> = {
  EACCES: [isUnreadable, isForbidden],
  EPERM: [isUnreadable, isForbidden],
  EROFS: [isUnreadable, isForbidden],
  ENOSPC: [isFull],
  EDQUOT: [isFull],
  ENAMETOOLONG: ['has a name that is too long; name another file'],
  ENOTDIR: ['is below something that is not a folder; name another file'],
  EEXIST: ['is below something that is not a folder; name another file'],
  ENOENT: ['does not exist', 'cannot be written: its folder does not exist'],
  EBUSY: ['is mounted as a single file, so that it cannot be replaced; mount its folder, or name another file'],
  EISDIR: ['is a folder; name a file'],
  ELOOP: ['is a symbolic link that leads nowhere; name another file'],
}
