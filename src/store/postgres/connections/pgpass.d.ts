// The types of the package pgpass, which has none.

declare module 'pgpass' {
  /** Finds a password in the file that PGPASSFILE names, else ~/.pgpass. */
  export default function pgpass(
    connection: { host: string; port: number; database: string; user: string },
    callback: (password: string | undefined) => void,
  ): void
}
