import crypto from 'node:crypto';
import { syncBuiltinESMExports } from 'node:module';
import type { Logger } from '@atrium/core/util/logger.js';
import { describe, expect, it, vi } from 'vitest';
import { PairingBoard } from '../../../src/gateway/pairing.js';
import { FLUSH_EVERY_MS } from '../../../src/telemetry/telemetry.js';
import { FakeClock } from '../../support/fake-clock.js';
import { pair, sessionId, shownCode, shownPairings, withToken } from '../../support/gateway-connections.js';
import type { PuppetTurn } from '../../support/puppet-agent.js';
import { SectionAgent } from '../../support/section-agent.js';
import { envelopesOf, openFixture, openPuppetFixture, stateOf, turnStarted } from '../../support/session-fixture.js';
import { sessionsV1Client } from '../../support/sessions-v1-client.js';
import { settle } from '../../support/test-host.js';
import { TestProvider } from '../../support/test-provider.js';

async function askToPair(fixture: { host: Parameters<typeof TestProvider.connect>[0] }): Promise<TestProvider> {
  const provider = TestProvider.connect(fixture.host, 'network');
  provider.send({ type: 'auth', mode: 'pair', name: 'browser' });
  await provider.next('auth.pairing');
  return provider;
}

describe('pairing', () => {
  it('[GW-034] [GW-035] [GW-037] [GW-018] [GW-019] [UNI-063] shows a code to people, and admits the provider that was told', async () => {
    const fixture = await openFixture();
    const provider = await askToPair(fixture);
    expect(provider.of('auth.pairing')[0]?.prompt).not.toMatch(/\d/);
    expect(await shownPairings(fixture.client)).toMatchObject([{ name: 'browser', codes: [{ session: fixture.uri }] }]);
    const code = await shownCode(fixture.client, fixture.uri);
    expect(code).toMatch(/^\d{6}$/);
    provider.send({ type: 'auth.confirm', code });
    const { token, active } = await provider.next('sessions');
    expect(token).toMatch(/^ext-tok-[\da-f]{64}$/);
    expect(active).toMatchObject([{ id: sessionId(fixture.uri) }]);
    expect(JSON.stringify(provider.received)).not.toContain(code);
    await settle();
    expect(await shownPairings(fixture.client)).toEqual([]);
  });

  it('[GW-038] [GW-219] is over with one wrong code, and the old code is worth nothing any more', async () => {
    const fixture = await openFixture();
    const provider = await askToPair(fixture);
    const code = await shownCode(fixture.client, fixture.uri);
    provider.send({ type: 'auth.confirm', code: code === '000000' ? '000001' : '000000' });
    expect(await provider.next('error')).toMatchObject({ code: 'AUTH_FAILED', replyTo: 'auth.confirm' });
    await provider.untilClosed();
    expect(await shownPairings(fixture.client)).toEqual([]);
    const again = await askToPair(fixture);
    const next = await shownCode(fixture.client, fixture.uri);
    again.send({ type: 'auth.confirm', code: next === code ? '000002' : code });
    expect(await again.next('error')).toMatchObject({ code: 'AUTH_FAILED', replyTo: 'auth.confirm' });
    await again.untilClosed();
    expect([...provider.of('sessions'), ...again.of('sessions')]).toEqual([]);
  });

  it('[GW-039] [REL-049] may be tried five times a minute, from however many sockets', async () => {
    const fixture = await openFixture();
    const providers = Array.from({ length: 50 }, () => TestProvider.connect(fixture.host, 'network'));
    for (const provider of providers) provider.send({ type: 'auth', mode: 'pair' });
    await settle(10);
    expect(providers.filter((provider) => provider.of('auth.pairing').length > 0)).toHaveLength(5);
    expect(providers.flatMap((provider) => provider.of('error').map(({ code }) => code))).toEqual(
      Array(45).fill('RATE_LIMITED'),
    );
    await fixture.clock.advance(60_000);
    await askToPair(fixture);
  });

  it('[REL-049] burns a code with the first guess, also for the right one', async () => {
    const fixture = await openFixture();
    const provider = await askToPair(fixture);
    const code = await shownCode(fixture.client, fixture.uri);
    provider.send({ type: 'auth.confirm', code: code === '111111' ? '222222' : '111111' });
    provider.send({ type: 'auth.confirm', code });
    await provider.untilClosed();
    expect(provider.of('sessions')).toEqual([]);
  });

  it('[GW-040] lets in once with a code, and nobody else with the same', async () => {
    const fixture = await openFixture();
    const provider = await askToPair(fixture);
    const code = await shownCode(fixture.client, fixture.uri);
    const other = await askToPair(fixture);
    provider.send({ type: 'auth.confirm', code });
    await provider.next('sessions');
    other.send({ type: 'auth.confirm', code });
    expect(await other.next('error')).toMatchObject({ code: 'AUTH_FAILED' });
    provider.send({ type: 'auth.confirm', code });
    expect(await provider.next('error')).toMatchObject({ code: 'UNKNOWN_TYPE', replyTo: 'auth.confirm' });
    expect(provider.of('sessions')).toHaveLength(1);
  });

  it('[GW-040] [GW-015] gives people two minutes, and not more', async () => {
    const fixture = await openFixture();
    const quick = await askToPair(fixture);
    const code = await shownCode(fixture.client, fixture.uri);
    await fixture.clock.advance(119_000);
    expect(quick.closed).toBeUndefined();
    quick.send({ type: 'auth.confirm', code });
    await quick.next('sessions');
    const slow = await askToPair(fixture);
    const old = await shownCode(fixture.client, fixture.uri);
    await fixture.clock.advance(121_000);
    expect(await shownPairings(fixture.client)).toEqual([]);
    slow.send({ type: 'auth.confirm', code: old });
    expect(await slow.next('error')).toMatchObject({ code: 'AUTH_FAILED' });
    const idle = await askToPair(fixture);
    await fixture.clock.advance(131_000);
    expect(idle.closed).toBeDefined();
  });

  it('[GW-041] [GW-018] [GW-019] gives a token that opens later connections', async () => {
    const fixture = await openFixture();
    const { provider, token } = await pair(fixture);
    provider.drop();
    const again = await withToken(fixture.host, token);
    expect(again.of('sessions')).toMatchObject([{ active: [{ id: sessionId(fixture.uri) }] }]);
    expect(again.of('sessions')[0]).not.toHaveProperty('token');
    expect(again.received[0]?.type).toBe('sessions');
  });

  it('[GW-042] gives a token that ends with its session, but not when the session only rests', async () => {
    const fixture = await openFixture();
    const { provider, token } = await pair(fixture);
    provider.drop();
    fixture.client.send({ method: 'unsubscribe', params: { channel: fixture.uri } });
    await settle();
    await fixture.clock.advance(60 * 60_000);
    await withToken(fixture.host, token);
    await fixture.client.request('subscribe', { channel: fixture.uri });
    const back = await withToken(fixture.host, token);
    await back.hello({ name: 'browser' });
    await fixture.client.request('disposeSession', { channel: fixture.uri });
    await settle();
    const late = TestProvider.connect(fixture.host, 'network');
    late.send({ type: 'auth', token });
    expect(await late.next('error')).toMatchObject({ code: 'AUTH_FAILED' });
  });

  it('[GW-042] [GW-222] gives a token that no other host knows', async () => {
    const fixture = await openFixture();
    const { token } = await pair(fixture);
    const second = await openFixture({ log: fixture.host.log });
    const provider = TestProvider.connect(second.host, 'network');
    provider.send({ type: 'auth', token });
    expect(await provider.next('error')).toMatchObject({ code: 'AUTH_FAILED' });
    await pair(second);
  });

  it('[GW-043] waits for a session, without closing', async () => {
    const fixture = await openFixture();
    await fixture.client.request('disposeSession', { channel: fixture.uri });
    await settle();
    const provider = TestProvider.connect(fixture.host, 'network');
    for (let count = 0; count < 7; count++) provider.send({ type: 'auth', mode: 'pair' });
    await settle();
    expect(provider.of('error').map(({ code }) => code)).toEqual(Array(7).fill('INVALID_SESSION'));
    const uri = await fixture.client.session();
    await pair({ ...fixture, uri }, provider);
  });

  it('[GW-044] [GW-020] [GW-021] [GW-054] shows another code in each session; the code that is typed decides', async () => {
    const fixture = await openFixture({ session: { workingDirectory: 'file:///usr' } });
    const other = await fixture.client.session(undefined, { workingDirectory: 'file:///tmp' });
    const provider = await askToPair(fixture);
    const [first, second] = [await shownCode(fixture.client, fixture.uri), await shownCode(fixture.client, other)];
    expect(first).not.toBe(second);
    provider.send({ type: 'auth.confirm', code: second });
    const { active } = await provider.next('sessions');
    expect(active).toEqual([
      { id: sessionId(other), label: expect.any(String), cwd: '/tmp' },
      { id: sessionId(fixture.uri), label: expect.any(String) },
    ]);
    provider.send({ type: 'hello', name: 'browser', protocolVersion: 2, session: sessionId(fixture.uri) });
    expect(await provider.next('error')).toMatchObject({ code: 'INVALID_SESSION' });
    expect((await provider.hello({ name: 'browser', session: active[0]?.id })).sessionId).toBe(sessionId(other));
  });

  it('[UNI-063] [REL-069] is over when a person says no', async () => {
    const fixture = await openFixture();
    const provider = await askToPair(fixture);
    const [request] = await shownPairings(fixture.client);
    expect(await fixture.client.request('atrium/declinePairing', { id: request?.id })).toEqual({ wasOpen: true });
    expect(await provider.next('error')).toMatchObject({ code: 'AUTH_FAILED' });
    await provider.untilClosed();
    expect(await fixture.client.request('atrium/declinePairing', { id: request?.id })).toEqual({ wasOpen: false });
  });

  it('[REL-069] changes no session: not its status, its time, its questions or anything else of it', async () => {
    const logged: string[] = [];
    const logger: Logger = { log: (_, message) => void logged.push(message) };
    const fixture = await openFixture({ logger });
    const uris = [fixture.uri];
    for (let count = 0; count < 4; count += 1) uris.push(await fixture.client.session());
    for (const uri of uris) fixture.client.dispatch(uri, turnStarted('t1', 'fail'));
    await settle(20);
    const states = () => Promise.all(uris.map((uri) => stateOf(fixture.client, uri)));
    const list = () => fixture.client.request('listSessions', { channel: 'ahp-root://' });
    const [before, listed] = [await states(), await list()];
    const told = fixture.client.received.filter(({ method }) => method !== undefined).length;
    await fixture.clock.advance(60_000);
    const provider = await askToPair(fixture);
    await settle();
    expect(await shownPairings(fixture.client)).toHaveLength(1);
    expect(logged.filter((message) => message.includes('asks for access'))).toHaveLength(1);
    expect(logged.join().match(/\d{3} \d{3}/g)).toHaveLength(1);
    provider.send({ type: 'auth.confirm', code: 'wrong' });
    await provider.untilClosed();
    expect(await states()).toEqual(before);
    expect(await list()).toEqual(listed);
    expect(fixture.client.received.filter(({ method }) => method !== undefined)).toHaveLength(told);
  });

  it('[REL-069] is shown by name, with everything invisible spelled out', async () => {
    const board = new PairingBoard(new FakeClock(), { log: () => {} });
    board.post({ name: 'a\u202eb\n', codes: [], declined: () => {} });
    expect(board.list()).toMatchObject([{ name: 'a\\u{202e}b\\n' }]);
  });

  it('[GW-045] takes its code from a source that nobody can guess, and compares in constant time', async () => {
    const fixture = await openFixture();
    const other = await fixture.client.session();
    const random = vi.spyOn(crypto, 'randomInt');
    const bytes = vi.spyOn(crypto, 'randomBytes');
    const equal = vi.spyOn(crypto, 'timingSafeEqual');
    const hash = vi.spyOn(crypto, 'createHash');
    syncBuiltinESMExports();
    try {
      const { provider, token } = await pair({ ...fixture, uri: other });
      // One code for each session, and each of them was compared, whichever it was.
      expect(random.mock.calls).toEqual([[1_000_000], [1_000_000]]);
      expect(equal).toHaveBeenCalledTimes(2);
      expect(bytes).toHaveBeenCalledWith(32);
      // A token is looked up by its digest: how much of a guess is right makes no difference.
      const digests = hash.mock.calls.length;
      const wrong = TestProvider.connect(fixture.host, 'network');
      wrong.send({ type: 'auth', token: `${token.slice(0, -1)}x` });
      expect(await wrong.next('error')).toMatchObject({ code: 'AUTH_FAILED' });
      expect(hash.mock.calls.slice(digests)).toEqual([['sha256']]);
      // And so is the token for coming back.
      const { reconnectToken } = await provider.hello({ name: 'browser' });
      expect(bytes).toHaveBeenCalledWith(24);
      const compared = equal.mock.calls.length;
      const thief = await withToken(fixture.host, token);
      thief.send({ type: 'hello', name: 'browser', protocolVersion: 2, reconnectToken: `${reconnectToken}x` });
      expect(await thief.next('error')).toMatchObject({ code: 'DUPLICATE_INSTANCE' });
      expect(equal).toHaveBeenCalledTimes(compared + 1);
    } finally {
      vi.restoreAllMocks();
      syncBuiltinESMExports();
    }
  });

  it('[GW-221] tells no token in an error', async () => {
    const fixture = await openFixture();
    const { provider, token } = await pair(fixture);
    const { reconnectToken } = await provider.hello({ name: 'browser' });
    const thief = await withToken(fixture.host, token);
    for (const hello of [{ name: 'other' }, { name: 'browser', reconnectToken: `${reconnectToken}x` }])
      thief.send({ type: 'hello', protocolVersion: 2, ...hello });
    thief.send({ type: 'auth', token: `${token}x` });
    await settle();
    expect(thief.of('error').map(({ code }) => code)).toEqual(['UNAUTHORIZED', 'DUPLICATE_INSTANCE', 'UNKNOWN_TYPE']);
    for (const secret of [token, reconnectToken]) expect(JSON.stringify(thief.of('error'))).not.toContain(secret);
  });

  it('[UNI-064] shows its code again when a turn has taken the notice with it', async () => {
    const fixture = await openPuppetFixture();
    await askToPair(fixture);
    const code = await shownCode(fixture.client, fixture.uri);
    fixture.puppet.finish();
    await fixture.client.action(fixture.uri, 'session/turnComplete');
    expect(await shownCode(fixture.client, fixture.uri)).toBe(code);
  });

  it('[GW-036] [GW-221] [UNI-066] [UNI-102] keeps the code from models, providers, titles and errors', async () => {
    const fixture = await openPuppetFixture();
    const watching = ['user.message', 'assistant.message', 'tool.execution_complete', 'assistant.intent'];
    const watcher = await TestProvider.bound(fixture.host, { name: 'watcher', subscribe: watching });
    const provider = await askToPair(fixture);
    const code = await shownCode(fixture.client, fixture.uri);
    provider.send({ type: 'auth.confirm', code: code === '000000' ? '000001' : '000000' });
    await provider.untilClosed();
    fixture.puppet.turn.text('Answer');
    fixture.puppet.finish();
    await fixture.client.action(fixture.uri, 'session/turnComplete');
    await settle();
    fixture.client.dispatch(fixture.uri, turnStarted('t2', 'again'));
    const { turn } = await fixture.agent.turn(1);
    const seenByModel = JSON.stringify([turn.message, await fixture.agent.history(100)]);
    const { summary } = await stateOf(fixture.client, fixture.uri);
    for (const text of [seenByModel, JSON.stringify([watcher.received, provider.received]), JSON.stringify(summary)]) {
      expect(text).not.toContain(code);
      expect(text).not.toContain(`${code.slice(0, 3)} ${code.slice(3)}`);
    }
    // Not by their ids: those may contain any three digits.
    const parts = envelopesOf(fixture.client, fixture.uri).flatMap(({ action }) => action.part ?? []) as {
      content: string;
    }[];
    expect(parts.map(({ content }) => content).join()).not.toContain(code.slice(3));
  });

  it('[GW-036] is in nothing that an agent reads: not in its prompt, not beside a message, not in the history', async () => {
    const fixture = await openPuppetFixture({ agent: new SectionAgent() });
    const provider = await askToPair(fixture);
    const code = await shownCode(fixture.client, fixture.uri);
    const spoken = [code, `${code.slice(0, 3)} ${code.slice(3)}`, `${code.slice(0, 3)}-${code.slice(3)}`];
    const read: unknown[] = [];
    const look = async ({ turn }: PuppetTurn) =>
      read.push([...(await turn.renderPrompt())], turn.message, turn.context, turn.tools());
    // While the code is shown, in the turn that runs and in the next one, and after it was typed.
    await look(fixture.puppet);
    fixture.puppet.finish();
    await fixture.client.action(fixture.uri, 'session/turnComplete');
    fixture.client.dispatch(fixture.uri, turnStarted('t2'));
    await look(await fixture.agent.turn(1));
    provider.send({ type: 'auth.confirm', code });
    await provider.next('sessions');
    await look(await fixture.agent.turn(1));
    read.push(await fixture.agent.history(100));
    expect(JSON.stringify(read)).toContain('Be brief.');
    for (const text of spoken) expect(JSON.stringify(read)).not.toContain(text);
  });

  it('[UNI-065] [UNI-066] [UNI-084] [GW-036] is in no turn and no state of a session; who has an older client reads the console', async () => {
    const logged: string[] = [];
    const logger: Logger = { log: (_, message) => void logged.push(message) };
    const fixture = await openPuppetFixture({ logger });
    const phone = await sessionsV1Client(fixture.host, 'phone');
    await phone.subscribe(fixture.uri.replace('ahp-session:', 'puppet:'));
    await askToPair(fixture);
    expect(logged.join()).toMatch(/Type this code there, for the session .*: \d{3} \d{3}/);
    const code = await shownCode(fixture.client, fixture.uri);
    const spoken = `${code.slice(0, 3)} ${code.slice(3)}`;
    fixture.puppet.finish();
    await fixture.client.action(fixture.uri, 'session/turnComplete');
    const seen = JSON.stringify([phone.envelopes(), await stateOf(fixture.client, fixture.uri)]);
    for (const text of [code, spoken]) expect(seen).not.toContain(text);
    // The client shows it; the console stays quiet then.
    await askToPair(fixture);
    expect(logged.filter((message) => message.includes('asks for access'))).toHaveLength(1);
  });

  it('[UNI-102] [UNI-066] is in no telemetry, also when it is written to the console', async () => {
    const logged: string[] = [];
    const logger: Logger = { log: (_, message) => void logged.push(message) };
    const fixture = await openFixture({ logger });
    const channels = ['ahp-otlp://logs?level=debug', 'ahp-otlp://traces', 'ahp-otlp://metrics'];
    for (const channel of channels) await fixture.client.request('subscribe', { channel });
    fixture.client.send({ method: 'unsubscribe', params: { channel: fixture.uri } });
    await settle();
    const provider = await askToPair(fixture);
    await fixture.clock.advance(FLUSH_EVERY_MS);
    const told = await fixture.client.until(({ method }) => method === 'otlp/exportLogs');
    const code = await shownCode(fixture.client, fixture.uri);
    provider.send({ type: 'auth.confirm', code });
    await provider.next('sessions');
    await fixture.clock.advance(FLUSH_EVERY_MS);
    const exported = JSON.stringify(fixture.client.received.filter(({ method }) => method?.startsWith('otlp/')));
    const spoken = `${code.slice(0, 3)} ${code.slice(3)}`;
    expect(logged.join()).toContain(spoken);
    expect(JSON.stringify(told)).toContain('Type this code');
    for (const text of [code, spoken]) expect(exported).not.toContain(text);
  });

  it('[UNI-065] is written to the console of the host when no client looks', async () => {
    const logged: string[] = [];
    const logger: Logger = { log: (_, message) => void logged.push(message) };
    const fixture = await openFixture({ logger });
    await askToPair(fixture);
    const code = await shownCode(fixture.client, fixture.uri);
    expect(logged.join()).toContain(`${code.slice(0, 3)} ${code.slice(3)}`);
  });
});
