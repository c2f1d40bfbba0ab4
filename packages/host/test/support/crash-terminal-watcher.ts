/** A client that subscribes to the terminals of running calls, and remembers what they showed. */
import {
  type ActionEnvelope,
  type RootState,
  type Snapshot,
  sessionOfDefaultChat,
  type TerminalInfo,
  type TerminalState,
} from '@atrium/protocol/ahp-1';
import { WebSocket } from 'ws';
import type { SeenCalls } from './crash-seen-calls.js';
import { ROOT } from './fuzz-client.js';

interface Frame {
  readonly method?: string;
  readonly params?: unknown;
  readonly result?: { readonly snapshot?: Snapshot; readonly snapshots?: readonly Snapshot[] };
}

type Claim = Extract<TerminalInfo['claim'], { kind: 'session' }>;

export class TerminalWatcher {
  readonly #calls: SeenCalls;
  readonly #claims = new Map<string, Claim>();
  readonly #shown = new Map<string, string>();
  #socket: WebSocket | undefined;
  #nextId = 1;

  constructor(calls: SeenCalls) {
    this.#calls = calls;
  }

  /** A host is there. Terminals of the one before are gone. */
  enter(port: number): void {
    this.#tell();
    const socket = new WebSocket(`ws://127.0.0.1:${port}`, { perMessageDeflate: false });
    this.#socket = socket;
    socket.on('error', () => {});
    socket.on('open', () => {
      const hello = { channel: ROOT, protocolVersions: ['1.0.0'], clientId: `watcher-${port}-${Date.now()}` };
      this.#request('initialize', { ...hello, initialSubscriptions: [ROOT] });
    });
    socket.on('message', (data) => this.#receive(JSON.parse(data.toString()) as Frame));
  }

  /** Hands over what the terminals of a host that was killed have shown. */
  #tell(): void {
    for (const [uri, text] of this.#shown) {
      const { chat, turnId, toolCallId } = this.#claims.get(uri) ?? {};
      if (!chat || !turnId || !toolCallId) continue;
      this.#calls.output(sessionOfDefaultChat(chat) ?? chat, { turnId, toolCallId }, text);
    }
    this.#shown.clear();
    this.#claims.clear();
  }

  /** The host was killed. */
  left(): void {
    this.#socket?.terminate();
    this.#tell();
  }

  #request(method: string, params: object): void {
    this.#socket?.send(JSON.stringify({ jsonrpc: '2.0', id: this.#nextId++, method, params }));
  }

  #receive({ method, params, result }: Frame): void {
    if (method === 'action') this.#action(params as ActionEnvelope);
    for (const snapshot of [...(result?.snapshots ?? []), ...(result?.snapshot ? [result.snapshot] : [])]) {
      if (snapshot.resource === ROOT) this.#terminals((snapshot.state as RootState).terminals ?? []);
      else this.#shown.set(snapshot.resource, textOf(snapshot.state as TerminalState));
    }
  }

  #action({ channel, action }: ActionEnvelope): void {
    if (action.type === 'root/terminalsChanged') this.#terminals(action.terminals);
    const before = this.#shown.get(channel);
    if (action.type === 'terminal/data' && before !== undefined) this.#shown.set(channel, before + action.data);
  }

  #terminals(terminals: readonly TerminalInfo[]): void {
    for (const { resource, claim } of terminals) {
      if (claim.kind !== 'session' || !claim.toolCallId || this.#claims.has(resource)) continue;
      this.#claims.set(resource, claim);
      this.#request('subscribe', { channel: resource });
    }
  }
}

function textOf({ content }: TerminalState): string {
  return content.map((part) => (part.type === 'command' ? part.output : part.value)).join('');
}
