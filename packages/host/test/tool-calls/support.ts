/** Gates and extensions for tests: they write down what they were asked, and answer as told. */

import type { AgentTurn, ToolRequest } from '@atrium/core/contracts/agent.js';
import type { Extension, Gate, GateCall, GateVerdict } from '@atrium/core/contracts/extension.js';
import type { Session } from '@atrium/core/sessions/session.js';
import { TurnRunner } from '@atrium/core/sessions/turn.js';
import type { SessionAction, ToolCallState } from '@atrium/protocol';
import { callsIn, envelopesOf, type Fixture, stateOf } from '../support/session-fixture.js';
import type { RawClient } from '../support/test-host.js';

export const PASS: GateVerdict = { kind: 'pass' };
export const DENY: GateVerdict = { kind: 'deny', reason: 'CI is failing' };

export interface TestGate extends Gate {
  readonly asked: GateCall[];
  readonly signals: AbortSignal[];
}

type Answer = GateVerdict | Promise<GateVerdict> | ((call: GateCall) => GateVerdict | Promise<GateVerdict>);

export function gate(name: string, answer: Answer = PASS, more: Partial<Gate> = {}): TestGate {
  const asked: GateCall[] = [];
  const signals: AbortSignal[] = [];
  return {
    name,
    concerns: () => true,
    ...more,
    asked,
    signals,
    check(call, signal) {
      asked.push(call);
      signals.push(signal);
      return typeof answer === 'function' ? answer(call) : answer;
    },
  };
}

/** A gate that answers when it is told to. */
export function openGate(name: string): TestGate & { answer(verdict: GateVerdict): void } {
  let answer = (_verdict: GateVerdict): void => {};
  const given = new Promise<GateVerdict>((resolve) => {
    answer = resolve;
  });
  return { ...gate(name, given), answer: (verdict) => answer(verdict) };
}

export function extension(id: string, parts: Omit<Extension, 'id' | 'name'>): Extension {
  return { id, name: id, ...parts };
}

export function sessionOf(turn: AgentTurn): Session {
  if (!(turn instanceof TurnRunner)) throw new Error('not a turn of the host');
  return turn.chat.session;
}

/** Begins a call; nobody minds if the turn ends before the tool does. */
export function call(turn: AgentTurn, name: string, request: Partial<ToolRequest> = {}) {
  const outcome = turn.callTool({ id: 'c1', name, input: {}, ...request });
  outcome.catch(() => {});
  return outcome;
}

export async function callState(client: RawClient, uri: string, id = 'c1'): Promise<ToolCallState | undefined> {
  const { activeTurn, turns } = await stateOf(client, uri);
  const parts = activeTurn?.responseParts ?? turns.at(-1)?.responseParts;
  return callsIn(parts).find(({ toolCallId }) => toolCallId === id);
}

/** Everything that happened to a call, as clients saw it. */
export function stepsOf(client: RawClient, uri: string, id = 'c1') {
  return envelopesOf(client, uri).filter(({ action }) => action.toolCallId === id);
}

export function typesOf(client: RawClient, uri: string, id = 'c1'): string[] {
  return stepsOf(client, uri, id).map(({ action }) => action.type.replace('session/toolCall', ''));
}

export function answer(approved: boolean, more: object = {}): SessionAction {
  const target = { turnId: 't1', toolCallId: 'c1' };
  const decision = approved ? { approved, confirmed: 'user-action' as const } : { approved, reason: 'denied' as const };
  return { type: 'session/toolCallConfirmed', ...target, ...decision, ...more } as SessionAction;
}

export const approve = (fixture: Pick<Fixture, 'client' | 'uri'>, more: object = {}) =>
  fixture.client.dispatch(fixture.uri, answer(true, more));
