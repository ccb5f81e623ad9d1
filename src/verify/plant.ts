// Plants as the rows send them and read them.

/** A plant without its id: the response to a create. */
export interface Plant {
  readonly name: string
  readonly tag?: string
}

export interface NewPlant extends Plant {
  readonly id: bigint
}

/** Makes a plant. A plant without a tag has no property `tag`. */
export function plantOf({ name, tag }: { readonly name: string; readonly tag?: string | undefined }): Plant {
  return tag === undefined ? { name } : { name, tag }
}

/** Serializes a plant as JSON, with the exact digits of its id. */
export function plantJson(id: bigint | string, name: string, tag?: string): string {
  const begun = `{"id":${id},"name":${JSON.stringify(name)}`
  return tag === undefined ? `${begun}}` : `${begun},"tag":${JSON.stringify(tag)}}`
}
