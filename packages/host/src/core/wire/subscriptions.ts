/** Subscribing: the state of a channel as it is stored now, and everything that follows. */
import type { HostCore, OpenChannel } from '../contracts/host-core.js';
import type { Connection } from './connection.js';
import { isNative } from './dialects/dialects.js';

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
  /** The number that all snapshots are true at: what follows has a greater one. */
  readonly seq: number;
  readonly snapshots: unknown[];
  /** The channels that there are, also those without a state. */
  readonly found: string[];
  readonly windows: Record<string, TurnWindow>;
}

/**
 * Subscribes to channels and takes their snapshots, all at one moment, so that nothing falls between. Those that do not
 * exist are left out.
 */
export async function subscribeTo(
  core: HostCore,
  connection: Connection,
  uris: readonly string[],
  window: WindowRequest | undefined,
): Promise<Subscribed> {
  for (;;) {
    const open = await openAll(core, uris);
    // From here to the end nothing may wait.
    const request = { window, takesText: isNative(connection.dialect) };
    const taken = open.map((source) => ({ channel: source.channel, snapshot: source.takeSnapshot(request) }));
    if (taken.some(({ snapshot }) => !snapshot)) continue;
    for (const { channel } of taken) core.subscribe(connection, channel);
    const shown = taken.flatMap(({ channel, snapshot }) => (snapshot ? { uri: channel.uri, ...snapshot } : []));
    return {
      seq: core.writer.committedSeq,
      snapshots: shown.flatMap(({ snapshot }) => snapshot ?? []),
      found: shown.map(({ uri }) => uri),
      windows: Object.fromEntries(shown.flatMap(({ uri, turns }) => (turns ? [[uri, turns]] : []))),
    };
  }
}

async function openAll(core: HostCore, uris: readonly string[]): Promise<OpenChannel[]> {
  const open: OpenChannel[] = [];
  for (const uri of new Set(uris)) {
    const source = await core.open(uri);
    if (source) open.push(source);
  }
  return open;
}
