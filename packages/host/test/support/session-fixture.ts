/** Where most tests of sessions begin: a host, a clock that stands still, and people around one session. */
import type { ResponsePart, SessionState, StateAction, ToolCallState } from '@atrium/protocol';
import { onTestFinished } from 'vitest';
import { FakeClock } from './fake-clock.js';
import { PuppetAgent, type PuppetTurn } from './puppet-agent.js';
import { type RawClient, startTestHost, type TestHost, type TestHostOptions } from './test-host.js';

export interface Fixture {
  readonly clock: FakeClock;
  readonly host: TestHost;
  /** Who made the session. */
  readonly client: RawClient;
  readonly uri: string;
  /** The second agent; sessions use it when `session` names it. */
  readonly agent: PuppetAgent;
  /** Someone else who watches the session. */
  join(clientId: string): Promise<RawClient>;
}

export interface FixtureOptions extends Omit<TestHostOptions, 'clock' | 'agents'> {
  readonly clock?: FakeClock;
  readonly agent?: PuppetAgent;
  /** Parameters of `createSession`. */
  readonly session?: object;
}

export async function openFixture(options: FixtureOptions = {}): Promise<Fixture> {
  const { clock = new FakeClock(), agent = new PuppetAgent(), session = {}, ...rest } = options;
  const host = await startHost({ ...rest, clock, agents: [agent] });
  const client = await host.client('desk');
  const uri = await client.session(undefined, session);
  return {
    clock,
    host,
    client,
    uri,
    agent,
    async join(clientId) {
      const client = await host.client(clientId);
      await client.request('subscribe', { channel: uri });
      return client;
    },
  };
}

export interface PuppetFixture extends Fixture {
  readonly puppet: PuppetTurn;
}

/** A fixture whose session has a turn `t1` running, with its agent in the hands of the test. */
export async function openPuppetFixture(options: FixtureOptions = {}): Promise<PuppetFixture> {
  const fixture = await openFixture({ ...options, session: { provider: 'puppet', ...options.session } });
  fixture.client.dispatch(fixture.uri, turnStarted('t1'));
  return { ...fixture, puppet: await fixture.agent.turn(0) };
}

/** A host that is stopped when its test is over. */
export async function startHost(options: TestHostOptions = {}): Promise<TestHost> {
  const host = await startTestHost(options);
  onTestFinished(() => host.stop());
  return host;
}

export function turnStarted(turnId: string, text = 'go on'): StateAction {
  return { type: 'session/turnStarted', turnId, userMessage: { text } };
}

export interface Envelope {
  readonly action: Record<string, unknown> & { readonly type: string };
  readonly serverSeq: number;
  readonly origin?: { readonly clientId: string; readonly clientSeq: number };
  readonly rejectionReason?: string;
}

export function envelopesOf(client: RawClient, uri: string): Envelope[] {
  return client.envelopes(uri) as Envelope[];
}

/** The one envelope that answers a client's action. */
export async function answerTo(client: RawClient, uri: string, clientSeq: number): Promise<Envelope> {
  const { params } = await client.until(({ method, params: envelope }) => {
    const origin = envelope?.origin as Envelope['origin'];
    const isOwn = origin?.clientId === client.clientId && origin.clientSeq === clientSeq;
    return method === 'action' && envelope?.channel === uri && isOwn;
  });
  return params as unknown as Envelope;
}

/** Dispatches an action and says why it was turned down; undefined when it was taken. */
export async function refusalOf(
  client: RawClient,
  uri: string,
  action: StateAction | { type: string },
): Promise<string | undefined> {
  return (await answerTo(client, uri, client.dispatch(uri, action))).rejectionReason;
}

export function stateOf(client: RawClient, uri: string): Promise<SessionState> {
  return client.state<SessionState>(uri);
}

/** The text of all markdown parts, one after the other. */
export function textIn(parts: readonly { readonly kind: string; readonly content?: unknown }[] | undefined): string {
  return (parts ?? []).flatMap((part) => (part.kind === 'markdown' ? String(part.content) : [])).join('');
}

export function lastText({ turns }: SessionState): string {
  return textIn(turns.at(-1)?.responseParts);
}

type CallIn<Part> = Part extends { readonly kind: 'toolCall'; readonly toolCall: infer Call } ? Call : never;

/** The tool calls of a turn, as a client or as an agent sees it. */
export function callsIn<Part extends { readonly kind: string } = ResponsePart>(
  parts: readonly Part[] | undefined,
): CallIn<Part>[] {
  const calls = (parts ?? []).filter(({ kind }) => kind === 'toolCall') as unknown as { toolCall: CallIn<Part> }[];
  return calls.map(({ toolCall }) => toolCall);
}

/** The one tool call of the running turn, as soon as it is in this state. */
export async function runningCall(client: RawClient, uri: string, status: ToolCallState['status']) {
  const types: Partial<Record<ToolCallState['status'], string>> = {
    'pending-confirmation': 'session/toolCallReady',
    running: 'session/toolCallReady',
    'pending-result-confirmation': 'session/toolCallComplete',
  };
  await client.action(uri, types[status] ?? 'session/toolCallStart');
  const [call] = callsIn((await stateOf(client, uri)).activeTurn?.responseParts);
  if (call?.status !== status) throw new Error(`the call is ${call?.status}, not ${status}`);
  return call;
}
