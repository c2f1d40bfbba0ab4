/** A program that writes without end, before one who reads and one who does not. `ATRIUM_SOAK_MB=100` makes it long. */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { CloseCode } from '@atrium/core/wire/transport.js';
import type { TerminalState } from '@atrium/protocol/ahp-1';
import { describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { createHost, MemoryLog, scriptedAgent, startServer } from '../../src/index.js';
import { reduceBounded } from '../../src/workspace/terminals/scrollback.js';
import { DEFAULT_SCRIPT } from '../support/test-host.js';

const MEGABYTES = Number(process.env.ATRIUM_SOAK_MB ?? 24);
const LINE = 'the quick brown fox jumps over the lazy dog 0123456789\r\n';
const LINES = Math.ceil((MEGABYTES * 2 ** 20) / LINE.length);
/** What may be in memory besides what was there before: scrollback, outboxes, replay, and what is not collected yet. */
const HEAP_GROWTH_MAX_BYTES = 64 * 2 ** 20;
const RSS_GROWTH_MAX_BYTES = 400 * 2 ** 20;
const URI = 'ahp-terminal:/soak';

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

describe(`${MEGABYTES} MB of output`, () => {
  it('reach the one who reads, in bounded memory, while another does not read', { timeout: 120_000 }, async () => {
    const host = await createHost({
      log: new MemoryLog(),
      agents: [scriptedAgent(DEFAULT_SCRIPT)],
      terminals: { shell: '/bin/sh' },
    });
    const server = await startServer({
      host: '127.0.0.1',
      port: 0,
      policy: {},
      onConnection: (transport) => host.connect(transport),
    });
    const url = `ws://127.0.0.1:${server.port}`;
    try {
      const fast = await Watcher.join(url, 'desk', true);
      const slow = await Watcher.join(url, 'phone', false);
      slow.stopReading();
      const before = memory();
      const began = performance.now();
      let peak = before;
      const timer = setInterval(() => {
        peak = greater(peak, process.memoryUsage());
      }, 50);
      const command = `stty -echo -opost; yes '${LINE.trim()}' | head -n ${LINES} | sed 's/$/\\r/'; echo THE""END\r`;
      fast.dispatch({ type: 'terminal/input', data: command });
      await fast.seen('THEEND');
      clearInterval(timer);
      const seconds = (performance.now() - began) / 1_000;
      const after = memory();
      console.info(
        `soak: ${MEGABYTES} MB in ${seconds.toFixed(1)} s; heap +${megabytes(after.heapUsed - before.heapUsed)} MB, ` +
          `peak rss +${megabytes(peak.rss - before.rss)} MB; slow closed: ${slow.closeCode}`,
      );
      expect(fast.characters).toBeGreaterThanOrEqual(LINES * LINE.length);
      expect(fast.closeCode).toBeUndefined();
      expect(after.heapUsed - before.heapUsed).toBeLessThan(HEAP_GROWTH_MAX_BYTES);
      expect(peak.rss - before.rss).toBeLessThan(RSS_GROWTH_MAX_BYTES);
      if (MEGABYTES > 20) {
        slow.readAgain();
        // The word that it was too slow may be behind more than it will ever read.
        await expect
          .poll(() => [CloseCode.TooSlow, 1006].includes(slow.closeCode ?? 0), { timeout: 10_000 })
          .toBe(true);
      }
      const back = await Watcher.join(url, 'phone', false);
      expect(JSON.stringify(back.first)).toContain('THEEND');
      expect(JSON.stringify(back.first).length).toBeLessThan(3 * 2 ** 20);
      expect(fast.state).toEqual(back.first);
      for (const watcher of [fast, slow, back]) watcher.leave();
    } finally {
      await host.stop();
      await server.close();
    }
  });
});

/** Keeps what it is told as the host does, and counts it. */
class Watcher {
  characters = 0;
  closeCode: number | undefined;
  state: TerminalState | undefined;
  first: TerminalState | undefined;
  #tail = '';
  #clientSeq = 0;
  #answered: (() => void) | undefined;
  readonly #seekers: { readonly text: string; readonly found: () => void }[] = [];

  constructor(private readonly socket: WebSocket) {
    socket.on('message', (data) => this.#message(String(data)));
    socket.on('close', (code) => {
      this.closeCode ??= code;
    });
  }

  static async join(url: string, clientId: string, isFirst: boolean): Promise<Watcher> {
    const socket = new WebSocket(url, { perMessageDeflate: false, maxPayload: 64 * 2 ** 20 });
    await new Promise((resolve, reject) => socket.once('open', resolve).once('error', reject));
    const watcher = new Watcher(socket);
    await watcher.#ask(1, 'initialize', { channel: 'ahp-root://', protocolVersions: ['0.3.0'], clientId });
    if (isFirst) await watcher.#ask(2, 'createTerminal', { channel: URI, claim: { kind: 'client', clientId } });
    await watcher.#ask(3, 'subscribe', { channel: URI });
    return watcher;
  }

  dispatch(action: object): void {
    this.#send({ method: 'dispatchAction', params: { channel: URI, clientSeq: ++this.#clientSeq, action } });
  }

  seen(text: string): Promise<void> {
    return new Promise((found) => this.#seekers.push({ text, found }));
  }

  /** The socket is not read: what the host sends fills the buffers of the system, and then waits in the host. */
  stopReading(): void {
    this.socket.pause();
  }

  readAgain(): void {
    this.socket.resume();
  }

  leave(): void {
    this.closeCode ??= 0;
    this.socket.terminate();
  }

  #ask(id: number, method: string, params: object): Promise<void> {
    this.#send({ id, method, params });
    return new Promise((resolve) => {
      this.#answered = resolve;
    });
  }

  #send(message: object): void {
    this.socket.send(JSON.stringify({ jsonrpc: '2.0', ...message }));
  }

  #message(text: string): void {
    const { id, params, result, error } = JSON.parse(text);
    if (error) throw new Error(error.message);
    if (id !== undefined) {
      this.first = result?.snapshot?.state ?? this.first;
      this.state = this.first;
      return this.#answered?.();
    }
    if (params?.channel !== URI || !this.state) return;
    this.state = reduceBounded(this.state, params.action);
    if (params.action.type === 'terminal/data') this.#data(params.action.data);
  }

  #data(data: string): void {
    this.characters += data.length;
    this.#tail = (this.#tail + data).slice(-200);
    for (const { text, found } of this.#seekers) if (this.#tail.includes(text)) found();
  }
}

function memory(): NodeJS.MemoryUsage {
  collect();
  collect();
  return process.memoryUsage();
}

function greater(one: NodeJS.MemoryUsage, other: NodeJS.MemoryUsage): NodeJS.MemoryUsage {
  return one.rss > other.rss ? one : other;
}

function megabytes(bytes: number): number {
  return Math.round(bytes / 2 ** 20);
}
