/**
 * A connection to the engine for one purpose. It connects at its first use and again after it broke, runs one statement
 * at a time, and says of every failure whether the engine answered or could not be reached.
 */
import { LogUnavailableError } from '@atrium/core/log/log.js';
import { packageOnUse } from '@atrium/core/util/package-on-use.js';
import type pg from 'pg';
import type { EngineUrl } from './engine-url.js';

/** Hosts without a cluster never load it. */
const driver = packageOnUse<typeof pg>('pg', import.meta.url);

export const CONNECT_TIMEOUT_MS = 3_000;
/**
 * A statement that takes longer is given up together with its connection: the engine's machine may have vanished
 * silently.
 */
export const STATEMENT_TIMEOUT_MS = 15_000;
const INT8 = 20;

/** The engine exists, but was unreachable, was starting or stopping, or rolled back the work. */
const UNAVAILABLE_CLASSES = ['08', '57P', '53300', '40', '25006', '55P03', '28', '3D'];

/** The engine's answer to a statement that it refused. */
export class EngineError extends Error {
  override readonly name = 'EngineError';
  constructor(
    /** PostgreSQL's SQLSTATE, or that of one of our own functions. */
    readonly code: string,
    message: string,
    readonly detail: string | undefined,
    readonly constraint: string | undefined,
  ) {
    super(message);
  }
}

export type EngineValue = string | number | boolean | null | readonly (string | number | null)[];

export class Engine {
  readonly url: EngineUrl;
  readonly #duty: string;
  #client: Promise<pg.Client> | undefined;
  /** Resolves after the earlier statements; a connection runs one at a time. */
  #line: Promise<unknown> = Promise.resolve();
  #closed = false;

  /** `duty` says what the connection is for; the engine shows it to its operators. */
  constructor(url: EngineUrl, duty: string) {
    this.url = url;
    this.#duty = duty;
  }

  /** Runs one statement in its own transaction. Throws `EngineError` or `LogUnavailableError`. */
  run<Row extends object>(sql: string, values: readonly EngineValue[] = []): Promise<Row[]> {
    return this.#inLine((client) => query<Row>(client, sql, values));
  }

  /** Runs a statement that the engine plans once for this connection. */
  runPrepared<Row extends object>(name: string, sql: string, values: readonly EngineValue[]): Promise<Row[]> {
    return this.#inLine((client) => query<Row>(client, sql, values, name));
  }

  /** Runs several statements that see one state of the engine, or are stored together. */
  transaction<T>(mode: 'snapshot' | 'write', work: (run: Engine['run']) => Promise<T>): Promise<T> {
    const level = mode === 'snapshot' ? 'REPEATABLE READ, READ ONLY' : 'READ COMMITTED';
    return this.#inLine(async (client) => {
      await query(client, `BEGIN ISOLATION LEVEL ${level}`, []);
      try {
        const result = await work((sql, values = []) => query(client, sql, values));
        await query(client, 'COMMIT', []);
        return result;
      } catch (error) {
        await query(client, 'ROLLBACK', []).catch(() => {});
        throw error;
      }
    });
  }

  async close(): Promise<void> {
    this.#closed = true;
    const client = this.#client;
    this.#client = undefined;
    await this.#line.catch(() => {});
    await client?.then((open) => open.end()).catch(() => {});
  }

  /** Cuts the connection, even during a statement. */
  cut(): void {
    const client = this.#client;
    this.#client = undefined;
    void client?.then(destroy, () => {});
  }

  #inLine<T>(work: (client: pg.Client) => Promise<T>): Promise<T> {
    const result = this.#line.then(() => this.#attempt(work));
    this.#line = result.catch(() => {});
    return result;
  }

  async #attempt<T>(work: (client: pg.Client) => Promise<T>): Promise<T> {
    if (this.#closed) throw new LogUnavailableError('the connection to the engine is closed');
    this.#client ??= this.#connect();
    const connecting = this.#client;
    try {
      const client = await connecting;
      return await work(client);
    } catch (error) {
      const failure = failureOf(error);
      if (failure instanceof LogUnavailableError) {
        if (this.#client === connecting) this.#client = undefined;
        void connecting.then(destroy, () => {});
      }
      throw failure;
    }
  }

  async #connect(): Promise<pg.Client> {
    const { Client, types } = driver();
    const client = new Client({
      connectionString: this.url.connection,
      application_name: `atrium ${this.#duty}`,
      connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
      keepAlive: true,
      types: {
        getTypeParser: ((oid: number, format?: 'text' | 'binary') =>
          oid === INT8 ? Number : types.getTypeParser(oid, format as 'text')) as typeof types.getTypeParser,
      },
    });
    // If a connection breaks while idle, the next statement connects again.
    client.on('error', () => {
      this.#client = undefined;
    });
    try {
      await client.connect();
    } catch (error) {
      destroy(client);
      throw error;
    }
    // Settings of the server or the role must not weaken commits, or the lock that assigns the numbers.
    await inTime(
      client,
      client.query(`
      SET search_path TO ${this.url.schema};
      SET default_transaction_isolation TO 'read committed';
      SET standard_conforming_strings TO on;
      SET client_encoding TO 'UTF8';
      SELECT set_config('synchronous_commit', 'on', false) WHERE current_setting('synchronous_commit') IN ('off', 'local')`),
    );
    return client;
  }
}

async function query<Row extends object>(
  client: pg.Client,
  sql: string,
  values: readonly EngineValue[],
  name?: string,
): Promise<Row[]> {
  const statement = { text: sql, values: [...values], ...(name !== undefined && { name }) };
  const { rows } = await inTime(client, client.query<Row>(statement));
  return rows;
}

async function inTime<T>(client: pg.Client, work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new LogUnavailableError('the engine does not answer')), STATEMENT_TIMEOUT_MS);
    timer.unref();
  });
  work.catch(() => {});
  try {
    return await Promise.race([work, late]);
  } catch (error) {
    if (error instanceof LogUnavailableError) destroy(client);
    throw error;
  } finally {
    clearTimeout(timer);
  }
}

function destroy(client: pg.Client): void {
  const { stream } = (client as unknown as { connection?: { stream?: { destroy?(): void } } }).connection ?? {};
  stream?.destroy?.();
}

function failureOf(error: unknown): Error {
  if (error instanceof LogUnavailableError || error instanceof EngineError) return error;
  // Our own errors, thrown by work within a transaction, say nothing about the connection.
  if (!(error instanceof Error)) return new LogUnavailableError(String(error));
  const { code, severity, detail, constraint } = error as Error &
    Partial<Record<'code' | 'severity' | 'detail' | 'constraint', string>>;
  if (severity === undefined)
    return isOurs(error) ? error : new LogUnavailableError(`the engine cannot be reached: ${error.message || code}`);
  const isUnavailable = UNAVAILABLE_CLASSES.some((prefix) => code?.startsWith(prefix)) && code !== '40002';
  if (isUnavailable) return new LogUnavailableError(`the engine does not take statements now: ${error.message}`);
  return new EngineError(code ?? '', error.message, detail, constraint);
}

function isOurs(error: Error): boolean {
  return error.name.startsWith('Log') || error.name === 'UsageError' || error.name === 'ClusterError';
}
