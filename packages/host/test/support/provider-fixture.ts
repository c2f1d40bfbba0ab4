/** Where tests of what providers do begin: a session with a running turn, and a provider that is bound to it. */

import type { ToolOutcome } from '@atrium/core/contracts/agent.js';
import type { ProviderToolDefinition } from '@atrium/protocol/provider';
import { sessionId } from './gateway-connections.js';
import { callsIn, type FixtureOptions, openPuppetFixture, type PuppetFixture, stateOf } from './session-fixture.js';
import { settle } from './test-host.js';
import { TestProvider } from './test-provider.js';

export interface ProviderFixture extends PuppetFixture {
  readonly provider: TestProvider;
  readonly sessionId: string;
}

export async function openProviderFixture(hello: object = {}, options: FixtureOptions = {}): Promise<ProviderFixture> {
  const fixture = await openPuppetFixture(options);
  return { ...fixture, provider: await TestProvider.bound(fixture.host, hello), sessionId: sessionId(fixture.uri) };
}

export function tool(name: string, more: Partial<ProviderToolDefinition> = {}): ProviderToolDefinition {
  return { name, description: `Does ${name}.`, parameters: {}, ...more };
}

/** The model calls a tool. The turn may end first. */
export function call({ puppet }: PuppetFixture, name: string, input: object = {}): Promise<ToolOutcome> {
  const outcome = puppet.turn.callTool({ name, input });
  outcome.catch(() => {});
  return outcome;
}

/** The names of the tools that the model is offered. */
export function offered({ puppet }: PuppetFixture): string[] {
  return puppet.turn.tools().map(({ name }) => name);
}

/** A tool as the model sees it. */
export function offer({ puppet }: PuppetFixture, name: string) {
  return puppet.turn.tools().find((definition) => definition.name === name);
}

/** The provider gets the next call, and answers it. */
export async function answerNext(provider: TestProvider, answer: object = { data: 'done' }) {
  const request = await provider.next('tool.call');
  provider.send({ type: 'tool.result', id: request.id, ...answer });
  return request;
}

/** All tool calls of the running turn, in the state. */
export async function callsOf({ client, uri }: PuppetFixture) {
  return callsIn((await stateOf(client, uri)).activeTurn?.responseParts);
}

/** The provider is told why something is not possible. */
export async function refusalTo(provider: TestProvider, message: object): Promise<{ code: string; message: string }> {
  provider.send(message);
  return provider.next('error');
}

/** What the provider changes is in force. */
export async function updated(provider: TestProvider, message: object): Promise<void> {
  provider.send({ requestId: 'r', ...message });
  await provider.next('ack');
}

/** What a provider was sent of these types since it was last looked at. */
export async function typesSince(provider: TestProvider, count: number): Promise<string[]> {
  await settle();
  return provider.received.slice(count).map(({ type }) => type);
}

/** A person says what becomes of a call that waits for them. */
export function decide({ client, uri }: PuppetFixture, toolCallId: string, decision: object): void {
  client.dispatch(uri, { type: 'session/toolCallConfirmed', turnId: 't1', toolCallId, ...decision });
}

export const YES = { approved: true, confirmed: 'user-action' };
export const NO = { approved: false, reason: 'denied' };
