// Finds the columns that the header of a CSV file names. The home page uses this file, too, so it imports only types.

import type { Column } from './columns.ts'

/** The columns that a header names. */
export interface HeaderColumns {
  /** With their index. */
  readonly known: readonly (readonly [column: Column, at: number])[]
  /** The name of a column that occurs more than once. */
  readonly repeated: string | undefined
  readonly hasIdAndName: boolean
}

/** Finds columns by their names. A name in another case stands for the property that no other column has. */
export function findColumns(header: readonly string[], columns: readonly Column[]): HeaderColumns {
  const isColumn = (name: string): boolean => columns.some((column) => column.name === name)
  // As it is, else without blanks around it, else in another case.
  const names = header.map((name) => (isColumn(name) ? name : name.trim()))
  const indexesOf = (wanted: string): readonly number[] => {
    const exact = names.flatMap((name, at) => (name === wanted ? [at] : []))
    if (exact.length > 0) return exact
    return names.flatMap((name, at) => (!isColumn(name) && name.toLowerCase() === wanted.toLowerCase() ? [at] : []))
  }
  const found = columns.map((column) => [column, indexesOf(column.name)] as const)
  const known = found.flatMap(([column, [at]]) => (at === undefined ? [] : [[column, at] as const]))
  return {
    known,
    repeated: found.find(([, indexes]) => indexes.length > 1)?.[0].name,
    hasIdAndName: ['id', 'name'].every((wanted) => known.some(([{ name }]) => name === wanted)),
  }
}

/** The separator by which a line names the columns that are needed, if there is one. */
export function findSeparator(
  line: string,
  columns: readonly Column[],
  split: (line: string, separator: string) => readonly string[],
): string | undefined {
  return [',', ';', '\t'].find((separator) => findColumns(split(line, separator), columns).hasIdAndName)
}
