const { rawJSON } = JSON as unknown as { rawJSON(text: string): unknown }

export function toJson(value: unknown): string {
  return JSON.stringify(value, (_key, each) => (typeof each === 'bigint' ? rawJSON(String(each)) : each))
}

export function fromJson(text: string): unknown {
  const revive = (key: string, value: unknown, { source }: { source: string }) =>
    key === 'id' ? BigInt(source) : value
  return JSON.parse(text, revive as Parameters<typeof JSON.parse>[1])
}
