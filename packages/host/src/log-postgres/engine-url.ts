/** Where the engine is: a URL as every PostgreSQL client takes it, plus the schema in which Atrium keeps its tables. */

/** The tables of one cluster; another schema is another cluster. */
export const DEFAULT_SCHEMA = 'atrium';
const SCHEMA_NAME = /^[a-z_][a-z0-9_]{0,62}$/;
const LOOPBACK = new Set(['', 'localhost', '127.0.0.1', '[::1]', '::1']);
/** With these modes the driver sends plain text, or accepts any certificate. */
const UNCHECKED_MODES = new Set([null, 'prefer', 'allow', 'no-verify']);

export interface EngineUrl {
  /** For the driver. It may hold a password, so it is never printed. */
  readonly connection: string;
  readonly schema: string;
  /** Host, port and database, for people. */
  readonly shown: string;
}

/** The URL is unusable. The message says why. */
export class EngineUrlError extends Error {
  override readonly name = 'EngineUrlError';
}

/**
 * Parses `postgres://user@host:port/database?sslmode=verify-full&schema=atrium`. For an engine on another machine, the
 * connection is encrypted and its certificate checked, unless the URL itself says `sslmode=disable`. A password comes
 * from the URL, from the argument, or from the file that PGPASSFILE names.
 */
export function engineUrl(text: string, password?: string): EngineUrl {
  if (!URL.canParse(text))
    throw new EngineUrlError('the address of the engine is no URL: write postgres://user@host/database');
  const url = new URL(text);
  if (url.protocol !== 'postgres:' && url.protocol !== 'postgresql:')
    throw new EngineUrlError('the address of the engine begins with postgres://, as in postgres://user@host/database');
  const schema = url.searchParams.get('schema') ?? DEFAULT_SCHEMA;
  if (!SCHEMA_NAME.test(schema))
    throw new EngineUrlError('schema= in the address of the engine: small letters, digits and _, at most 63');
  url.searchParams.delete('schema');
  if (password && url.password === '') url.password = encodeURIComponent(password);
  const socket = url.searchParams.get('host');
  const isHere = LOOPBACK.has(url.hostname) && (socket === null || socket.startsWith('/'));
  if (!isHere && UNCHECKED_MODES.has(url.searchParams.get('sslmode')))
    throw new EngineUrlError(
      `the engine is on another machine (${url.hostname || socket}): add ?sslmode=verify-full to its address, or sslmode=disable where the network is yours alone`,
    );
  const shown = `${url.hostname || socket || 'localhost'}:${url.port || 5432}${url.pathname}`;
  return { connection: url.href, schema, shown: schema === DEFAULT_SCHEMA ? shown : `${shown} (${schema})` };
}
