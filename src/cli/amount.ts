// Amounts as people say them.

/** `1 plant`, `2 plants`. */
export function amount(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`
}
