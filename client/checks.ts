// Checks of answers: whether a value has the properties that every document requires.

export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

export function hasName(value: unknown): boolean {
  return isObject(value) && typeof value['name'] === 'string'
}

export function isPlant(value: unknown): boolean {
  return hasName(value) && isObject(value) && typeof value['id'] === 'bigint'
}

export function isChange(value: unknown): boolean {
  if (!isObject(value)) return false
  return typeof value['position'] === 'string' && typeof value['kind'] === 'string' && isPlant(value['plant'])
}

export function isListOf(isItem: (value: unknown) => boolean) {
  return (value: unknown): boolean => Array.isArray(value) && value.every(isItem)
}

export function isSummary(value: unknown): boolean {
  return isObject(value) && Array.isArray(value['tags'])
}
