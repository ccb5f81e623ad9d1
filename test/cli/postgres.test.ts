// The program on PostgreSQL: every command on a store, moving plants from a file, TLS, and the warnings of a server.

import assert from 'node:assert/strict'
import { copyFile, readFile, writeFile } from 'node:fs/promises'
import { after, describe } from 'node:test'
import pg from 'pg'
import { makeCertificate, noOpenssl } from '../support/certificate.ts'
import { exhaustiveOnFolder, onFolder } from '../support/folder.ts'
import { toPlant } from '../support/plants.ts'
import { exhaustiveOnCluster, makeCluster, startCluster, startDatabase } from '../support/postgres.ts'
import { cleanEnvironment, houseplants, runHere, runProgram, startProgram } from '../support/program.ts'
import { exhaustive } from '../support/ring.ts'
import { openTestStore } from '../support/store.ts'
import { until } from '../support/time.ts'

const odd = [
  '{"id":-9223372036854775808,"name":"line\\nbreak, \\"quotes\\" and \\\\ {braces}","tag":"NULL"}',
  '{"id":-1,"name":"","tag":""}',
  '{"id":0,"name":"e\\u0301 is not \\u00e9"}',
  '{"id":9223372036854775807,"name":"شجرة 🌿","tag":"\\u0001\\u001f"}',
]

describe('the program on PostgreSQL', async () => {
  const database = await startDatabase()
  after(() => database[Symbol.asyncDispose]())

  onFolder('plants go from a file to PostgreSQL and back, byte for byte', async (folder) => {
    const place = await database.makePlace()
    const [file, again] = [folder.file('first.db'), folder.file('again.db')]
    await writeFile(folder.file('plants.ndjson'), `${odd.join('\n')}\n`)
    for (const name of [folder.file('plants.ndjson'), houseplants]) {
      assert.equal((await runHere(['import', name, '--store', file, '--on-conflict', 'skip'])).status, 0)
    }
    const carry = async (from: string, to: string, name: string): Promise<string> => {
      const exported = await runHere(['export', folder.file(name), '--store', from])
      assert.equal(exported.status, 0, exported.stderr)
      const imported = await runHere(['import', folder.file(name), '--store', to])
      assert.equal(imported.status, 0, imported.stderr)
      return readFile(folder.file(name), 'utf8')
    }
    const one = await carry(file, place, 'one.ndjson')
    assert.ok(one.split('\n').length > 100)
    assert.equal(await carry(place, again, 'two.ndjson'), one)
    assert.match((await runHere(['check', '--store', place])).stdout, /^no damage was found in .* \d+ plants\n$/)
    const client = new pg.Client({ connectionString: place })
    await client.connect()
    await client.query(`UPDATE plants SET name_folded = 'x' WHERE id = -1`)
    await client.query(`INSERT INTO plants VALUES (-100, 'null', ''), (-101, '{"id":-1010,"name":"n"}', 'n')`)
    await client.query(`INSERT INTO plants VALUES (-102, '{"id":-102}', 'n')`)
    await client.end()
    const { status, stdout, stderr } = await runHere(['check', '--store', place])
    assert.equal(status, 1)
    assert.deepEqual(stderr.split('\n'), [
      'plant -102 has another id, or no name, in its JSON',
      'plant -101 has another id, or no name, in its JSON',
      'plant -100 has another id, or no name, in its JSON',
      'plant -1 cannot be found by its name',
      '',
    ])
    assert.match(stdout, /is damaged\n$/)
    const input = ['{"id":7,"name":"n"}\n', 'nonsense\n'].map((line) => Buffer.from(line))
    const broken = await runHere(['import', '-', '--store', place, '--rejects', '/dev/full'], { input })
    assert.match(broken.stderr, /; everything up to line 1 was kept, perhaps more; /)
  })

  onFolder('commands that only look, and a dry run, make no tables', async (folder) => {
    const place = await database.makePlace()
    await writeFile(folder.file('in.ndjson'), '{"id":1,"name":"a"}\n{"id":1,"name":"b"}\n')
    const dryRun = await runHere(['import', folder.file('in.ndjson'), '--dry-run', '--store', place])
    assert.match(dryRun.stderr, /^1 could be created, 0 replaced, 0 unchanged, 1 refused \(a dry run/m)
    for (const args of [['check'], ['export'], ['token', 'list'], ['token', 'revoke', 'tok_1']]) {
      const { status, stdout, stderr } = await runHere([...args, '--store', place])
      assert.deepEqual([status, stdout], [1, ''])
      assert.match(stderr, /^plantstore: there is no store in postgres:[^\n]* yet; [^\n]*\n$/)
    }
  })

  exhaustiveOnCluster('a server whose user may not write does not start', async (cluster) => {
    await runHere(['token', 'create', '--name', 'n', '--store', cluster.url])
    await cluster.query('CREATE USER reader; GRANT SELECT ON ALL TABLES IN SCHEMA public TO reader')
    const place = cluster.url.replace('postgres@', 'reader@')
    const { status, stderr } = await runHere(['serve', '--port', '0', '--store', place])
    assert.equal(status, 1)
    assert.match(stderr, /^plantstore: [^\n]* cannot be opened: this user may not read and change the table \w+\n$/m)
  })

  exhaustiveOnFolder('an import that loses its database says where, and is completed by another', async (folder) => {
    await using cluster = await startCluster()
    const lines = Array.from({ length: 100_000 }, (_, id) => `{"id":${id},"name":"plant ${id}"}\n`)
    await writeFile(folder.file('in.ndjson'), lines.join(''))
    // Its input has no end before the database is gone.
    const first = startProgram(['import', '-', '--store', cluster.url])
    first.process.stdin.write(lines.slice(0, -1).join(''))
    const count = async (): Promise<number> =>
      Number((await cluster.query('SELECT count(*) FROM plants').catch(() => [[0]]))[0]?.[0])
    await until('something is committed', async () => (await count()) > 0)
    await cluster.stop('immediate')
    first.process.stdin.end(lines.at(-1))
    const { status, stderr } = await first.finished
    assert.equal(status, 1)
    assert.match(
      stderr,
      /^plantstore: the import stopped early \(the database [^:]*: .+\); everything up to line \d+ was /,
    )
    assert.match(stderr, /^[^\n]* kept, perhaps more; .*--on-conflict skip\n$/)
    await cluster.start()
    const flags = ['--store', cluster.url, '--on-conflict', 'skip']
    const again = await runHere(['import', folder.file('in.ndjson'), ...flags])
    assert.equal(again.status, 0, again.stderr)
    assert.equal((await runHere(['export', '--store', cluster.url])).stdout, lines.join(''))
  })

  onFolder('backup and restore name the tools of PostgreSQL, and no command the password', async (folder) => {
    const store = 'postgres://user:secret@127.0.0.1:1/plants?password=secret'
    for (const [args, message] of [
      [['backup', folder.file('x')], /pg_dump .* postgres:\/\/user@127\.0\.0\.1:1\/plants$/m],
      [['restore', folder.file('x')], /pg_restore .*=postgres:\/\/user@127\.0\.0\.1:1\/plants /m],
      [['check'], /postgres:\/\/user@127\.0\.0\.1:1\/plants cannot be opened: .*ECONNREFUSED/],
      [['token', 'list'], /cannot be opened/],
      [['serve'], /cannot be opened/],
    ] as const) {
      const environment = { PGPASSWORD: 'secret' }
      const { status, stdout, stderr } = await runHere([...args, '--store', store], { environment })
      assert.equal(status, 1)
      assert.match(stderr, message)
      assert.match(stderr, /^[^\n]*\n$/)
      assert.doesNotMatch(stdout + stderr, /secret/)
    }
    const { stdout } = await runHere(['config', '--store', store])
    assert.match(stdout, /^store +postgres:\/\/user@127\.0\.0\.1:1\/plants +flag --store$/m)
    assert.doesNotMatch(stdout, /secret/)
  })

  exhaustive.test('sslmode makes sure of the server', { skip: noOpenssl }, async () => {
    await using cluster = await makeCluster()
    const data = { file: (name: string): string => `${cluster.folder}/data/${name}` }
    const { key, cert: certificate } = makeCertificate(data, 'server', { kind: 'RSA', altName: 'DNS:localhost' })
    const { cert: other } = makeCertificate(data, 'other', { kind: 'RSA' })
    cluster.own(key)
    await cluster.start(['ssl=on'])
    const urlOf = (host: string, parameters: string): string =>
      `postgres://postgres@${host}:${cluster.port}/postgres?${parameters}`
    const list = (host: string, parameters: string) =>
      runProgram(['token', 'create', '--name', 'n', '--store', urlOf(host, parameters)])
    const fine = [
      ['localhost', `sslmode=verify-full&sslrootcert=${certificate}`],
      ['127.0.0.1', `sslmode=verify-ca&sslrootcert=${certificate}`],
      ['127.0.0.1', 'sslmode=require'],
      ['127.0.0.1', 'sslmode=prefer'],
      ['127.0.0.1', 'sslmode=disable'],
    ] as const
    for (const [host, parameters] of fine) assert.equal((await list(host, parameters)).status, 0, parameters)
    const impostors = [
      ['127.0.0.1', `sslmode=verify-full&sslrootcert=${certificate}`, /does not match/],
      ['localhost', 'sslmode=verify-full', /self-signed/],
      ['localhost', `sslmode=verify-ca&sslrootcert=${other}`, /self-signed|unable to verify/],
    ] as const
    for (const [host, parameters, message] of impostors) {
      const { status, stderr } = await list(host, parameters)
      assert.equal(status, 1)
      assert.match(stderr, message)
    }
    // A server that runs reads the files again, as psql would.
    const trusted = data.file('trusted.crt')
    await copyFile(certificate, trusted)
    await using store = await openTestStore(urlOf('localhost', `sslmode=verify-full&sslrootcert=${trusted}`))
    assert.equal(await store.createPlant(toPlant({ id: 1n, name: 'before' })), 'created')
    cluster.own(makeCertificate(data, 'server', { kind: 'RSA', altName: 'DNS:localhost' }).key)
    await copyFile(certificate, trusted)
    await cluster.query('SELECT pg_reload_conf()')
    await until('new sessions are begun with the new certificate', async () => {
      await cluster.query(
        `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'plantstore'`,
      )
      return (await list('localhost', `sslmode=verify-full&sslrootcert=${trusted}`)).status === 0
    })
    await until('the server is back', () => store.isAvailable)
    assert.equal(await store.createPlant(toPlant({ id: 2n, name: 'after' })), 'created')
  })

  exhaustiveOnFolder('the password is taken from the password file', async (folder) => {
    await using cluster = await startCluster()
    await cluster.query(`CREATE USER garden PASSWORD 'se:cret'; GRANT ALL ON SCHEMA public TO garden`)
    await writeFile(`${cluster.folder}/data/pg_hba.conf`, 'host all all 127.0.0.1/32 scram-sha-256\n')
    cluster.signal('SIGHUP')
    const store = `postgres://garden@127.0.0.1:${cluster.port}/postgres`
    const env = { ...cleanEnvironment(), PGPASSFILE: folder.file('pgpass') }
    await writeFile(folder.file('pgpass'), `127.0.0.1:${cluster.port}:*:garden:se\\:cret\n`, { mode: 0o600 })
    const list = (more: NodeJS.ProcessEnv) =>
      runProgram(['token', 'create', '--name', 'n', '--store', store], { env: { ...env, ...more } })
    await until('passwords are asked for', async () => (await list({ PGPASSWORD: 'wrong' })).status !== 0)
    assert.match((await list({ PGPASSWORD: 'wrong' })).stderr, /password authentication failed.*PGPASSWORD/)
    const named = await list({ PGPASSWORD: 'se:cret' })
    assert.equal(named.status, 0, named.stderr)
    const { status, stderr } = await list({})
    assert.match(stderr, /^Token tok_[^\n]*\n$/)
    assert.equal(status, 0)
  })
})
