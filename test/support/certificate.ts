// Certificates for servers of tests, made by openssl.

import { execFileSync, spawnSync } from 'node:child_process'
import type { Folder } from './folder.ts'

/** Why tests that need a certificate are skipped, or false. */
export const noOpenssl =
  spawnSync('openssl', ['version']).status !== 0 && 'there is no openssl to make a certificate with'

/** The files of a certificate that signs itself, and of its key. */
export interface CertificateFiles {
  readonly cert: string
  readonly key: string
}

/** Makes a certificate; there must be an openssl. `altName` is whom it is for, as `DNS:localhost`. */
export function makeCertificate(
  { file }: Pick<Folder, 'file'>,
  name: string,
  { kind = 'EC', altName = 'IP:127.0.0.1' }: { readonly kind?: 'EC' | 'RSA'; readonly altName?: string } = {},
): CertificateFiles {
  const [cert, key] = [file(`${name}.crt`), file(`${name}.key`)]
  const algorithm = kind === 'EC' ? ['ec', '-pkeyopt', 'ec_paramgen_curve:P-256'] : ['rsa:2048']
  const subject = ['-subj', `/CN=${name}`, '-addext', `subjectAltName=${altName}`]
  const how = ['req', '-x509', '-nodes', '-days', '2', '-newkey', ...algorithm, ...subject]
  execFileSync('openssl', [...how, '-keyout', key, '-out', cert], { stdio: 'ignore' })
  return { cert, key }
}

/** Signs a certificate anew, such that it expired yesterday. */
export function expire({ cert, key }: CertificateFiles): void {
  execFileSync('openssl', ['x509', '-in', cert, '-signkey', key, '-days', '-1', '-out', cert], { stdio: 'ignore' })
}
