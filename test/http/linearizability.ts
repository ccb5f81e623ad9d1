// Whether the operations of a history, which overlapped in time, could have happened one after the other (Herlihy and
// Wing).

export interface Operation<State> {
  readonly calledAt: number
  readonly returnedAt: number
  /** Whether nobody knows if it was done at all; it returned at infinity then. */
  readonly isInDoubt?: boolean
  /** What the operation does to a state, and whether what its caller saw is possible in it. */
  apply(state: State): { readonly isPossible: boolean; readonly next: State }
}

/**
 * Searches an order in which every operation takes its place between its call and its return, and all of them are
 * possible; one that is in doubt may also have no place. States are compared as texts.
 */
export function isLinearizable<State>(history: readonly Operation<State>[], initial: State): boolean {
  const numbers = new Map(history.map((operation, number) => [operation, number]))
  const visited = new Set<string>()
  const search = (left: readonly Operation<State>[], state: State): boolean => {
    if (left.every(({ isInDoubt }) => isInDoubt)) return true
    const key = `${left.map((operation) => numbers.get(operation))}: ${String(state)}`
    if (visited.has(key)) return false
    visited.add(key)
    const firstReturn = Math.min(...left.map(({ returnedAt }) => returnedAt))
    return left.some((operation) => {
      if (operation.calledAt > firstReturn) return false
      const { isPossible, next } = operation.apply(state)
      return (
        isPossible &&
        search(
          left.filter((other) => other !== operation),
          next,
        )
      )
    })
  }
  return search(
    history.toSorted((a, b) => a.calledAt - b.calledAt),
    initial,
  )
}
