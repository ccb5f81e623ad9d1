// Opens several things at once.

/** Gives all of them, or closes those that were opened and throws: what is left open would keep the test run. */
export async function openAll<T extends AsyncDisposable>(opening: readonly Promise<T>[]): Promise<readonly T[]> {
  const results = await Promise.allSettled(opening)
  const opened = results.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []))
  const failed = results.find((result) => result.status === 'rejected')
  if (failed === undefined) return opened
  await Promise.all(opened.map((each) => each[Symbol.asyncDispose]()))
  throw failed.reason
}
