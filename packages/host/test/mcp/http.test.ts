import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Tokens } from '../../src/plugins/mcp/authorization.js';
import { serverFetch } from '../../src/plugins/mcp/http-link.js';
import { MCP_MESSAGE_MAX_BYTES, MCP_RESULT_TEXT_MAX_CHARACTERS } from '../../src/plugins/mcp/limits.js';
import { McpClock } from '../support/mcp-clock.js';
import { call, inState, McpFixture, POLL, textOf } from '../support/mcp-fixture.js';
import { McpHttpServer } from '../support/mcp-http-server.js';

const fixture = new McpFixture();
let remote: McpHttpServer;

beforeEach(async () => {
  remote = await McpHttpServer.start();
});
afterEach(async () => {
  await fixture.close();
  await remote.stop();
});

describe('a server at an address', { timeout: 30_000 }, () => {
  it('[CUS-058] is spoken to over streamable HTTP, and told when the session is over', async () => {
    const { server, states } = await fixture.ready(remote.config());
    expect(textOf(await call(server, 'echo', { a: 1 }))).toBe('{"a":1}');
    await server.stop();
    expect(remote.requests.map(({ method }) => method)).toContain('DELETE');
    expect(states.map(({ kind }) => kind)).toEqual(['starting', 'ready', 'stopped']);
  });

  it('[CUS-058] is spoken to in the older way where the declaration says so', async () => {
    const { server } = await fixture.ready(remote.config('sse', { 'x-team': 'blue' }));
    expect(textOf(await call(server, 'echo', { a: 1 }))).toBe('{"a":1}');
    expect(remote.requests.map(({ path }) => path)).toContain('/messages');
    expect(remote.requests.every(({ headers }) => headers['x-team'] === 'blue')).toBe(true);
  });

  it('is spoken to in the older way when it knows no other', async () => {
    const { server } = await fixture.ready({ transport: 'http', url: `${remote.origin}/sse`, headers: {} });
    expect(textOf(await call(server, 'echo', { a: 1 }))).toBe('{"a":1}');
    expect(remote.requests.slice(0, 2).map(({ method }) => method)).toEqual(['POST', 'GET']);
  });

  it('[CUS-076] is not there: the first answer is what people read about', async () => {
    const { server } = fixture.server({ transport: 'http', url: `${remote.origin}/nowhere`, headers: {} });
    server.start();
    expect((await inState(server, 'error')).message).toMatch(/^The server answered with HTTP status 404\. .*POST/);
    expect(remote.requests.map(({ method }) => method)).toEqual(['POST', 'GET']);
  });

  it('[CUS-086] says over its stream that its tools changed', async () => {
    const { server } = await fixture.ready(remote.config());
    await expect.poll(() => remote.requests.some(({ method }) => method === 'GET'), POLL).toBe(true);
    await call(server, 'grow');
    await expect.poll(() => server.tools.map(({ definition }) => definition.name), POLL).toContain('mcp__test__grown');
  });

  it('hears that a call was cancelled', async () => {
    const { server } = await fixture.ready(remote.config());
    const cancelling = new AbortController();
    const running = call(server, 'wait', {}, { signal: cancelling.signal });
    await expect.poll(() => remote.waiting, POLL).toBe(1);
    cancelling.abort();
    expect((await running).error?.code).toBe('CANCELLED');
    await expect.poll(() => remote.cancelled, POLL).toEqual(['The call was cancelled.']);
  });

  it('[CUS-076] cannot be reached: says so, without the path, and tries again', async () => {
    const config = { ...remote.config(), url: `${remote.origin}/mcp?secret=1` };
    const { port } = remote;
    await remote.stop();
    const clock = new McpClock();
    const { server } = fixture.server(config, {}, clock);
    server.start();
    const { message } = await inState(server, 'error');
    expect(message).toMatch(/^The server at http:\/\/127\.0\.0\.1:\d+ cannot be reached: .*ECONNREFUSED/);
    expect(message).not.toContain('secret');
    remote = await McpHttpServer.start(port);
    await clock.advance(1_000);
    await inState(server, 'ready');
  });

  it('[CUS-078] comes back after it went away in the middle of a call', async () => {
    const clock = new McpClock();
    const { server, states } = fixture.server(remote.config(), {}, clock);
    server.start();
    await inState(server, 'ready');
    const { port } = remote;
    const running = call(server, 'wait');
    await expect.poll(() => remote.waiting, POLL).toBe(1);
    await remote.stop();
    expect((await running).error?.code).toBe('SERVER_LOST');
    await inState(server, 'error');
    remote = await McpHttpServer.start(port);
    await clock.advance(1_000);
    await inState(server, 'ready');
    expect(states.map(({ kind }) => kind)).toEqual(['starting', 'ready', 'error', 'starting', 'ready']);
  });

  it('[UP-063] learns the folders of the session when it asks', async () => {
    const { server } = fixture.server(remote.config(), { roots: () => ['file:///one', 'file:///two'] });
    server.start();
    await inState(server, 'ready');
    expect(textOf(await call(server, 'roots'))).toBe('file:///one file:///two');
  });

  it('[CUS-078] is missed even when nobody calls it', async () => {
    const { server } = await fixture.ready(remote.config());
    await expect.poll(() => remote.requests.some(({ method }) => method === 'GET'), POLL).toBe(true);
    await remote.stop();
    expect((await inState(server, 'error')).message).toContain('cannot be reached');
    await server.stop();
    remote = await McpHttpServer.start();
  });

  it('is begun anew when it has forgotten the session', async () => {
    const clock = new McpClock();
    const { server } = fixture.server(remote.config(), {}, clock);
    server.start();
    await inState(server, 'ready');
    remote.intercept = ({ headers }, response) => {
      if (headers['mcp-session-id'] === undefined) return false;
      response.writeHead(404).end();
      return true;
    };
    expect((await call(server, 'echo')).error?.message).toContain('has forgotten the session');
    remote.intercept = () => false;
    await inState(server, 'error');
    await clock.advance(1_000);
    await inState(server, 'ready');
  });

  it('may answer at length, but not without end', async () => {
    const { server } = await fixture.ready(remote.config());
    const long = await call(server, 'big', { size: MCP_RESULT_TEXT_MAX_CHARACTERS + 1 });
    expect(textOf(long)).toMatch(/^x+\n\[Cut: too long\.\]$/);
    const endless = await call(server, 'big', { size: MCP_MESSAGE_MAX_BYTES });
    expect(endless.error).toMatchObject({ code: 'SERVER_LOST', message: expect.stringContaining('more than 8 MiB') });
  });

  it('may answer in plain JSON up to the limit, and not a byte longer', async () => {
    const config = { transport: 'http' as const, url: `${remote.origin}/mcp`, headers: {} };
    const answered = async (bytes: number) => {
      const lost: string[] = [];
      const watch = { refused: () => new Error('refused') as never, lost: (message: string) => lost.push(message) };
      remote.intercept = (_request, response) => {
        response.writeHead(200, { 'content-type': 'application/json' }).end(Buffer.alloc(bytes, 0x20));
        return true;
      };
      const request = serverFetch(config, 'http', { tokens: new Tokens(), watch });
      const response = await request(config.url, { method: 'POST' });
      const size = await response.arrayBuffer().then(
        (body) => body.byteLength,
        () => undefined,
      );
      return { size, lost };
    };
    expect(await answered(MCP_MESSAGE_MAX_BYTES)).toEqual({ size: 8 * 2 ** 20, lost: [] });
    const { size, lost } = await answered(MCP_MESSAGE_MAX_BYTES + 1);
    expect([size, lost[0]]).toEqual([undefined, 'The server sent a message of more than 8 MiB.']);
  });

  it('[CUS-083] does not get its headers sent on to another origin', async () => {
    const other = await McpHttpServer.start();
    try {
      for (const status of [301, 302, 307, 308]) {
        remote.intercept = (_request, response) => {
          response.writeHead(status, { location: `${other.origin}/mcp` }).end();
          return true;
        };
        for (const transport of ['http', 'sse'] as const) {
          const { server } = fixture.server(remote.config(transport, { 'x-key': 'package-data' }));
          server.start();
          await inState(server, 'error');
          await server.stop();
        }
      }
      expect(other.requests).toEqual([]);
      expect(remote.requests.every(({ headers }) => headers['x-key'] === 'package-data')).toBe(true);
    } finally {
      await other.stop();
    }
  });

  it('[CUS-083] is the only origin that is spoken to for it, even where another is named', async () => {
    const other = await McpHttpServer.start();
    try {
      const config = { transport: 'http' as const, url: `${remote.origin}/mcp`, headers: { 'x-key': 'package-data' } };
      const watch = { refused: () => new Error('refused') as never, lost: () => {} };
      const request = serverFetch(config, 'http', { tokens: new Tokens(), watch });
      await expect(request(`${other.origin}/mcp`, { method: 'POST' })).rejects.toThrow('redirects to');
      expect(other.requests).toEqual([]);
    } finally {
      await other.stop();
    }
  });

  it('may send us on within its own origin', async () => {
    remote.intercept = ({ url }, response) => {
      if (url !== '/old') return false;
      response.writeHead(308, { location: '/mcp' }).end();
      return true;
    };
    const { server } = await fixture.ready({
      transport: 'http',
      url: `${remote.origin}/old`,
      headers: { 'x-key': 'k' },
    });
    expect(textOf(await call(server, 'echo', { a: 1 }))).toBe('{"a":1}');
    expect(remote.requests.filter(({ path }) => path === '/mcp').every(({ headers }) => headers['x-key'] === 'k')).toBe(
      true,
    );
  });
});
