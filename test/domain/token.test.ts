import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { isTokenValid, isWellFormedSecret, mintId, mintSecret, type Token } from '../../src/domain/token.ts'

const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'

describe('a token', () => {
  test('looks as promised: plt_, 43 and 6 base62 digits', () => {
    assert.match(mintSecret(randomBytes(32)), /^plt_[0-9A-Za-z]{49}$/)
    assert.match(mintId('tok', randomBytes(9)), /^tok_[0-9A-Za-z]{12}$/)
  })

  test('keeps all 256 bits: the largest number comes back out of the digits', () => {
    assert.equal(mintSecret(Buffer.alloc(32)).slice(4, 47), '0'.repeat(43))
    const digits = mintSecret(Buffer.alloc(32, 0xff)).slice(4, 47)
    const value = [...digits].reduce((sum, digit) => sum * 62n + BigInt(alphabet.indexOf(digit)), 0n)
    assert.equal(value, 2n ** 256n - 1n)
  })

  test('is told from a mistyped one', () => {
    const random = fc.uint8Array({ minLength: 32, maxLength: 32 })
    const mistypes = fc.property(random, fc.nat(52), fc.constantFrom(...'0aZ'), (bytes, at, digit) => {
      const secret = mintSecret(bytes)
      assert.ok(isWellFormedSecret(secret))
      const mistyped = secret.slice(0, at) + digit + secret.slice(at + 1)
      if (mistyped !== secret) assert.ok(!isWellFormedSecret(mistyped))
    })
    fc.assert(mistypes)
  })

  test('takes no other number of random bytes', () => {
    assert.throws(() => mintSecret(randomBytes(31)), TypeError)
    assert.throws(() => mintId('tok', randomBytes(8)), TypeError)
  })

  test('holds until it expires or is revoked', () => {
    const token: Token = { id: 'tok_a', hash: Buffer.alloc(32), name: 'a', scopes: [], createdAtMs: 0 }
    assert.ok(isTokenValid(token, 1e15))
    assert.ok(isTokenValid({ ...token, expiresAtMs: 10 }, 9))
    assert.ok(!isTokenValid({ ...token, expiresAtMs: 10 }, 10))
    assert.ok(!isTokenValid({ ...token, revokedAtMs: 10 }, 5))
  })
})
