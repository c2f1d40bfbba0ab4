/**
 * Every dialect that the host speaks, and how a client's offer selects one. A version between two existing ones is a
 * delta in `upstream/stack.ts`; another family is a folder and a line here.
 */
import { agreeOnVersion } from '../versions/agreement.js';
import { ahp02 } from './ahp-0.2/codec.js';
import { ahp03 } from './ahp-0.3/codec.js';
import { withClientQuirks } from './client-quirks/dialect.js';
import type { Dialect } from './dialect.js';
import type { Dialect03, Params } from './dialect-0.3.js';
import { over03 } from './model-0.3/over.js';
import { sessionsV1 } from './sessions-v1/codec.js';
import { ahp1, olderUpstream } from './upstream/codec.js';

/** The dialect whose messages are those of the model. */
export const NATIVE_DIALECT: Dialect = withClientQuirks(ahp1);

/** Dialects of the older model, in which a session was its only chat. `over03` puts them on the present model. */
export const DIALECTS_0_3: readonly Dialect03[] = [ahp03, ahp02, sessionsV1];

/** Newest first. */
export const DIALECTS: readonly Dialect[] = [
  NATIVE_DIALECT,
  ...olderUpstream.map(withClientQuirks),
  ...DIALECTS_0_3.map(over03),
];

/** The dialect of an agreed version. Later patches and minor versions speak like the newest version known here. */
export function dialectNamed(version: string): Dialect | undefined {
  const exact = DIALECTS.find(({ traits }) => traits.version === version);
  if (exact) return exact;
  const [major, minor] = version.split('.');
  const isSame = (own: string) => own.split('.')[0] === major && (major !== '0' || own.split('.')[1] === minor);
  return DIALECTS.find(({ traits }) => isSame(traits.version));
}

/** The dialect that the shape of an `initialize` identifies; undefined when it offers a list of versions, or nothing. */
export function dialectOfferedIn(params: Params): Dialect | undefined {
  return DIALECTS.find((dialect) => dialect.isOfferedIn?.(params));
}

export { agreeOnVersion };
