/**
 * The only access to SQLite: `node:sqlite` where Node has it, `libsql` elsewhere. Nothing else in the host knows which.
 *
 * Two properties of libsql 0.5 shape this file. First, it aborts the whole process when it reads a text that is not
 * UTF-8, as in a file with a damaged page. With libsql, this file therefore selects text as bytes and decodes it, so
 * that bad bytes become replacement characters: see `text`. Second, it frees a prepared statement, and with it the
 * connection, only when the garbage collector does. Only a database that is used through `exec` alone is really closed
 * by `close`; opening and repairing therefore use nothing else.
 */
import { packageOnUse } from '@atrium/core/util/package-on-use.js';

export type SqlValue = string | number | null;

export interface Statement<Row> {
  run(...values: SqlValue[]): void;
  get(...values: SqlValue[]): Row | undefined;
  all(...values: SqlValue[]): Row[];
  /** The column `bytes` of one row, which must be selected as a BLOB; its content is not decoded. */
  bytes(...values: SqlValue[]): Buffer;
}

export interface Database {
  exec(sql: string): void;
  /** `Row` is the caller's claim about the columns; nothing checks it. */
  prepare<Row = unknown>(sql: string): Statement<Row>;
  /** Stores all of the work; or stores nothing and throws the error. */
  transaction<T>(work: () => T): T;
  /** The SQL expression that selects a column of text. */
  text(column: string): string;
  close(): void;
}

export interface SqliteDriver {
  readonly name: 'node:sqlite' | 'libsql';
  open(path: string): Database;
}

/** SQLite's primary result codes that the log distinguishes. */
export const SQLITE = {
  busy: 5,
  readOnly: 8,
  corrupt: 11,
  full: 13,
  constraint: 19,
  notADatabase: 26,
} as const;

export class SqliteError extends Error {
  override readonly name = 'SqliteError';
  constructor(
    message: string,
    /** The primary result code; 0 when the driver reports none. */
    readonly code: number,
    options: ErrorOptions,
  ) {
    super(message, options);
  }
}

export async function loadDriver(): Promise<SqliteDriver> {
  return nodeDriver() ?? (await libsqlDriver());
}

/** What `node:sqlite` and `libsql` have in common. */
interface NativeStatement {
  run(...values: unknown[]): unknown;
  get(...values: unknown[]): unknown;
  all(...values: unknown[]): unknown[];
}

interface NativeDatabase {
  exec(sql: string): unknown;
  prepare(sql: string): NativeStatement;
  close(): unknown;
}

/** `require` instead of `import` saves Node from searching the text of the package for its exports. */
const libsql = packageOnUse<new (path: string) => NativeDatabase>('libsql', import.meta.url);

/** Where the two differ. */
interface Dialect {
  bind(values: SqlValue[]): unknown[];
  text(column: string): string;
  row(row: unknown): unknown;
}

const NODE_DIALECT: Dialect = {
  bind: (values) => values,
  text: (column) => column,
  row: (row) => row,
};

const LIBSQL_DIALECT: Dialect = {
  // With one array instead of many arguments, libsql need not build that array itself.
  bind: (values) => [values],
  text: (column) => `CAST(${column} AS BLOB)`,
  row: decodeBytes,
};

/** Undefined in a Node before 22.13, which has no `node:sqlite`. */
export function nodeDriver(): SqliteDriver | undefined {
  const module: unknown = process.getBuiltinModule?.('node:sqlite');
  if (!module) return undefined;
  const { DatabaseSync } = module as { DatabaseSync: new (path: string) => NativeDatabase };
  return { name: 'node:sqlite', open: (path) => openDatabase(() => new DatabaseSync(path), NODE_DIALECT) };
}

export async function libsqlDriver(): Promise<SqliteDriver> {
  const Libsql = installed();
  return { name: 'libsql', open: (path) => openDatabase(() => new Libsql(path), LIBSQL_DIALECT) };
}

function installed(): ReturnType<typeof libsql> {
  try {
    return libsql();
  } catch (error) {
    const why = error instanceof Error ? error.message.split('\n')[0] : String(error);
    const advice = 'install Atrium again, with optional packages, or use Node 22.13 or newer, which has SQLite inside';
    throw new Error(`SQLite cannot be loaded: ${advice} (${why})`, { cause: error });
  }
}

function openDatabase(open: () => NativeDatabase, dialect: Dialect): Database {
  const native = guarded(open);
  const exec = (sql: string): void => guarded(() => void native.exec(sql));
  return {
    exec,
    prepare: <Row>(sql: string) =>
      wrapStatement<Row>(
        guarded(() => native.prepare(sql)),
        dialect,
      ),
    transaction: (work) => inTransaction(exec, work),
    text: dialect.text,
    close: () => guarded(() => void native.close()),
  };
}

function wrapStatement<Row>(native: NativeStatement, { bind, row }: Dialect): Statement<Row> {
  return {
    run: (...values) => guarded(() => void native.run(...bind(values))),
    get: (...values) => guarded(() => row(native.get(...bind(values))) as Row | undefined),
    all: (...values) => guarded(() => native.all(...bind(values)).map(row) as Row[]),
    bytes: (...values) => guarded(() => bytesOf(native.get(...bind(values)))),
  };
}

/** Copies only bytes that the driver returns without a copy of their own. */
function bytesOf(row: unknown): Buffer {
  const { bytes } = (row ?? {}) as { bytes?: Uint8Array | null };
  return bytes ? Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength) : Buffer.alloc(0);
}

/** libsql returns bytes as a Buffer for one row, and as an ArrayBuffer for many. */
function decodeBytes(row: unknown): unknown {
  const columns = row as Record<string, unknown> | undefined;
  for (const name in columns) {
    const value = columns[name];
    if (value instanceof ArrayBuffer) columns[name] = Buffer.from(value).toString();
    else if (Buffer.isBuffer(value)) columns[name] = value.toString();
  }
  return columns;
}

function inTransaction<T>(exec: (sql: string) => void, work: () => T): T {
  exec('BEGIN IMMEDIATE');
  try {
    const result = work();
    exec('COMMIT');
    return result;
  } catch (error) {
    rollback(exec);
    throw error;
  }
}

/** After some errors SQLite has rolled back by itself, and then reports that there is nothing to roll back. */
function rollback(exec: (sql: string) => void): void {
  try {
    exec('ROLLBACK');
  } catch {}
}

function guarded<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw new SqliteError(error instanceof Error ? error.message : String(error), codeOf(error), { cause: error });
  }
}

/** libsql names it `rawCode`, Node `errcode`; both return the extended code, whose low byte is the primary one. */
function codeOf(error: unknown): number {
  const { rawCode, errcode } = error as { rawCode?: unknown; errcode?: unknown };
  const code = rawCode ?? errcode;
  return typeof code === 'number' ? code & 0xff : 0;
}
