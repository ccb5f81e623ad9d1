// Connection URLs and PG* variables, as libpq has them.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { OperatorError } from '../../src/domain/errors.ts'
import { describeUrl, parseAddress, readTlsAttempts, settingsOf } from '../../src/store/postgres/connections/address.ts'

const oneHost = /^the store must have one host; put HAProxy in front of several hosts \(docs\/postgresql\.md\)/

describe('the address of a database', () => {
  test('all parts may stand in the URL', () => {
    const { tls, ...others } = parseAddress(
      'postgresql://gar%40den:p%2Fw@[::1]:5433/my%20plants?connect_timeout=7&application_name=a&options=-csearch_path%3Dx&sslmode=require',
      { PGUSER: 'other', PGHOST: 'other', PGPORT: '1' },
    )
    const found = { mode: tls.mode, ...others }
    assert.deepEqual(found, {
      mode: 'require',
      host: '::1',
      port: 5433,
      user: 'gar@den',
      password: 'p/w',
      database: 'my plants',
      connectMsMax: 7_000,
      applicationName: 'a',
      options: '-csearch_path=x',
    })
  })

  test('what the URL does not say is taken from PG* variables', () => {
    const environment = {
      PGHOST: 'a',
      PGPORT: '6000',
      PGUSER: 'u',
      PGPASSWORD: 'p',
      PGDATABASE: 'd',
      PGSSLMODE: 'disable',
      PGCONNECT_TIMEOUT: '3',
      PGAPPNAME: 'n',
      PGOPTIONS: '-cx=y',
    }
    assert.deepEqual(parseAddress('postgres://', environment), {
      host: 'a',
      port: 6000,
      user: 'u',
      password: 'p',
      database: 'd',
      tls: { mode: 'disable', rootFile: undefined, certFile: undefined, keyFile: undefined },
      connectMsMax: 3_000,
      applicationName: 'n',
      options: '-cx=y',
    })
  })

  test('a plus sign in a parameter stands for itself, as in libpq', () => {
    assert.equal(parseAddress('postgres://u@h/d?password=a+b%2Bc=d', {}).password, 'a+b+c=d')
  })

  test('the variables that fill in a URL are told, a password without its value', () => {
    const environment = { PGHOST: 'db1', PGUSER: 'u', PGPASSWORD: 'top-secret', PGPORT: '', PATH: '/bin' }
    assert.deepEqual(settingsOf('postgres://me@/plants', environment), [
      ['PGHOST', 'db1'],
      ['PGPASSWORD', '(set, not shown)'],
    ])
  })

  test('the database is called as its user unless it has a name', () => {
    assert.equal(parseAddress('postgres://garden@h', {}).database, 'garden')
  })

  test('sslmode says whether there is TLS, and what it makes sure of', () => {
    const attempts = (mode: string) =>
      readTlsAttempts(parseAddress(`postgres://h?sslmode=${mode}`, {}).tls).map((attempt) =>
        attempt === false ? 'plain' : attempt.rejectUnauthorized,
      )
    assert.deepEqual(attempts('disable'), ['plain'])
    assert.deepEqual(attempts('allow'), ['plain', false])
    assert.deepEqual(readTlsAttempts(parseAddress('postgres://h', {}).tls), [{ rejectUnauthorized: false }, false])
    assert.deepEqual(attempts('require'), [false])
    assert.deepEqual(attempts('verify-full'), [undefined])
  })

  const aUrl = /URL such as postgres/
  const unknown = /an unknown parameter/
  for (const [url, message, environment = {}] of [
    ['postgres://a:secret@b:c:d/e', aUrl],
    ['postgres://a:secret@secret@b/e', aUrl],
    ['postgres://a:sec/secret@b/e', aUrl],
    ['postgres://a:sec?secret@b/e', aUrl],
    ['postgres://a:secret@b/e?nosuch=1', unknown],
    ['postgres://a:secret@b/e?target_session_attrs=standby', unknown],
    ['postgres://a:secret@b/e?sslmode=maybe', /^sslmode in the URL of the store must be/],
    ['postgres://a:secret@b/e?sslmode=verify-ca', /needs sslrootcert/],
    ['postgres://a:secret@b/e?sslrootcert=/no/such', /\/no\/such cannot be read/],
    ['postgres://a:secret@b:99999/e', /^port in the URL of the store must be a number .*, got 99999$/],
    ['postgres://a:secret@b/e?port=abc', /^port in the URL of the store must be .*, got abc$/],
    ['postgres://u@h/d', /^PGPORT must be a number from 1 to 65535, got 543x$/, { PGPORT: '543x' }],
    ['postgres://u@h/d', /^PGPORT must be a number from 1 to 65535, got 0$/, { PGPORT: '0' }],
    ['postgres://a:secret@b,c/e', oneHost],
    ['postgres://b:5432,c/e', oneHost],
    ['postgres://a:secret@/e?host=b,c', oneHost],
    ['postgres://u@/d', oneHost, { PGHOST: 'a,b' }],
    ['postgres://a:secret@b/e?port=5432,5433', oneHost],
    ['postgres://a:secret@b/e?connect_timeout=soon', /^connect_timeout in the URL of the store must be/],
    ['postgres://a:secret%@b/e', /percent-encoded/],
  ] as readonly (readonly [string, RegExp, NodeJS.ProcessEnv?])[]) {
    test(`${url} is refused without its password, ${JSON.stringify(environment)}`, () => {
      assert.throws(
        () => parseAddress(url, environment),
        (error) => error instanceof OperatorError && message.test(error.message) && !error.message.includes('secret'),
      )
    })
  }

  test('a URL is shown without password and parameters', () => {
    assert.equal(describeUrl('postgres://u:p:w@h:1/d?password=x'), 'postgres://u@h:1/d')
    assert.equal(describeUrl('postgres://localhost:1/d?user=u&password=top@secret'), 'postgres://localhost:1/d')
    for (const malformed of [
      'postgres://a,b/d',
      'postgres://u:pw@x@h/d',
      'postgres://u:p/w?x@h/d?password=x',
      'postgres://u:p?w@h/d',
    ]) {
      assert.equal(describeUrl(malformed), 'postgres://...')
    }
    assert.equal(describeUrl('postgres://h/d'), 'postgres://h/d')
  })
})
