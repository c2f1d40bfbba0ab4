import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import path from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import {
  MCP_REACH_TIMEOUT_MS,
  MCP_RETRIES_SHOWN,
  MCP_RETRY_FIRST_MS,
  MCP_RETRY_MAX_MS,
} from '../../src/plugins/mcp/limits.js';
import { McpClock } from '../support/mcp-clock.js';
import { call, inState, McpFixture, POLL, processConfig, textOf } from '../support/mcp-fixture.js';
import { McpHttpServer } from '../support/mcp-http-server.js';
import { temporaryFolder } from '../tools/tool-box.js';

const fixture = new McpFixture();
const servers: McpHttpServer[] = [];
let folder: string;
let remove: () => Promise<void>;

beforeAll(async () => {
  ({ folder, remove } = await temporaryFolder());
});
afterEach(async () => {
  await fixture.close();
  await Promise.all(servers.splice(0).map((server) => server.stop()));
});
afterAll(() => remove());

async function remote(port?: number): Promise<McpHttpServer> {
  const server = await McpHttpServer.start(port);
  servers.push(server);
  return server;
}

/** Where nothing listens, but a server may come (back). */
async function emptyPlace(transport: 'http' | 'sse') {
  const server = await McpHttpServer.start();
  const { port } = server;
  const config = server.config(transport);
  await server.stop();
  return { port, config };
}

const REPORTED_MS = 2_000;
const BACK_MS = 10_000;
const remoteKinds = ['http', 'sse'] as const;

describe('a server that cannot be reached', { timeout: 60_000 }, () => {
  for (const transport of remoteKinds) {
    it(`[REL-071] is reported at once when nothing listens at its address (${transport})`, async () => {
      const { port, config } = await emptyPlace(transport);
      // This clock stands still: whatever is reported here waits for no time limit.
      const { server } = fixture.server(config, {}, new McpClock());
      server.start();
      const { message } = await inState(server, 'error');
      expect(message).toContain(`The server at http://127.0.0.1:${port} cannot be reached: `);
      expect(message).toContain('ECONNREFUSED');
    });

    it(`[REL-071] is reported within 2 s when its machine does not even refuse (${transport})`, async () => {
      const silent = await silentPort();
      try {
        const clock = new McpClock();
        const url = `http://127.0.0.1:${silent.port}/${transport}`;
        const { server } = fixture.server({ transport, url, headers: {} }, {}, clock);
        server.start();
        // The limit of the whole start, and the one of reaching the machine.
        await expect.poll(() => clock.pending, POLL).toBe(2);
        await clock.advance(REPORTED_MS);
        const { message } = await inState(server, 'error');
        expect(message).toContain(`cannot be reached: no answer within ${MCP_REACH_TIMEOUT_MS / 1_000} s`);
      } finally {
        await silent.stop();
      }
    });

    it(`[REL-071] is used again within 10 s of its return, however long it was away (${transport})`, async () => {
      const { port, config } = await emptyPlace(transport);
      const clock = new McpClock();
      const { server } = fixture.server(config, {}, clock);
      server.start();
      await inState(server, 'error');
      for (let seconds = 0; seconds < 60; seconds += 1) await second(clock, 5);
      const back = await remote(port);
      for (let seconds = 0; seconds < BACK_MS / 1_000 && back.requests.length === 0; seconds += 1) await second(clock);
      await inState(server, 'ready');
      expect(textOf(await call(server, 'echo', { text: 'here' }))).toContain('here');
    });

    it(`[REL-071] is reported when it dies later, and used again when it returns (${transport})`, async () => {
      const first = await remote();
      const { port } = first;
      const clock = new McpClock();
      const { server } = fixture.server(first.config(transport), {}, clock);
      server.start();
      await inState(server, 'ready');
      await expect.poll(() => first.requests.some(({ method }) => method === 'GET'), POLL).toBe(true);
      await first.stop();
      servers.splice(0);
      await inState(server, 'error');
      const back = await remote(port);
      for (let seconds = 0; seconds < BACK_MS / 1_000 && back.requests.length === 0; seconds += 1) await second(clock);
      await inState(server, 'ready');
    });
  }

  it('[REL-071] is started again within 10 s when it is a program that works only now', async () => {
    const mark = path.join(folder, 'works-now');
    const clock = new RetryClock();
    const { server } = fixture.server(processConfig('late', mark), {}, clock);
    server.start();
    for (let tries = 1; tries < MCP_RETRIES_SHOWN + 4; tries += 1) await clock.retry();
    await clock.failure();
    writeFileSync(mark, '');
    expect(await clock.retry()).toBeLessThan(BACK_MS);
    await inState(server, 'ready');
  });

  it('[REL-071] does not fill the log while it stays away: later tries are made quietly', async () => {
    const mark = path.join(folder, 'never-works');
    const clock = new RetryClock();
    const { server, states } = fixture.server(processConfig('late', mark), {}, clock);
    const before = fixture.logged.length;
    server.start();
    for (let tries = 1; tries < MCP_RETRIES_SHOWN + 6; tries += 1) await clock.retry();
    const rounds = Array.from({ length: MCP_RETRIES_SHOWN + 1 }, () => ['starting', 'error']).flat();
    expect(states.map(({ kind }) => kind)).toEqual(rounds);
    expect(fixture.logged.length - before).toBe(MCP_RETRIES_SHOWN + 1);
    expect(readFileSync(`${mark}.tries`, 'utf8').length).toBeGreaterThan(MCP_RETRIES_SHOWN + 4);
  });
});

/** A second by the server's clock, with some real time for what begins in it. */
async function second(clock: McpClock, realMs = 50): Promise<void> {
  await clock.advance(1_000);
  await new Promise((resolve) => setTimeout(resolve, realMs));
}

/** Knows when a server waits for its next try: no other wait of a server that exits by itself is as short. */
class RetryClock extends McpClock {
  #waiting: number | undefined;

  override after(milliseconds: number, callback: () => void): () => void {
    const isRetry = milliseconds >= MCP_RETRY_FIRST_MS && milliseconds <= MCP_RETRY_MAX_MS;
    if (isRetry) this.#waiting = milliseconds;
    const cancel = super.after(milliseconds, callback);
    return () => {
      if (isRetry) this.#waiting = undefined;
      cancel();
    };
  }

  async failure(): Promise<void> {
    await expect.poll(() => this.#waiting, POLL).toBeDefined();
  }

  /** Waits until a try has failed, and lets the clock go on to the next one; says how far that was. */
  async retry(): Promise<number> {
    await this.failure();
    const milliseconds = this.#waiting ?? 0;
    this.#waiting = undefined;
    await this.advance(milliseconds);
    return milliseconds;
  }
}

/** A port whose owner is stopped and whose queue is full: the system lets no more connections in, and says nothing. */
async function silentPort(): Promise<{ readonly port: number; stop(): Promise<void> }> {
  const program =
    "const s = require('net').createServer(); s.listen({ port: 0, host: '127.0.0.1', backlog: 1 }, () => { " +
    "process.stdout.write(String(s.address().port), () => process.kill(process.pid, 'SIGSTOP')); });";
  const child = spawn(process.execPath, ['-e', program], { stdio: ['ignore', 'pipe', 'ignore'] });
  const [chunk] = await once(child.stdout, 'data');
  const port = Number(chunk);
  const fillers: Socket[] = Array.from({ length: 6 }, () => connect({ host: '127.0.0.1', port }).on('error', () => {}));
  await expect.poll(() => fillers.filter(({ connecting }) => !connecting).length, POLL).toBeGreaterThanOrEqual(1);
  await new Promise((resolve) => setTimeout(resolve, 200));
  return {
    port,
    async stop() {
      for (const socket of fillers) socket.destroy();
      const gone = once(child, 'exit');
      child.kill('SIGKILL');
      await gone;
    },
  };
}
