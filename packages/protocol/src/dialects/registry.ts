/** Every dialect that this package has. A new one is a folder and a line here. */
import { ahp02 } from './ahp-0.2/codec.js';
import { ahp03 } from './ahp-0.3/codec.js';
import type { Dialect, Params } from './dialect.js';
import type { ModelDialect } from './dialect-1.js';
import { over03 } from './model-0.3/over.js';
import { sessionsV1 } from './sessions-v1/codec.js';

/** Newest first. */
export const DIALECTS: readonly Dialect[] = [ahp03, ahp02, sessionsV1];

/** The same versions over the 1.0 model, for a host that has it. */
export const OLDER_DIALECTS: readonly ModelDialect[] = DIALECTS.map(over03);

/** The dialect whose messages are those of the internal model. */
export const NATIVE_DIALECT: Dialect = ahp03;

/** The dialect of a version. The host stores the version of each client for when it returns. */
export function dialectNamed(version: string): Dialect | undefined {
  return DIALECTS.find(({ traits }) => traits.version === version);
}

/** The dialect that the shape of an `initialize` identifies; undefined when it offers a list of versions, or nothing. */
export function dialectOfferedIn(params: Params): Dialect | undefined {
  return DIALECTS.find((dialect) => dialect.isOfferedIn?.(params));
}
