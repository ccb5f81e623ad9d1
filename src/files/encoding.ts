// Detects the encoding of a text file by its byte order mark: UTF-8, with or without a mark, or UTF-16 with one.

import { UnreadableFile } from './unreadable-file.ts'

export interface TextFile {
  readonly encoding: 'UTF-8' | 'UTF-16'
  /** The whole file in UTF-8, without its byte order mark. */
  readonly pieces: AsyncIterable<Buffer>
}

const marks = {
  'utf-8': Buffer.of(0xef, 0xbb, 0xbf),
  'utf-16le': Buffer.of(0xff, 0xfe),
  'utf-16be': Buffer.of(0xfe, 0xff),
}
const markBytesMax = 3

/** Returns a piece in UTF-8; called without a piece at the end, the rest. */
type Decode = (piece?: Buffer) => Buffer

/** Begins to read a file. Passes bytes without a mark on unchanged; the reader checks whether they are UTF-8. */
export async function openText(file: AsyncIterable<Buffer>): Promise<TextFile> {
  const source = file[Symbol.asyncIterator]()
  let start: Buffer = Buffer.alloc(0)
  while (start.length < markBytesMax) {
    const next = await source.next()
    if (next.done === true) break
    start = Buffer.concat([start, next.value])
  }
  const startsWith = (mark: Buffer): boolean => start.subarray(0, mark.length).equals(mark)
  const utf16 = (['utf-16le', 'utf-16be'] as const).find((label) => startsWith(marks[label]))
  if (utf16 === undefined && startsWith(marks['utf-8'])) start = start.subarray(marks['utf-8'].length)
  const decode: Decode = utf16 === undefined ? (piece = Buffer.alloc(0)) => piece : decoderOf(utf16)
  return { encoding: utf16 === undefined ? 'UTF-8' : 'UTF-16', pieces: piecesOf(start, source, decode) }
}

function decoderOf(label: string): Decode {
  const decoder = new TextDecoder(label, { fatal: true })
  return (piece) => {
    try {
      return Buffer.from(decoder.decode(piece, { stream: piece !== undefined }))
    } catch {
      throw new UnreadableFile('is not valid UTF-16, although it begins with its byte order mark; save it as CSV UTF-8')
    }
  }
}

async function* piecesOf(start: Buffer, source: AsyncIterator<Buffer>, decode: Decode): AsyncGenerator<Buffer> {
  yield decode(start)
  for (let next = await source.next(); next.done !== true; next = await source.next()) yield decode(next.value)
  yield decode()
}
