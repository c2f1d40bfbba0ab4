/** Results of requests as version 1 expects them. */
import type { Snapshot } from '../../common/envelope.js';
import type { ClientRequests } from '../../methods.js';
import type {
  V1ActionEnvelope,
  V1FetchContentResult,
  V1FetchTurnsResult,
  V1InitializeResult,
  V1ListSessionsResult,
  V1ReconnectResult,
  V1Snapshot,
  V1SubscribeResult,
} from '../../versions/v1.js';
import { V1_PROTOCOL_VERSION } from '../../versions/versions.js';
import type { DialectConnection, HostView } from '../dialect.js';
import { compact } from './compact.js';
import { snapshotToV1, summaryToV1 } from './state.js';
import { turnToV1 } from './turns.js';

type Result<Method extends keyof ClientRequests> = ClientRequests[Method]['result'];

/** What the host adds to a page of turns that was asked for by index. */
export type IndexedTurns = Result<'fetchTurns'> & { readonly startTurn: number; readonly totalTurns: number };

export function initializeReply(
  result: Result<'initialize'>,
  connection: DialectConnection,
  view: HostView,
): V1InitializeResult {
  const { serverSeq, snapshots, defaultDirectory } = result;
  return compact({
    protocolVersion: V1_PROTOCOL_VERSION,
    serverSeq,
    snapshots: shownSnapshots(snapshots, connection, view),
    defaultDirectory,
  });
}

/** The host replays only what it could translate while it happened; `missing` has no place here. */
export function reconnectReply(
  result: Result<'reconnect'>,
  connection: DialectConnection,
  view: HostView,
): V1ReconnectResult {
  if (result.type === 'replay') return { type: 'replay', actions: result.actions as unknown as V1ActionEnvelope[] };
  return { type: 'snapshot', snapshots: shownSnapshots(result.snapshots, connection, view) };
}

export function subscribeReply(
  { snapshot }: Result<'subscribe'>,
  connection: DialectConnection,
  view: HostView,
): V1SubscribeResult | null {
  const shown = snapshot && shownSnapshot(snapshot, connection, view);
  if (!shown) return null;
  return isLaterGeneration(connection) ? { ...shown, snapshot: shown } : shown;
}

export function listSessionsReply(
  { items }: Result<'listSessions'>,
  connection: DialectConnection,
): V1ListSessionsResult {
  const sessions = items.map(summaryToV1);
  return isLaterGeneration(connection) ? { sessions, items: sessions } : sessions;
}

export function turnsReply({ turns, hasMore }: Result<'fetchTurns'>): V1FetchTurnsResult {
  return { turns: turns.map(turnToV1), hasMore };
}

export function indexedTurnsReply(session: string, result: IndexedTurns): V1FetchTurnsResult {
  return { session, startTurn: result.startTurn, totalTurns: result.totalTurns, ...turnsReply(result) };
}

export function contentReply({ data, encoding, contentType }: Result<'resourceRead'>): V1FetchContentResult {
  return compact({ data, encoding, mimeType: contentType });
}

export function shownSnapshot(
  snapshot: Snapshot,
  { rootUri }: DialectConnection,
  view: HostView,
): V1Snapshot | undefined {
  return snapshotToV1(snapshot, { rootUri, memory: view.memoryOf(snapshot.resource) });
}

function shownSnapshots(snapshots: readonly Snapshot[], connection: DialectConnection, view: HostView): V1Snapshot[] {
  return snapshots.flatMap((snapshot) => shownSnapshot(snapshot, connection, view) ?? []);
}

/** Clients that spell the root with a slash expect two results in a newer form. */
function isLaterGeneration({ rootUri }: DialectConnection): boolean {
  return rootUri === 'agenthost:/root';
}
