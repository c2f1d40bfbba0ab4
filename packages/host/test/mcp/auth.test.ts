import type { IncomingMessage, ServerResponse } from 'node:http';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { MCP_RESOURCE_MAX_BYTES } from '../../src/plugins/mcp/limits.js';
import { call, inState, McpFixture, POLL, textOf } from '../support/mcp-fixture.js';
import { json, McpHttpServer } from '../support/mcp-http-server.js';

const fixture = new McpFixture();
let remote: McpHttpServer;

beforeEach(async () => {
  remote = await McpHttpServer.start();
});
afterEach(async () => {
  await fixture.close();
  await remote.stop();
});

interface Gateway {
  readonly token: string;
  readonly status?: number;
  /** What it says to those it does not let in. */
  readonly challenge?: string;
  readonly wellKnown?: unknown;
}

/** Admits every request with the token. */
function guard({ token, status = 401, challenge = 'Bearer', wellKnown }: Gateway): void {
  remote.intercept = (request: IncomingMessage, response: ServerResponse) => {
    if (request.url?.startsWith('/.well-known/')) {
      return wellKnown === undefined ? json(response, {}, 404) : json(response, wellKnown);
    }
    if (request.headers.authorization === `Bearer ${token}`) return false;
    response.writeHead(status, { 'www-authenticate': challenge }).end(`who is ${request.headers.authorization}?`);
    return true;
  };
}

describe('a server that wants to know who is there', { timeout: 30_000 }, () => {
  it('[CUS-075] [CUS-078] waits for a token with the description of its resource, and is ready with it', async () => {
    const resource = `${remote.origin}/mcp`;
    const description = {
      ...{ resource, resource_name: 'Notes', authorization_servers: ['https://login.example', 'javascript:alert(1)'] },
      ...{ scopes_supported: ['read', 7], unknown: true },
    };
    const challenge = `Bearer error="invalid_token", resource_metadata="${remote.origin}/.well-known/own", scope="read"`;
    guard({ token: 'abc', challenge, wellKnown: description });
    const { server, states } = fixture.server(remote.config());
    server.start();
    expect(await inState(server, 'authRequired')).toEqual({
      kind: 'authRequired',
      resource: {
        ...{ resource, resource_name: 'Notes', authorization_servers: ['https://login.example'] },
        scopes_supported: ['read'],
      },
      reason: 'required',
      requiredScopes: ['read'],
      message: 'Needed scopes: read',
    });
    expect(remote.requests.map(({ path }) => path)).toContain('/.well-known/own');
    expect(server.tools).toEqual([]);
    expect(server.authenticate({ token: 'abc' })).toBe(true);
    await inState(server, 'ready');
    expect(textOf(await call(server, 'echo', { a: 1 }))).toBe('{"a":1}');
    expect(states.map(({ kind }) => kind)).toEqual(['starting', 'authRequired', 'ready']);
  });

  it('[CUS-075] works alike with 403, with the older transport, and without any description', async () => {
    for (const transport of ['http', 'sse'] as const) {
      guard({ token: 'abc', status: 403, challenge: 'Bearer error="insufficient_scope", scope="write"' });
      const { server } = fixture.server(remote.config(transport));
      server.start();
      const { resource, reason, message } = await inState(server, 'authRequired');
      expect(resource.resource).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/(mcp|sse)$/);
      expect({ reason, message }).toEqual({ reason: 'required', message: 'Needed scopes: write' });
      server.authenticate({ token: 'abc' });
      await inState(server, 'ready');
      await server.stop();
    }
  });

  it('[CUS-075] [CUS-078] says that the token expired, also in the middle of a call, and takes a new one', async () => {
    guard({ token: 'first' });
    const { server, states } = fixture.server(remote.config());
    server.start();
    await inState(server, 'authRequired');
    server.authenticate({ token: 'first' });
    await inState(server, 'ready');
    guard({ token: 'second' });
    expect((await call(server, 'echo')).error?.code).toBe('AUTH_REQUIRED');
    expect((await inState(server, 'authRequired')).reason).toBe('expired');
    server.authenticate({ token: 'wrong' });
    await expect.poll(() => states.length, POLL).toBe(5);
    expect(states.at(-1)).toMatchObject({ kind: 'authRequired', reason: 'expired' });
    server.authenticate({ token: 'second' });
    await inState(server, 'ready');
    await server.stop();
    expect(states.map(({ kind }) => kind)).toEqual([
      ...['starting', 'authRequired', 'ready', 'authRequired', 'authRequired', 'ready', 'stopped'],
    ]);
  });

  it('[CUS-078] can be stopped while it waits for a token', async () => {
    guard({ token: 'abc' });
    const { server } = fixture.server(remote.config());
    server.start();
    await inState(server, 'authRequired');
    await server.stop();
    expect(server.state).toEqual({ kind: 'stopped' });
  });

  it('[CUS-083] shows the token to nobody: neither in a state nor in the log, even when the server repeats it', async () => {
    const { server, states } = fixture.server(remote.config());
    guard({ token: 'none' });
    server.start();
    await inState(server, 'authRequired');
    remote.intercept = ({ headers }, response) => json(response, `cannot serve ${headers.authorization}`, 500);
    server.authenticate({ token: 'tell-nobody' });
    expect((await inState(server, 'error')).message).toContain('cannot serve Bearer [hidden]');
    expect(JSON.stringify(states) + fixture.logged.join()).not.toContain('tell-nobody');
  });

  it('shows no keys of its declaration either', async () => {
    remote.intercept = ({ headers }, response) =>
      json(response, `no ${headers.authorization}, ${headers['x-team']}`, 500);
    const { server } = fixture.server(
      remote.config('http', { authorization: 'Bearer my-own-key', 'x-team': 'blue-and-red' }),
    );
    server.start();
    expect((await inState(server, 'error')).message).toContain('no [hidden], blue-and-red');
    const broken = fixture.server(remote.config('http', { 'x-key': 'secret\nsecret' })).server;
    broken.start();
    const { message } = await inState(broken, 'error');
    expect(message).toContain('The header "x-key" of the server\'s declaration cannot be sent');
    expect(message + fixture.logged.join()).not.toMatch(/my-own-key|secret\n/);
  });

  it('[CUS-083] takes no token that would not fit into a header', () => {
    const { server } = fixture.server(remote.config());
    for (const token of ['a b', 'a\r\nx: y', 'ü', 'x'.repeat(20_000)])
      expect(server.authenticate({ token })).toBe(false);
  });

  it('[CUS-083] sends the token and the headers of the declaration to no other origin', async () => {
    const other = await McpHttpServer.start();
    try {
      guard({ token: 'abc' });
      const { server } = fixture.server(remote.config('http', { 'x-key': 'k' }));
      server.start();
      await inState(server, 'authRequired');
      remote.intercept = (_request, response) => {
        response.writeHead(307, { location: `${other.origin}/mcp` }).end();
        return true;
      };
      server.authenticate({ token: 'abc' });
      await inState(server, 'error');
      expect(other.requests).toEqual([]);
    } finally {
      await other.stop();
    }
  });

  it('is believed only about itself: no foreign description, no foreign resource, nothing endless', async () => {
    const other = await McpHttpServer.start();
    const own = { resource: `${remote.origin}/mcp` };
    const descriptions: Gateway[] = [
      { token: 'abc', challenge: `Bearer resource_metadata="${other.origin}/.well-known/x"` },
      { token: 'abc', wellKnown: { resource: 'https://bank.example/', resource_name: 'Bank' } },
      { token: 'abc', wellKnown: { resource: `${remote.origin}/mcp/deeper`, resource_name: 'Deeper' } },
      { token: 'abc', wellKnown: { ...own, resource_name: 'x', filler: 'x'.repeat(MCP_RESOURCE_MAX_BYTES) } },
      { token: 'abc', wellKnown: 'text' },
    ];
    try {
      for (const description of descriptions) {
        guard(description);
        const { server } = fixture.server(remote.config());
        server.start();
        expect((await inState(server, 'authRequired')).resource).toEqual(own);
        await server.stop();
      }
      expect(other.requests).toEqual([]);
    } finally {
      await other.stop();
    }
  });
});
