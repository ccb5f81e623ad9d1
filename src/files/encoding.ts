// Detects the encoding of a text file by its byte order mark: UTF-8, with or without a mark, or UTF-16 with one.

import { UnreadableFile } from './records.ts'

export interface TextFile {
  readonly encoding: 'UTF-8' | 'UTF-16'
  /** The first piece, for detecting the kind of file. */
  readonly beginning: Buffer
  /** The whole file in UTF-8, without its byte order mark. */
  readonly pieces: AsyncIterable<Buffer>
}

const marks = {
  'utf-8': Buffer.of(0xef, 0xbb, 0xbf),
  'utf-16le': Buffer.of(0xff, 0xfe),
  'utf-16be': Buffer.of(0xfe, 0xff),
}
const markBytesMax = 3

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
  if (startsWith(marks['utf-16le'])) return toUtf8('utf-16le', start, source)
  if (startsWith(marks['utf-16be'])) return toUtf8('utf-16be', start, source)
  const beginning = startsWith(marks['utf-8']) ? start.subarray(marks['utf-8'].length) : start
  return { encoding: 'UTF-8', beginning, pieces: piecesOf(beginning, source, (piece) => piece) }
}

function toUtf8(label: 'utf-16le' | 'utf-16be', start: Buffer, source: AsyncIterator<Buffer>): TextFile {
  const decoder = new TextDecoder(label, { fatal: true })
  const decode = (piece?: Buffer): Buffer => {
    try {
      return Buffer.from(decoder.decode(piece, { stream: piece !== undefined }))
    } catch {
      throw new UnreadableFile('is not valid UTF-16, although it begins with its byte order mark; save it as CSV UTF-8')
    }
  }
  const beginning = decode(start)
  return { encoding: 'UTF-16', beginning, pieces: piecesOf(beginning, source, decode) }
}

/** @param decode called without a piece at the end. */
async function* piecesOf(
  beginning: Buffer,
  source: AsyncIterator<Buffer>,
  decode: (piece?: Buffer) => Buffer | undefined,
): AsyncGenerator<Buffer> {
  yield beginning
  for (;;) {
    const next = await source.next()
    const piece = next.done === true ? decode() : decode(next.value)
    if (piece !== undefined) yield piece
    if (next.done === true) return
  }
}
