// The table of plants for Hono and Express: one INSERT per request, on disk before the response, as in most programs.
// Argument: the file of the database.

import { DatabaseSync } from 'node:sqlite'

const database = new DatabaseSync(process.argv[2])
database.exec(`PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;
CREATE TABLE IF NOT EXISTS plants (id INTEGER PRIMARY KEY, name TEXT NOT NULL, tag TEXT) STRICT`)
const insert = database.prepare('INSERT INTO plants (id, name, tag) VALUES (?, ?, ?)')
const select = database.prepare('SELECT id, name, tag FROM plants WHERE id = ?')

export const insertPlant = ({ id, name, tag }) => insert.run(id, name, tag ?? null)

export const selectPlant = (id) => select.get(Number(id))
