/** A client that connects, takes snapshots, and leaves. */
import { defaultChatUri, type Snapshot } from '@atrium/protocol/ahp-1';
import { WebSocket } from 'ws';
import { FuzzClient } from './fuzz-client.js';

/** Sessions and their chats. */
export function channelsOf(sessions: readonly string[]): string[] {
  return sessions.flatMap((uri) => [uri, defaultChatUri(uri)]);
}

/** Fresh snapshots, for a client that never connected before. */
export async function snapshotsOf(
  port: number,
  uris: readonly string[],
  versions: readonly string[] = ['1.0.0'],
  token?: string,
): Promise<Snapshot[]> {
  if (uris.length === 0) return [];
  const client = new FuzzClient('observer', versions, uris);
  const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
  const socket = new WebSocket(`ws://127.0.0.1:${port}`, { perMessageDeflate: false, headers });
  const snapshots = await new Promise<Snapshot[]>((resolve, reject) => {
    socket.on('open', () => client.attach((text) => socket.send(text)));
    socket.on('error', reject);
    socket.on('message', (data) => {
      const { result } = JSON.parse(data.toString()) as { result?: { snapshots?: Snapshot[] } };
      if (result?.snapshots) resolve(result.snapshots);
    });
  });
  socket.terminate();
  return snapshots;
}
