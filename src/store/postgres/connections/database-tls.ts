// TLS for connections to the database, with the modes of libpq. Like libpq, each connection reads the files again, so
// that certificates can be renewed while the server runs.

import { readFileSync } from 'node:fs'
import type { ConnectionOptions } from 'node:tls'
import { messageOf, SettingError } from '../../../domain/errors.ts'

export interface TlsFiles {
  readonly mode: string
  readonly rootFile: string | undefined
  readonly certFile: string | undefined
  readonly keyFile: string | undefined
}

/** TLS options; false for a connection without TLS. */
export type TlsAttempt = ConnectionOptions | false

/**
 * The attempts to make, in order. `prefer` gives no protection, `require` protects against eavesdropping, and only
 * `verify-full` also protects against impersonation.
 *
 * @param modeName the name of the setting that selects the mode.
 * @throws SettingError if the mode is unknown or a file cannot be read.
 */
export function readTlsAttempts(
  { mode, rootFile, certFile, keyFile }: TlsFiles,
  modeName = 'sslmode',
): readonly TlsAttempt[] {
  const ca = rootFile === undefined || rootFile === 'system' ? undefined : readFile(rootFile)
  const own = {
    ...(certFile !== undefined && { cert: readFile(certFile) }),
    ...(keyFile !== undefined && { key: readFile(keyFile) }),
  }
  const unverified = { ...own, rejectUnauthorized: false }
  const chainOnly = { ...own, ca, checkServerIdentity: () => undefined }
  switch (mode) {
    case 'disable':
      return [false]
    case 'allow':
      return [false, unverified]
    case 'prefer':
      return [unverified, false]
    case 'require':
      return [ca === undefined ? unverified : chainOnly]
    case 'verify-ca':
      if (ca === undefined)
        throw new SettingError('sslmode=verify-ca needs sslrootcert, the certificate file of the authority')
      return [chainOnly]
    case 'verify-full':
      return [{ ...own, ca }]
  }
  throw new SettingError(`${modeName} must be disable, allow, prefer, require, verify-ca or verify-full, got ${mode}`)
}

function readFile(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (cause) {
    throw new SettingError(`${path} cannot be read: ${messageOf(cause)}`, { cause })
  }
}
