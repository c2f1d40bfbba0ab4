/**
 * The model and the agent of a whole session. AHP 1.0 names them only on messages; our host and the dialects below 0.5
 * also keep a selection between turns, under one private key of the session's `_meta`.
 */
import type { AgentSelection, Meta, ModelSelection } from '../common/types.js';

/** The key in `SessionState._meta` and `SessionSummary._meta` with a `SessionSelection`. */
export const SELECTION_META_KEY = 'atrium.selection';

/** The model and the agent for messages that name none. */
export interface SessionSelection {
  readonly model?: ModelSelection;
  readonly agent?: AgentSelection;
}

/** The selection in a session's metadata; only our own host writes the key, so its shape is trusted. */
export function selectionOf(meta: Meta | undefined): SessionSelection {
  const selection = meta?.[SELECTION_META_KEY];
  return typeof selection === 'object' && selection !== null ? selection : {};
}

/** The metadata with another selection. An empty selection removes the key. */
export function withSelection(meta: Meta | undefined, { model, agent }: SessionSelection): Meta {
  const { [SELECTION_META_KEY]: _previous, ...rest } = meta ?? {};
  if (!model && !agent) return rest;
  return { ...rest, [SELECTION_META_KEY]: { ...(model && { model }), ...(agent && { agent }) } };
}
