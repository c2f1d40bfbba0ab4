/** What holds for every dialect, whichever are registered. */
import { describe, expect, it } from 'vitest';
import type { ActionMap, StateAction } from '../../src/actions.js';
import { ROOT_CHANNEL } from '../../src/channels.js';
import {
  DIALECTS,
  DIALECTS_0_3,
  dialectNamed,
  NATIVE_DIALECT,
  NO_MEMORY,
  type Step,
} from '../../src/dialects/index.js';
import type { SessionState } from '../../src/session/state.js';
import { agreeOnVersion, BASELINES } from '../../src/versions/agreement.js';
import { sessionState, sessionSummary } from '../support/builders.js';
import { randomHistory } from '../support/session-history.js';
import { CHANNEL, hostWith, ORIGIN } from './sessions-v1/scenes.js';

/** A session may have a scheme of its own. */
const OWN_SCHEME = 'copilot:/odd';
const view = hostWith(
  sessionState(),
  sessionState({ summary: sessionSummary({ resource: OWN_SCHEME, provider: 'claude' }) }),
);
const CONNECTIONS = [{}, { rootUri: 'agenthost:root' }, { rootUri: 'agenthost:/root' }] as const;
/** Each dialect, in all the ways in which connections can speak it. */
const SPOKEN = DIALECTS_0_3.flatMap((dialect) => [
  ...new Set(CONNECTIONS.map((known) => dialect.forConnection(known))),
]);

/** What clients of every wire can dispatch. */
const CLIENT_ACTIONS: ReadonlySet<string> = new Set([
  'session/turnStarted',
  'session/turnCancelled',
  'session/modelChanged',
  'session/toolCallConfirmed',
  'session/toolCallResultConfirmed',
]);

/** The members that no wire loses. */
function meaningOf(action: StateAction): object {
  const { type, turnId, toolCallId, approved } = action as Partial<ActionMap['session/toolCallConfirmed']>;
  const plain = JSON.parse(JSON.stringify({ type, turnId, toolCallId, approved }));
  if (action.type === 'session/turnStarted') return { ...plain, userMessage: { text: action.userMessage.text } };
  return action.type === 'session/modelChanged' ? { ...plain, model: { id: action.model.id } } : plain;
}

/** Wires put the action directly into the parameters, or into an envelope. */
function actionIn(params: object): unknown {
  const { envelope = params } = params as { readonly envelope?: object };
  return (envelope as { readonly action?: unknown }).action;
}

describe('the registry of dialects', () => {
  it('has each version once, and every version that can be negotiated', () => {
    const versions = DIALECTS.map(({ traits }) => traits.version);
    expect(new Set(versions).size).toBe(versions.length);
    for (const { baseline } of BASELINES) {
      expect(agreeOnVersion([baseline])).toMatchObject({ outcome: 'agreed', version: baseline });
      expect(dialectNamed(baseline)?.traits.version).toBe(baseline);
    }
    expect(NATIVE_DIALECT).toBe(DIALECTS[0]);
    expect(dialectNamed('0.0.1')).toBeUndefined();
  });
});

describe.each(SPOKEN)('the dialect $traits.version', (dialect) => {
  it('names every channel that it has so that the name leads back to it', () => {
    for (const channel of [ROOT_CHANNEL, CHANNEL, OWN_SCHEME, 'ahp-terminal:/1', 'ahp-changeset:/1']) {
      const shown = dialect.wireChannels(channel, view);
      expect(shown.map((wireChannel) => dialect.channelOf(wireChannel, view))).toEqual(shown.map(() => channel));
    }
  });

  it('has the root and sessions', () => {
    for (const channel of [ROOT_CHANNEL, CHANNEL]) expect(dialect.wireChannels(channel, view)).not.toEqual([]);
  });

  it('puts each action on a channel that shows the one where it happened', () => {
    const agentsChanged: StateAction = { type: 'root/agentsChanged', agents: [] };
    const happened: [string, readonly { action: StateAction; before?: SessionState; after?: SessionState }[]][] = [
      [CHANNEL, randomHistory(7, 200).steps],
      [ROOT_CHANNEL, [{ action: agentsChanged }]],
    ];
    for (const [channel, steps] of happened) {
      const wrapped = steps.map(({ action, before, after }, index): Step => {
        return { envelope: { channel, action, serverSeq: index + 1 }, before, after };
      });
      const { frames } = dialect.encodeSteps(NO_MEMORY, wrapped);
      expect(frames.length).toBeGreaterThan(0);
      for (const frame of frames) expect(dialect.wireChannels(channel, view)).toContain(frame.channel);
    }
  });

  it('takes an action as clients of this wire dispatch it for the one that it shows them', () => {
    const taken = new Set<string>();
    for (let seed = 1; seed <= 40; seed += 1) {
      let memory = NO_MEMORY;
      for (const { action, before, after } of randomHistory(seed, 150).steps) {
        const channel = before.summary.resource;
        const envelope = { channel, action, serverSeq: 1, origin: ORIGIN };
        const encoded = dialect.encodeSteps(memory, [{ envelope, before, after }]);
        const shown = encoded.frames.find(({ origin }) => origin !== undefined);
        const host = hostWith(before);
        host.memories.set(channel, memory);
        memory = encoded.memory;
        if (!shown || before === after || !CLIENT_ACTIONS.has(action.type)) continue;
        const params = { channel: shown.channel, clientSeq: 1, action: actionIn(shown.params) };
        const inbound = dialect.notification({ method: 'dispatchAction', params }, {}, host);
        expect(inbound).toMatchObject({ kind: 'dispatch', channel, action: meaningOf(action) });
        taken.add(action.type);
      }
    }
    expect(taken).toEqual(CLIENT_ACTIONS);
  });

  it('speaks the same version whatever the connection', () => {
    for (const known of CONNECTIONS) expect(dialect.forConnection(known).traits).toBe(dialect.traits);
  });
});
