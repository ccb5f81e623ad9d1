// The authenticated caller of an operation, by any kind of credential.

/** Permissions of a caller: the role names of the security requirements in openapi.yaml. */
export const allScopes = ['plants:read', 'plants:write'] as const

export type Scope = (typeof allScopes)[number]

export interface Caller {
  /** Identifies the credential, for people, in logs and for Idempotency-Keys. Reveals nothing about its secret. */
  readonly id: string
  /** Display name: the name of the token, or the subject of a JWT. */
  readonly name: string
  readonly scopes: readonly Scope[]
  /** Expiry time, by the wall clock; Infinity if the credential does not expire. */
  readonly validUntilMs: number
}
