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
 * possible; one that is in doubt may also have no place. States are compared as keys of a set.
 */
export function isLinearizable<State>(history: readonly Operation<State>[], initial: State): boolean {
  const operations = [...history].sort((a, b) => a.calledAt - b.calledAt)
  const done = new Array<boolean>(operations.length).fill(false)
  const visited = new Set<string>()
  let certain = operations.filter(({ isInDoubt }) => !isInDoubt).length
  const place = (index: number, isDone: boolean): void => {
    done[index] = isDone
    if (!operations[index]?.isInDoubt) certain += isDone ? -1 : 1
  }

  /**
   * Places the operations from `first` on, some of which are placed already. Depth is bounded by trying few at a time.
   */
  const stack: { first: number; state: State; placed: number; tried: number }[] = [
    { first: 0, state: initial, placed: -1, tried: 0 },
  ]
  for (;;) {
    const frame = stack.at(-1)
    if (frame === undefined) return false
    while (done[frame.first]) frame.first += 1
    if (certain === 0) return true
    const next = nextCandidate(operations, done, frame.first, frame.tried)
    if (next === undefined) {
      stack.pop()
      if (frame.placed >= 0) place(frame.placed, false)
      continue
    }
    frame.tried = next + 1
    const { isPossible, next: state } = (operations[next] as Operation<State>).apply(frame.state)
    if (!isPossible) continue
    place(next, true)
    let first = frame.first
    while (done[first]) first += 1
    const key = `${first}:${pendingKey(done, first)}:${String(state)}`
    if (visited.has(key)) {
      place(next, false)
      continue
    }
    visited.add(key)
    stack.push({ first, state, placed: next, tried: first })
  }
}

/** The first operation from `tried` on that may come next: none that is not placed returned before it was called. */
function nextCandidate<State>(
  operations: readonly Operation<State>[],
  done: readonly boolean[],
  first: number,
  tried: number,
): number | undefined {
  let earliestReturn = Number.POSITIVE_INFINITY
  for (let index = first; index < operations.length; index += 1) {
    const operation = operations[index] as Operation<State>
    if (operation.calledAt > earliestReturn) return undefined
    if (done[index]) continue
    if (index >= tried) return index
    earliestReturn = Math.min(earliestReturn, operation.returnedAt)
  }
  return undefined
}

/** Which operations past the first open one are placed: no two different sets may have one key. */
function pendingKey(done: readonly boolean[], first: number): string {
  const placed: number[] = []
  for (let index = done.lastIndexOf(true); index > first; index -= 1) if (done[index]) placed.push(index - first)
  return placed.join(',')
}
