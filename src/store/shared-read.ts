// Coalesces an expensive read: calls made while a read is in progress share the next one.

/** The result of each call is that of a read that begins after it, and so sees all earlier changes. */
export function shareRead<T>(read: () => Promise<T>): () => Promise<T> {
  let underWay: Promise<unknown> | undefined
  let next: Promise<T> | undefined
  const begin = async (): Promise<T> => {
    await underWay
    next = undefined
    const reading = read()
    underWay = reading.catch(() => {})
    return reading
  }
  return () => {
    next ??= begin()
    return next
  }
}
