// Certificates for servers of tests, made by openssl.

import { execFileSync, spawnSync } from 'node:child_process'
import type { Folder } from './folder.ts'

export const hasOpenssl = spawnSync('openssl', ['version']).status === 0

/** The files of a certificate of 127.0.0.1 that signs itself, and of its key. */
export interface CertificateFiles {
  readonly cert: string
  readonly key: string
}

export function makeCertificate(folder: Folder, name: string, kind: 'EC' | 'RSA' = 'EC'): CertificateFiles {
  const cert = folder.file(`${name}.crt`)
  const key = folder.file(`${name}.key`)
  execFileSync(
    'openssl',
    [
      ...['req', '-x509', '-nodes', '-days', '2', '-newkey'],
      ...(kind === 'EC' ? ['ec', '-pkeyopt', 'ec_paramgen_curve:P-256'] : ['rsa:2048']),
      ...['-subj', `/CN=${name}`, '-addext', 'subjectAltName=IP:127.0.0.1', '-keyout', key, '-out', cert],
    ],
    { stdio: 'ignore' },
  )
  return { cert, key }
}

/** Signs a certificate anew, such that it expired yesterday. */
export function expire({ cert, key }: CertificateFiles): void {
  execFileSync('openssl', ['x509', '-in', cert, '-signkey', key, '-days', '-1', '-out', cert], { stdio: 'ignore' })
}
