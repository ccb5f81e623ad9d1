// Who calls an operation, by any kind of credential.

/** What a caller may do. These are the role names of the security requirements in openapi.yaml. */
export const allScopes = ['plants:read', 'plants:write'] as const

export type Scope = (typeof allScopes)[number]

export interface Caller {
  /** Names the credential, for people, logs and Idempotency-Keys; says nothing about its secret. */
  readonly id: string
  /** For people: the name of the token, or the subject of a JWT. */
  readonly name: string
  readonly scopes: readonly Scope[]
  /** The moment from which the credential has expired, by the wall clock; Infinity when it does not expire. */
  readonly validUntilMs: number
}
