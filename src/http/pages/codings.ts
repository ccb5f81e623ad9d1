// The content codings of the pages' files, and the choice among them.

import { promisify } from 'node:util'
import { brotliCompress, gzip } from 'node:zlib'
import { weightsOf } from '../negotiation.ts'

export type Coding = 'br' | 'gzip'

export const compress: Readonly<Record<Coding, (content: string) => Promise<Uint8Array<ArrayBuffer>>>> = {
  br: promisify(brotliCompress),
  gzip: promisify(gzip),
}

/** The coding for a client (RFC 9110, section 12.5.3): Brotli, which is smaller, if the client accepts both equally. */
export function chooseCoding(acceptEncoding = ''): Coding | undefined {
  const weights = weightsOf(acceptEncoding)
  const weightOf = (coding: string): number => weights.get(coding) ?? weights.get('*') ?? 0
  const [br, gzip] = [weightOf('br'), weightOf('gzip')]
  if (br > 0 && br >= gzip) return 'br'
  return gzip > 0 ? 'gzip' : undefined
}
