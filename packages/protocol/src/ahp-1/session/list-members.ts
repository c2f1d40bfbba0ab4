/**
 * What lists of sessions show that AHP has no word for: whether a session is pinned, and which one it is a copy of. Their home
 * is a private key each of the session's `_meta`, which its summary has, too.
 */
import type { Meta } from '../common/types.js';

export const PINNED_META_KEY = 'atrium.pinned';
export const FORK_META_KEY = 'atrium.forkOf';

/** Of a model whose agent chooses its default by itself; for others it is the first of their models. */
export const OWN_DEFAULT_META_KEY = 'atrium.ownDefault';

interface WithMeta {
  readonly _meta?: Meta | undefined;
}

/** A pinned session stands above others in every list. */
export function isPinned({ _meta }: WithMeta): boolean {
  return _meta?.[PINNED_META_KEY] === true;
}

export function withPinned(meta: Meta | undefined, pinned: boolean): Meta {
  const { [PINNED_META_KEY]: _previous, ...rest } = meta ?? {};
  return pinned ? { ...rest, [PINNED_META_KEY]: true } : rest;
}

/** The session that this one began as a copy of. */
export function forkOf({ _meta }: WithMeta): string | undefined {
  const source = _meta?.[FORK_META_KEY];
  return typeof source === 'string' ? source : undefined;
}
