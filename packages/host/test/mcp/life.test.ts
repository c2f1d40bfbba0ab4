import path from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { MCP_RETRIES_SHOWN, MCP_STABLE_MS, MCP_START_TIMEOUT_MS } from '../../src/plugins/mcp/limits.js';
import { McpClock } from '../support/mcp-clock.js';
import { call, inState, McpFixture, POLL, processConfig, textOf } from '../support/mcp-fixture.js';
import { temporaryFolder } from '../tools/tool-box.js';

const fixture = new McpFixture();
let folder: string;
let remove: () => Promise<void>;

beforeAll(async () => {
  ({ folder, remove } = await temporaryFolder());
});
afterEach(() => fixture.close());
afterAll(() => remove());

describe('the life of a server', { timeout: 30_000 }, () => {
  it('[CUS-058] [CUS-073] [CUS-074] [CUS-077] is stopped, starting, ready, and stopped again; tools only while ready', async () => {
    const { server, states } = fixture.server(processConfig('good'));
    expect(server.state).toEqual({ kind: 'stopped' });
    server.start();
    expect(server.state).toEqual({ kind: 'starting' });
    expect(server.tools).toEqual([]);
    await inState(server, 'ready');
    expect(server.tools.length).toBeGreaterThan(3);
    expect(textOf(await call(server, 'echo', { text: 'hello' }))).toBe('hello');
    await server.stop();
    expect(states).toEqual([{ kind: 'starting' }, { kind: 'ready' }, { kind: 'stopped' }]);
    expect(server.tools).toEqual([]);
  });

  it('starts only once, however often it is told to', async () => {
    const { server, states } = fixture.server(processConfig('good'));
    server.start();
    server.start();
    await inState(server, 'ready');
    server.start();
    expect(states.map(({ kind }) => kind)).toEqual(['starting', 'ready']);
  });

  it('[CUS-065] [CUS-078] lets a stop win at any moment, and can be started again', async () => {
    const { server, states } = fixture.server(processConfig('good'));
    for (let round = 0; round < 3; round += 1) {
      server.start();
      const stopped = server.stop();
      expect(server.state).toEqual({ kind: 'stopped' });
      await stopped;
    }
    server.start();
    void server.stop();
    server.start();
    await inState(server, 'ready');
    await server.stop();
    expect(states.at(-1)).toEqual({ kind: 'stopped' });
    expect(states.map(({ kind }) => kind)).not.toContain('error');
  });

  it('[CUS-076] says why a server exits at once, in its own words', async () => {
    const { server } = fixture.server(processConfig('exits'));
    server.start();
    const { message } = await inState(server, 'error');
    expect(message).toBe('The server exited with code 2. It said: There is no licence.');
    expect(server.tools).toEqual([]);
  });

  it('[CUS-076] [CUS-115] says that a command does not exist, or cannot be one at all, but not which', async () => {
    for (const [command, code] of [
      ['no-such-command-at-all', 'ENOENT'],
      ['no-such\0command', 'ERR_INVALID_ARG_VALUE'],
    ] as const) {
      const { server } = fixture.server({ transport: 'stdio', command, args: ['--quiet'], env: {} });
      server.start();
      const { message } = await inState(server, 'error');
      expect(message).toContain(`The server could not be started (${code}).`);
      expect(message).not.toMatch(/no-such|quiet/);
    }
  });

  it('[CUS-078] tries again after 1, 2, 4, 5 … seconds, and in the end without a word', async () => {
    const clock = new McpClock();
    const { server, states } = fixture.server(processConfig('exits'), {}, clock);
    server.start();
    for (const seconds of [1, 2, 4, 5, 5]) {
      await inState(server, 'error');
      await clock.advance(seconds * 1_000 - 1);
      expect(server.state.kind).toBe('error');
      await clock.advance(1);
      expect(server.state.kind).toBe('starting');
    }
    await inState(server, 'error');
    await clock.advance(5_000);
    const rounds = Array.from({ length: MCP_RETRIES_SHOWN + 1 }, () => ['starting', 'error']).flat();
    expect(states.map(({ kind }) => kind)).toEqual(rounds);
  });

  it('[CUS-078] is ready after all when a retry succeeds', async () => {
    const clock = new McpClock();
    const { server, states } = fixture.server(processConfig('recovers', path.join(folder, 'recovers')), {}, clock);
    server.start();
    await inState(server, 'error');
    await clock.advance(1_000);
    await inState(server, 'ready');
    expect(states.map(({ kind }) => kind)).toEqual(['starting', 'error', 'starting', 'ready']);
  });

  it('[CUS-078] comes back from a crash; the call that was running fails and says so', async () => {
    const clock = new McpClock();
    const { server, states } = fixture.server(processConfig('good'), {}, clock);
    server.start();
    await inState(server, 'ready');
    const { error } = await call(server, 'crash');
    expect(error).toEqual({
      code: 'SERVER_LOST',
      message: 'The MCP server test was lost. The server exited with code 3.',
    });
    await inState(server, 'error');
    expect(server.tools).toEqual([]);
    await clock.advance(1_000);
    await inState(server, 'ready');
    expect(textOf(await call(server, 'echo', { text: 'again' }))).toBe('again');
    expect(states.map(({ kind }) => kind)).toEqual(['starting', 'ready', 'error', 'starting', 'ready']);
  });

  it('gives the retries back only to a server that was ready for a while', async () => {
    const clock = new McpClock();
    const { server } = fixture.server(processConfig('good'), {}, clock);
    server.start();
    const crash = async (): Promise<void> => {
      await inState(server, 'ready');
      await call(server, 'crash');
      await inState(server, 'error');
    };
    await crash();
    await clock.advance(1_000);
    await crash();
    await clock.advance(1_000);
    expect(server.state.kind).toBe('error');
    await clock.advance(1_000);
    await inState(server, 'ready');
    await clock.advance(MCP_STABLE_MS);
    await crash();
    await clock.advance(1_000);
    await inState(server, 'ready');
  });

  it('[CUS-076] does not wait for ever for a server that hangs', async () => {
    const clock = new McpClock();
    const { server } = fixture.server(processConfig('hangs'), {}, clock);
    server.start();
    await expect.poll(() => clock.pending, POLL).toBe(1);
    await clock.advance(MCP_START_TIMEOUT_MS - 1);
    expect(server.state.kind).toBe('starting');
    await clock.advance(1);
    expect((await inState(server, 'error')).message).toBe('The server did not answer within 60 s of its start.');
  });

  it('[CUS-078] stops while it waits to try again, and does not try any more', async () => {
    const clock = new McpClock();
    const { server, states } = fixture.server(processConfig('exits'), {}, clock);
    server.start();
    await inState(server, 'error');
    await server.stop();
    expect(clock.pending).toBe(0);
    expect(states.map(({ kind }) => kind)).toEqual(['starting', 'error', 'stopped']);
  });
});
