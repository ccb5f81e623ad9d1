// Types for the package pgpass, which has none.

declare module 'pgpass' {
  /** Looks up a password in the file named by PGPASSFILE, or in ~/.pgpass. */
  export default function pgpass(
    connection: { host: string; port: number; database: string; user: string },
    callback: (password: string | undefined) => void,
  ): void
}
