/** Calls of an MCP server that wants a token in the middle of them: real servers over HTTP, and clients of 1.0. */
import { type ChatState, defaultChatUri, type SessionState, type ToolCallState } from '@atrium/protocol/ahp-1';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { MCP_SIGN_IN_ROUNDS_MAX, MCP_SIGN_IN_TIMEOUT_MS } from '../../src/plugins/mcp/limits.js';
import { type CustomFixture, openCustomFixture, POLL } from '../support/custom-fixture.js';
import { McpClock } from '../support/mcp-clock.js';
import { call, inState, McpFixture } from '../support/mcp-fixture.js';
import { json, McpHttpServer } from '../support/mcp-http-server.js';
import type { RawClient } from '../support/test-host.js';

let remote: McpHttpServer;
/** The token that the server takes, and what it says to others. */
let good = 'first';
let refusal: { readonly status: number; readonly challenge: string } = { status: 401, challenge: 'Bearer' };

beforeEach(async () => {
  good = 'first';
  refusal = { status: 401, challenge: 'Bearer scope="notes:read"' };
  remote = await McpHttpServer.start();
  remote.intercept = (request, response) => {
    if (request.url?.startsWith('/.well-known/'))
      return json(response, { resource: `${remote.origin}/mcp`, resource_name: 'Notes' });
    if (request.headers.authorization === `Bearer ${good}`) return false;
    response.writeHead(refusal.status, { 'www-authenticate': refusal.challenge }).end();
    return true;
  };
});
afterEach(() => remote.stop());

interface Scene {
  readonly fixture: CustomFixture;
  readonly client: RawClient;
  readonly chat: string;
  authenticate(token: string, more?: object): Promise<unknown>;
  session(): Promise<SessionState>;
  /** The newest call, as soon as it has this status. */
  callIn<Status extends ToolCallState['status']>(status: Status): Promise<Extract<ToolCallState, { status: Status }>>;
}

/** A session whose server has taken the first token, watched by a client of 1.0. */
async function openScene(options: Parameters<typeof openCustomFixture>[0] = {}): Promise<Scene> {
  const config = { mcpServers: { notes: { url: `${remote.origin}/mcp` } } };
  const fixture = await openCustomFixture({ config, ...options });
  const client = await fixture.connect('new', undefined, { protocolVersions: ['1.0.0'] });
  const chat = defaultChatUri(fixture.uri);
  const session = () => client.state<SessionState>(fixture.uri);
  await client.request('subscribe', { channel: fixture.uri });
  await client.request('subscribe', { channel: chat });
  const authenticate = (token: string, more: object = {}) =>
    client.ask('authenticate', { channel: 'ahp-root://', resource: `${remote.origin}/mcp`, token, ...more });
  const latest = async () => {
    const parts = (await client.state<ChatState>(chat)).activeTurn?.responseParts ?? [];
    return parts.flatMap((part) => (part.kind === 'toolCall' ? [part.toolCall] : [])).at(-1);
  };
  const callIn: Scene['callIn'] = async (status) => {
    await expect.poll(async () => (await latest())?.status, POLL).toBe(status);
    return (await latest()) as never;
  };
  const scene = { fixture, client, chat, authenticate, session, callIn };
  await serverIn(scene, 'authRequired');
  await authenticate('first');
  await serverIn(scene, 'ready');
  client.dispatch(fixture.uri, { type: 'session/configChanged', config: { autoApprove: true } });
  return scene;
}

async function serverIn({ session }: Pick<Scene, 'session'>, kind: string) {
  const find = async () => (await session()).customizations?.find(({ name }) => name === 'notes');
  const state = async () => {
    const entry = await find();
    return entry?.type === 'mcpServer' ? entry.state : undefined;
  };
  await expect.poll(async () => (await state())?.kind, POLL).toBe(kind);
  return state();
}

describe('a call whose server wants a token in the middle of it', { timeout: 60_000 }, () => {
  it('[UP-125] [UP-126] [UP-049] [UP-176] waits, is listed as such, and goes on once with the token', async () => {
    const scene = await openScene();
    const { turn } = await scene.fixture.turn();
    good = 'second';
    const outcome = turn.callTool({ id: 'c1', name: 'mcp__notes__echo', input: { a: 1 } });
    const waiting = await scene.callIn('auth-required');
    expect(waiting).toMatchObject({
      contributor: { kind: 'mcp' },
      auth: { reason: 'expired', resource: { resource: `${remote.origin}/mcp`, resource_name: 'Notes' } },
    });
    expect(waiting.auth.requiredScopes).toEqual(['notes:read']);
    const needed = ({ inputNeeded = [] }: SessionState) =>
      inputNeeded.filter(({ kind }) => kind === 'toolAuthentication');
    const listed = await scene.session();
    expect(needed(listed)).toMatchObject([{ turnId: 't1', chat: scene.chat, toolCall: { toolCallId: 'c1' } }]);
    expect(listed.status & 31).toBe(24);
    expect(await scene.authenticate('second')).toMatchObject({ result: {} });
    expect(await outcome).toMatchObject({ kind: 'completed', success: true, text: '{"a":1}' });
    expect(remote.ran).toEqual(['echo']);
    expect(needed(await scene.session())).toEqual([]);
    const types = scene.client.types(scene.chat).filter((type) => type.startsWith('chat/toolCallAuth'));
    expect(types).toEqual(['chat/toolCallAuthRequired', 'chat/toolCallAuthResolved']);
    expect(JSON.stringify(scene.client.received)).not.toMatch(/"second"/);
  });

  it('[UP-177] [UP-051] says anew that the token is of no use when the next one is refused too', async () => {
    const scene = await openScene();
    const { turn } = await scene.fixture.turn();
    good = 'third';
    const outcome = turn.callTool({ id: 'c1', name: 'mcp__notes__echo', input: {} });
    await scene.callIn('auth-required');
    await scene.authenticate('second');
    await expect
      .poll(() => scene.client.types(scene.chat).filter((type) => type === 'chat/toolCallAuthRequired').length, POLL)
      .toBe(2);
    expect((await scene.callIn('auth-required')).auth.reason).toBe('expired');
    await scene.authenticate('third');
    expect(await outcome).toMatchObject({ success: true });
    expect(remote.ran).toEqual(['echo']);
  });

  it('[UP-070] a token that does not grant enough stops the call alone: the server stays ready', async () => {
    const scene = await openScene();
    await scene.authenticate('first', { scopes: ['notes:read'] });
    const { turn } = await scene.fixture.turn();
    good = 'wider';
    refusal = { status: 403, challenge: 'Bearer error="insufficient_scope", scope="notes:read notes:write"' };
    const outcome = turn.callTool({ id: 'c1', name: 'mcp__notes__echo', input: {} });
    expect((await scene.callIn('auth-required')).auth).toMatchObject({
      ...{ reason: 'insufficientScope', requiredScopes: ['notes:read', 'notes:write'] },
      description: 'Needed scopes: notes:read notes:write; the token grants: notes:read',
    });
    expect((await serverIn(scene, 'ready'))?.kind).toBe('ready');
    await scene.authenticate('wider', { scopes: ['notes:read', 'notes:write'] });
    expect(await outcome).toMatchObject({ success: true });
    expect(remote.ran).toEqual(['echo']);
  });

  it('[UP-126] ends with its turn, and nothing is sent when the token comes later', async () => {
    const scene = await openScene();
    const { turn, turnId } = await scene.fixture.turn();
    good = 'second';
    const outcome = turn.callTool({ id: 'c1', name: 'mcp__notes__echo', input: {} }).catch(() => 'over');
    await scene.callIn('auth-required');
    scene.client.dispatch(scene.chat, { type: 'chat/turnCancelled', turnId, duration: 1 } as { type: string });
    await scene.client.action(scene.chat, 'chat/turnCancelled');
    expect(await outcome).toBe('over');
    const { turns } = await scene.client.state<ChatState>(scene.chat);
    expect(turns.at(-1)?.responseParts).toMatchObject([{ toolCall: { status: 'cancelled', reason: 'skipped' } }]);
    await scene.authenticate('second');
    await serverIn(scene, 'ready');
    expect(remote.ran).toEqual([]);
    await expect.poll(async () => (await scene.session()).inputNeeded ?? [], POLL).toEqual([]);
  });

  it('[UP-122] [UP-125] fails when its server is stopped meanwhile', async () => {
    const scene = await openScene();
    const { turn } = await scene.fixture.turn();
    good = 'second';
    const outcome = turn.callTool({ id: 'c1', name: 'mcp__notes__echo', input: {} });
    await scene.callIn('auth-required');
    const entry = (await scene.session()).customizations?.find(({ name }) => name === 'notes');
    scene.client.dispatch(scene.fixture.uri, { type: 'session/mcpServerStopRequested', id: entry?.id } as {
      type: string;
    });
    expect(await outcome).toMatchObject({ kind: 'completed', success: false });
    expect((await scene.callIn('completed')).error?.code).toBe('SERVER_LOST');
  });

  it('[UP-222] runs on for clients of 0.5.2 and of 0.3.0, which have no word for it', async () => {
    const scene = await openScene();
    const older = await scene.fixture.connect('older', undefined, { protocolVersions: ['0.5.2'] });
    await older.request('subscribe', { channel: scene.chat });
    const { turn } = await scene.fixture.turn();
    good = 'second';
    const outcome = turn.callTool({ id: 'c1', name: 'mcp__notes__echo', input: {} });
    await scene.callIn('auth-required');
    const parts = (await older.state<ChatState>(scene.chat)).activeTurn?.responseParts;
    expect(parts).toMatchObject([{ toolCall: { status: 'running', toolCallId: 'c1' } }]);
    expect((await scene.fixture.state()).activeTurn?.responseParts).toMatchObject([
      { toolCall: { status: 'running' } },
    ]);
    await scene.authenticate('second');
    expect(await outcome).toMatchObject({ success: true });
    expect(JSON.stringify([older.received, scene.fixture.client.received])).not.toContain('toolCallAuth');
  });
});

describe('a token', { timeout: 60_000 }, () => {
  it('[UP-050] is good for as long as it says; then the server wants another one', async () => {
    const scene = await openScene();
    await scene.authenticate('first', { expiresIn: 1 });
    expect(await serverIn(scene, 'authRequired')).toMatchObject({ reason: 'expired' });
    const { turn } = await scene.fixture.turn();
    // Its tools stay: a call of one waits, and is not sent without a token.
    const outcome = turn.callTool({ id: 'c1', name: 'mcp__notes__echo', input: {} });
    await scene.callIn('auth-required');
    await scene.authenticate('first');
    expect(await outcome).toMatchObject({ success: true });
    await serverIn(scene, 'ready');
  });

  it('[UP-050] [UP-051] is taken back by an empty one, and the next one replaces the time of the one before', async () => {
    const scene = await openScene();
    await scene.authenticate('first', { expiresIn: 1 });
    await scene.authenticate('first', { expiresIn: 3_600 });
    await new Promise((resolve) => setTimeout(resolve, 1_200));
    await serverIn(scene, 'ready');
    expect(await scene.authenticate('')).toMatchObject({ result: {} });
    expect(await serverIn(scene, 'authRequired')).toMatchObject({ reason: 'required' });
    for (const wrong of [
      { expiresIn: 0 },
      { expiresIn: 1.5 },
      { scopes: ['x'.repeat(257)] },
      { scopes: Array(101).fill('x') },
    ])
      expect(await scene.authenticate('first', wrong)).toMatchObject({ error: { code: -32602 } });
  });
});

describe('the server of a call that waits for a token', { timeout: 30_000 }, () => {
  const fixture = new McpFixture();
  afterEach(() => fixture.close());

  async function readyServer(clock = new McpClock()) {
    const { server } = fixture.server(remote.config(), {}, clock);
    server.start();
    await inState(server, 'authRequired');
    server.authenticate({ token: 'first' });
    await inState(server, 'ready');
    return { server, clock };
  }

  it('[UP-125] answers what was on its way when another call was refused, and is not sent it twice', async () => {
    const { server } = await readyServer();
    const held = call(server, 'hold');
    await expect.poll(() => remote.ran, POLL).toEqual(['hold']);
    good = 'second';
    expect((await call(server, 'echo')).error?.code).toBe('AUTH_REQUIRED');
    await inState(server, 'authRequired');
    server.authenticate({ token: 'second' });
    await inState(server, 'ready');
    remote.release();
    expect(await held).toMatchObject({ success: true });
    expect(remote.ran).toEqual(['hold']);
  });

  it('[UP-126] gives up after its time, and after so many refused tokens', async () => {
    const { server, clock } = await readyServer();
    good = 'never';
    const shown: unknown[] = [];
    const signIn = async (auth: unknown, signedIn: Promise<void>) => {
      shown.push(auth);
      await signedIn;
    };
    const late = call(server, 'echo', {}, { signIn });
    await inState(server, 'authRequired');
    await expect.poll(() => shown.length, POLL).toBe(1);
    clock.advance(MCP_SIGN_IN_TIMEOUT_MS);
    expect((await late).error).toMatchObject({ code: 'AUTH_REQUIRED', message: expect.stringContaining('15 minutes') });
    const refused = call(server, 'echo', {}, { signIn });
    for (let round = 1; round <= MCP_SIGN_IN_ROUNDS_MAX; round += 1) {
      await expect.poll(() => shown.length, POLL).toBe(1 + round);
      server.authenticate({ token: `wrong-${round}` });
    }
    expect((await refused).error?.code).toBe('AUTH_REQUIRED');
    expect(shown).toHaveLength(1 + MCP_SIGN_IN_ROUNDS_MAX);
    expect(remote.ran).toEqual([]);
  });
});
