// The content codings of the pages' files, and the choice among them.

import { promisify } from 'node:util'
import { brotliCompress, gzip, constants as zlib } from 'node:zlib'
import { weightsOf } from '../negotiation.ts'

const toBrotli = promisify(brotliCompress)
const toGzip = promisify(gzip)

export type Coding = 'br' | 'gzip'

export const compress: Readonly<Record<Coding, (content: string | Uint8Array) => Promise<Uint8Array>>> = {
  // For the 4 MB of Scalar, the greatest quality takes 7 s of CPU time, and this one 0.3 s for 11 % more bytes.
  br: (content) => toBrotli(content, { params: { [zlib.BROTLI_PARAM_QUALITY]: 9 } }),
  gzip: (content) => toGzip(content),
}

/** The coding for a client (RFC 9110, section 12.5.3): Brotli, which is smaller, where both are as welcome. */
export function chooseCoding(acceptEncoding = ''): Coding | undefined {
  const weights = weightsOf(acceptEncoding)
  const weightOf = (coding: string): number => weights.get(coding) ?? weights.get('*') ?? 0
  const [br, gzip] = [weightOf('br'), weightOf('gzip')]
  if (br > 0 && br >= gzip) return 'br'
  return gzip > 0 ? 'gzip' : undefined
}
