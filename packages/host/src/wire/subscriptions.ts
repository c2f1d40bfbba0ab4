/** Subscribing: the state of a channel as it is stored now, and everything that follows. */
import type { HostCore } from '../core.js';
import type { Connection } from './connection.js';
import { isNative } from './dialects/dialects.js';
import { RawJson } from './raw-json.js';

/** Our own extension: a client that pages asks for the last turns only. */
export interface WindowRequest {
  readonly last: number;
}

/** Which of a session's finished turns a snapshot holds. */
export interface TurnWindow {
  readonly start: number;
  readonly total: number;
}

export function windowOf(params: Readonly<Record<string, unknown>>): WindowRequest | undefined {
  const { turns } = params;
  if (typeof turns !== 'object' || turns === null || !('last' in turns)) return undefined;
  return Number.isSafeInteger(turns.last) && Number(turns.last) >= 0 ? { last: Number(turns.last) } : undefined;
}

export interface Subscribed {
  readonly snapshot: unknown;
  readonly window: TurnWindow | undefined;
}

/** Subscribes and takes the snapshot in one step, so that nothing falls between; undefined when there is no channel. */
export async function subscribeTo(
  core: HostCore,
  connection: Connection,
  uri: string,
  window: WindowRequest | undefined,
): Promise<Subscribed | undefined> {
  const source = await core.open(uri);
  if (!source) return undefined;
  const { text, turns } = await source.snapshot(window, () => core.subscribe(connection, source.channel));
  const snapshot = isNative(connection.dialect) ? new RawJson(text) : JSON.parse(text);
  return { snapshot, window: turns };
}

/** Subscribes to several channels. Those that do not exist are left out. */
export async function snapshotsOf(
  core: HostCore,
  connection: Connection,
  uris: readonly string[],
  window: WindowRequest | undefined,
): Promise<{ snapshots: unknown[]; windows: Record<string, TurnWindow> }> {
  const snapshots: unknown[] = [];
  const windows: Record<string, TurnWindow> = {};
  for (const uri of new Set(uris)) {
    const subscribed = await subscribeTo(core, connection, uri, window);
    if (!subscribed) continue;
    snapshots.push(subscribed.snapshot);
    if (subscribed.window) windows[uri] = subscribed.window;
  }
  return { snapshots, windows };
}
