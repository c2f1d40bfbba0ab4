/** Every dialect over the 1.0 model, and how a client's offer selects one. A new one is a folder and a line here. */
import { agreeOnVersion } from '../versions/agreement.js';
import { ahp02 } from './ahp-0.2/codec.js';
import { ahp03 } from './ahp-0.3/codec.js';
import { withClientQuirks } from './client-quirks/dialect.js';
import type { Params } from './dialect.js';
import type { ModelDialect } from './dialect-1.js';
import { over03 } from './model-0.3/over.js';
import { sessionsV1 } from './sessions-v1/codec.js';
import { ahp1, olderUpstream } from './upstream/codec.js';

/** The dialect whose messages are those of the model. */
export const NATIVE_MODEL_DIALECT: ModelDialect = withClientQuirks(ahp1);

/** Newest first. */
export const MODEL_DIALECTS: readonly ModelDialect[] = [
  NATIVE_MODEL_DIALECT,
  ...olderUpstream.map(withClientQuirks),
  over03(ahp03),
  over03(ahp02),
  over03(sessionsV1),
];

/** The dialect of a version that was agreed on. Later patches and minors speak like the newest version that we know. */
export function modelDialectNamed(version: string): ModelDialect | undefined {
  const exact = MODEL_DIALECTS.find(({ traits }) => traits.version === version);
  if (exact) return exact;
  const [major, minor] = version.split('.');
  const isSame = (own: string) => own.split('.')[0] === major && (major !== '0' || own.split('.')[1] === minor);
  return MODEL_DIALECTS.find(({ traits }) => isSame(traits.version));
}

/** The dialect that the shape of an `initialize` identifies; undefined when it offers a list of versions, or nothing. */
export function modelDialectOfferedIn(params: Params): ModelDialect | undefined {
  return MODEL_DIALECTS.find((dialect) => dialect.isOfferedIn?.(params));
}

export { agreeOnVersion };
