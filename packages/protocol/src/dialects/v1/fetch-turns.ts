/**
 * `fetchTurns`: variants of version 1 page backwards from a turn, or slice by index. A slice is passed on as a member
 * `range: { start, end? }`, and the host's answer then has `startTurn` and `totalTurns` too.
 */
import type { InboundRequest, Params } from '../dialect.js';
import { compact } from './compact.js';
import { isIndex, isObject, withoutNulls } from './read.js';
import { type IndexedTurns, indexedTurnsReply, turnsReply } from './replies.js';
import { forward, type Inbound, malformed } from './requests.js';
import { sessionFromV1 } from './uris.js';

/** Turns by index: oldest is 0, `end` is exclusive and absent for "to the last". */
export interface TurnRange {
  readonly start: number;
  readonly end?: number;
}

export function fetchTurns(inbound: Inbound): InboundRequest {
  const { params, connection, view } = inbound;
  const { session } = params;
  if (typeof session !== 'string') return malformed(inbound, 'session');
  const channel = sessionFromV1(session, view.providerOf);
  const asked = isObject(params.range) ? { ...params, ...withoutNulls(params.range) } : params;
  if (!isIndexed(asked)) {
    return forward(connection, 'fetchTurns', page(channel, asked), turnsReply);
  }
  const range = sliceOf(asked);
  if (!range) return malformed(inbound, 'range');
  return forward(connection, 'fetchTurns', { channel, range }, (result) =>
    indexedTurnsReply(session, result as IndexedTurns),
  );
}

function page(channel: string, { before, limit }: Params): Params {
  return compact({ channel, before, limit });
}

function isIndexed({ start, end, startTurn, count }: Params): boolean {
  return [start, end, startTurn, count].some((member) => member !== undefined);
}

function sliceOf({ start, end, startTurn, count }: Params): TurnRange | undefined {
  if (!isIndex(start) || !isIndex(end) || !isIndex(startTurn) || !isIndex(count)) return undefined;
  const first = start ?? startTurn ?? 0;
  return compact({ start: first, end: end ?? (count === undefined ? undefined : first + count) });
}
