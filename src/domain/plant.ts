// What a plant is. The bounds of its texts stand in openapi.yaml, which every adapter validates against.

/** A plant as it is answered. `name` and `tag` are any text without NUL and without unpaired surrogates. */
export interface Plant {
  readonly name: string
  readonly tag?: string
}

/** A plant with its identification number: an int64, always a bigint, never a JavaScript number. */
export interface NewPlant extends Plant {
  readonly id: bigint
}

export const int64Min = -(2n ** 63n)
export const int64Max = 2n ** 63n - 1n
