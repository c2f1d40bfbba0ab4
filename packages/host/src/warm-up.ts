/**
 * Warms up the code of a first turn: a host in memory runs a few turns with a stand-in for an agent. That compiles the
 * code, so the person who sends the first turn does not wait for that.
 */
import type { AgentBackend } from '@atrium/core/contracts/agent.js';
import { MemoryLog } from '@atrium/core/log/memory-log.js';
import { untilAborted } from '@atrium/core/util/waiting.js';
import { type ClientEnd, transportPair } from '@atrium/core/wire/transports/in-process.js';
import { defaultChatUri, ROOT_CHANNEL } from '@atrium/protocol/ahp-1';
import type { Host, HostOptions } from './host-options.js';

/** The first compiles most of it; the others make the engine keep what it has learned. */
const TURNS = 3;
const WARM_UP_MAX_MS = 10_000;
const SESSION = 'ahp-session:/rehearsal';
const CHAT = defaultChatUri(SESSION);

export async function warmUp(agent: AgentBackend, open: (options: HostOptions) => Promise<Host>): Promise<void> {
  const standIn = await agent.standIn?.();
  if (!standIn) return;
  try {
    const host = await open({ log: new MemoryLog(), agents: [standIn.agent] });
    await untilAborted(AbortSignal.timeout(WARM_UP_MAX_MS), play(host)).finally(() => host.stop());
  } finally {
    standIn.close();
  }
}

async function play(host: Host): Promise<void> {
  const [transport, client] = transportPair();
  const next = listener(client);
  host.connect(transport);
  const ask = (id: number, method: string, params: object) => {
    client.send(JSON.stringify({ jsonrpc: '2.0', id, method, params }));
    return next(`"id":${id},`);
  };
  await ask(1, 'initialize', { channel: ROOT_CHANNEL, protocolVersions: ['1.0.0'], clientId: 'rehearsal' });
  await ask(2, 'createSession', { channel: SESSION });
  const session = await ask(3, 'subscribe', { channel: SESSION });
  if (session.includes('"lifecycle":"creating"')) await next('"type":"session/ready"');
  await ask(4, 'subscribe', { channel: CHAT, turns: { last: TURNS } });
  for (let turn = 1; turn <= TURNS; turn++) {
    const message = { text: 'Are you there?', origin: { kind: 'user' } };
    const action = { type: 'chat/turnStarted', turnId: `turn-${turn}`, message };
    const params = { channel: CHAT, clientSeq: turn, action };
    client.send(JSON.stringify({ jsonrpc: '2.0', method: 'dispatchAction', params }));
    await next('"type":"chat/turnComplete"');
  }
}

/** Returns a function that waits for the next message containing a text, and skips earlier ones. */
function listener(client: ClientEnd): (text: string) => Promise<string> {
  let received: string[] = [];
  let look = () => {};
  client.onmessage = (message) => {
    received.push(message);
    look();
  };
  return (text) =>
    new Promise((resolve) => {
      look = () => {
        const at = received.findIndex((message) => message.includes(text));
        if (at < 0) return;
        const found = received[at] ?? '';
        received = received.slice(at + 1);
        resolve(found);
      };
      look();
    });
}
