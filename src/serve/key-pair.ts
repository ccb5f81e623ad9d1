// The certificate and key for HTTPS, read at startup and on reload.

import { createPrivateKey, X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { createSecureContext } from 'node:tls'
import type { ServeConfig } from '../config.ts'
import { codeOf, messageOf, SettingError } from '../domain/errors.ts'
import { explainSettingFailure } from '../store/paths.ts'

export type KeyPair = NonNullable<ReturnType<typeof readKeyPair>>

/**
 * Reads the pair that a configuration names; undefined if it names none.
 *
 * @throws SettingError if a file cannot be read or is not PEM, or if the files do not match.
 */
export function readKeyPair({ tlsCert, tlsKey }: Pick<ServeConfig, 'tlsCert' | 'tlsKey'>) {
  if (tlsCert === undefined && tlsKey === undefined) return undefined
  if (tlsKey === undefined)
    throw new SettingError('--tls-cert needs the private key of the certificate: --tls-key FILE')
  if (tlsCert === undefined) throw new SettingError('--tls-key needs the certificate of the key: --tls-cert FILE')
  const cert = readPem(tlsCert, 'CERTIFICATE')
  const key = readPem(tlsKey, 'PRIVATE KEY')
  try {
    const certificate = new X509Certificate(cert)
    // A context accepts a key of a different type than the certificate's, and then fails every handshake.
    if (!certificate.checkPrivateKey(createPrivateKey(key))) throw new Error('the key does not match the certificate')
    createSecureContext({ cert, key })
    return { cert, key, /** By the wall clock. */ expiresAtMs: certificate.validToDate.getTime() }
  } catch (cause) {
    throw new SettingError(`${tlsCert} and ${tlsKey} cannot be used: ${explain(cause)}`, { cause })
  }
}

function readPem(path: string, label: string): Buffer {
  let bytes: Buffer
  try {
    bytes = readFileSync(path)
  } catch (cause) {
    throw explainSettingFailure(cause, path, 'read')
  }
  if (bytes.includes(`${label}-----`)) return bytes
  throw new SettingError(`${path} has no "-----BEGIN ${label}-----"; it must be a PEM file`)
}

function explain(cause: unknown): string {
  const isEncrypted = /PASSPHRASE|INTERRUPTED_OR_CANCELLED|BAD_DECRYPT/.test(codeOf(cause) ?? '')
  return isEncrypted ? 'the key is encrypted; decrypt it first, for example with openssl pkey' : messageOf(cause)
}
