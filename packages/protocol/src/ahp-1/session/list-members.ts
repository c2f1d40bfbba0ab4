/**
 * What session lists show that AHP cannot express: whether a session is pinned, and which session it is a copy of. Each
 * is stored under a private key of the session's `_meta`, which its summary has, too.
 */
import type { Meta } from '../common/types.js';

export const PINNED_META_KEY = 'atrium.pinned';
export const FORK_META_KEY = 'atrium.forkOf';

/** Set for a model whose agent chooses its default itself; for other agents, the default is their first model. */
export const OWN_DEFAULT_META_KEY = 'atrium.ownDefault';

interface WithMeta {
  readonly _meta?: Meta | undefined;
}

/** True for a pinned session, which lists show above others. */
export function isPinned({ _meta }: WithMeta): boolean {
  return _meta?.[PINNED_META_KEY] === true;
}

export function withPinned(meta: Meta | undefined, pinned: boolean): Meta {
  const { [PINNED_META_KEY]: _previous, ...rest } = meta ?? {};
  return pinned ? { ...rest, [PINNED_META_KEY]: true } : rest;
}

/** The session of which this one began as a copy. */
export function forkOf({ _meta }: WithMeta): string | undefined {
  const source = _meta?.[FORK_META_KEY];
  return typeof source === 'string' ? source : undefined;
}
