import { systemClock } from '@atrium/core/util/clock.js';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { MCP_SERVERS_MAX } from '../../src/plugins/mcp/limits.js';
import { McpServer } from '../../src/plugins/mcp/mcp-server.js';
import { type McpDeclaration, McpServers } from '../../src/plugins/mcp/servers.js';
import { call, inState, isAlive, McpFixture, processConfig, textOf } from '../support/mcp-fixture.js';
import { McpHttpServer } from '../support/mcp-http-server.js';

let fixture: McpFixture;
let servers: McpServers;
let changed: string[];

beforeEach(() => {
  fixture = new McpFixture();
  changed = [];
  const { logger } = fixture;
  servers = new McpServers({
    clock: systemClock,
    logger,
    changed: ({ id, state }) => changed.push(`${id} ${state.kind}`),
  });
});
afterEach(() => servers.stop());

function add(declaration: McpDeclaration): McpServer {
  const added = servers.add(declaration);
  if (!(added instanceof McpServer)) throw new Error(added);
  return added;
}

describe('the servers of a session', { timeout: 30_000 }, () => {
  it('[CUS-066] do not concern each other: a broken one and a silent one leave the good one alone', async () => {
    const broken = add({ id: '1', name: 'broken', config: processConfig('exits') });
    const silent = add({ id: '2', name: 'silent', config: processConfig('hangs') });
    const good = add({ id: '3', name: 'good', config: processConfig('good') });
    for (const server of servers.all) server.start();
    await inState(good, 'ready');
    await inState(broken, 'error');
    expect(silent.state.kind).toBe('starting');
    expect(servers.tools.map(({ definition }) => definition.name)).toContain('mcp__good__echo');
    expect(changed).toEqual(expect.arrayContaining(['1 error', '3 ready']));
  });

  it('[CUS-067] keep the first of two with the same name, and warn', () => {
    const config = processConfig('good');
    const first = add({ id: '1', name: 'notes', config });
    expect(servers.add({ id: '2', name: 'notes', config })).toBe('name-taken');
    add({ id: '3', name: 'notes', plugin: 'office', config });
    expect(servers.add({ id: '4', name: 'notes', plugin: 'office', config })).toBe('name-taken');
    expect(servers.get('1')).toBe(first);
    expect(servers.all.map(({ id }) => id)).toEqual(['1', '3']);
    expect(fixture.logged).toHaveLength(2);
    expect(fixture.logged[0]).toBe('warn An MCP server is left out {"server":"notes","reason":"name-taken"}');
  });

  it('are bounded in number', () => {
    const config = processConfig('good');
    for (let index = 0; index < MCP_SERVERS_MAX; index += 1) add({ id: `${index}`, name: `s${index}`, config });
    expect(servers.add({ id: 'more', name: 'more', config })).toBe('too-many');
  });

  it('[CUS-065] end when they are removed, and when the session ends', async () => {
    const [one, two] = ['1', '2'].map((id) => add({ id, name: `s${id}`, config: processConfig('good') }));
    for (const server of servers.all) server.start();
    if (one && two) await Promise.all([inState(one, 'ready'), inState(two, 'ready')]);
    await servers.remove('1');
    expect(one?.state.kind).toBe('stopped');
    expect(servers.all).toEqual([two]);
    await servers.stop();
    expect(two?.state.kind).toBe('stopped');
  });

  it('[CUS-065] start where another was only when that is gone, and leave none behind that was removed', async () => {
    const declaration = { id: '1', name: 'notes', config: processConfig('good') };
    const family = async (server: McpServer) => {
      server.start();
      await inState(server, 'ready');
      return Number(textOf(await call(server, 'family', { text: 'stubborn' })));
    };
    const first = await family(add(declaration));
    void servers.remove('1');
    const second = await family(add(declaration));
    expect(isAlive(first)).toBe(false);
    void servers.remove('1');
    await servers.stop();
    expect(isAlive(second)).toBe(false);
  });

  it('get a token only for the resource that they asked for, also a fresh one while they are ready', async () => {
    const remote = await McpHttpServer.start();
    try {
      remote.intercept = ({ headers }, response) => {
        if (headers.authorization === 'Bearer abc') return false;
        response.writeHead(401).end();
        return true;
      };
      const server = add({ id: '1', name: 'remote', config: remote.config() });
      server.start();
      const { resource } = (await inState(server, 'authRequired')).resource;
      expect(servers.authenticate('https://elsewhere.example', { token: 'abc' })).toBe(false);
      expect(servers.authenticate(resource, { token: 'abc' })).toBe(true);
      await inState(server, 'ready');
      expect(servers.authenticate(resource, { token: 'abc' })).toBe(true);
      await servers.stop();
    } finally {
      await remote.stop();
    }
  });
});
