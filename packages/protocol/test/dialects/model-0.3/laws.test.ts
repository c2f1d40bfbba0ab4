/**
 * What must hold between the 1.0 model and 0.3.0, for any course of a session. A failure prints the seed.
 * Times are not compared: 1.0 has none in the state of a session, and 0.3.0 stamps its own.
 */
import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { Compile } from 'typebox/compile';
import { describe, expect, it } from 'vitest';
import { states } from '../../../generated/ahp.js';
import { ChatState as ChatState1 } from '../../../src/ahp-1/chat/state.js';
import type * as Ahp1 from '../../../src/ahp-1/index.js';
import { SessionState as SessionState1 } from '../../../src/ahp-1/session/state.js';
import { actionDown, isUntranslatable } from '../../../src/dialects/model-0.3/actions-down.js';
import { sessionDown } from '../../../src/dialects/model-0.3/states.js';
import { sessionUp } from '../../../src/dialects/model-0.3/upcast.js';
import type * as Ahp03 from '../../../src/index.js';
import { ACTIVITY_MASK, SessionStatus } from '../../../src/session/status.js';
import { checkAction } from '../../../src/validation/index.js';
import { CHAT, ModelHost } from '../../support/model-host.js';
import { type Random, randomHistory, seededRandom } from '../../support/session-history.js';

const RUNS = 25;
const LENGTH = 80;
const seeds = fc.integer({ min: 1, max: 2 ** 31 - 1 });

interface Mask {
  /** Which bits of the activity count. */
  readonly activity?: number;
  /** Calls whose input 0.3.0 drops and 1.0 keeps. */
  readonly inputs?: ReadonlySet<string>;
}

/** `toEqual` is slow, and needed only for its message. */
function expectEqual(got: unknown, expected: unknown, label: string): void {
  if (!isDeepStrictEqual(got, expected)) expect(got, label).toEqual(expected);
}

/** A state as JSON, without times and without what the mask names. */
function plain(state: Ahp03.SessionState, { activity = ACTIVITY_MASK, inputs = new Set() }: Mask = {}): unknown {
  const status = state.summary.status & (~ACTIVITY_MASK | activity);
  const shown = { ...state, summary: { ...state.summary, status, createdAt: 0, modifiedAt: 0 } };
  return JSON.parse(JSON.stringify(shown), (_key, value) => {
    if (value?.toolCallId === undefined || !inputs.has(value.toolCallId)) return value;
    const { toolInput, ...call } = value;
    return call;
  });
}

/**
 * The activity is not compared where the reducers of the two versions differ: after a part that waits was put into the
 * answer as a whole, which hosts do not do, and after a failure that 0.3.0 has forgotten.
 */
class Course {
  readonly inputs = new Set<string>();
  isStale = false;

  constructor(readonly host: ModelHost) {}

  take({ action, now, before }: { action: Ahp03.SessionAction; now: number; before: Ahp03.SessionState }): void {
    if (action.type === 'session/turnStarted') this.isStale = false;
    if (action.type === 'session/responsePart' && action.part.kind === 'toolCall') {
      this.isStale ||= action.part.toolCall.status.startsWith('pending');
    }
    if (action.type === 'session/toolCallReady' && action.toolInput === undefined) this.#noteInput(action, before);
    this.host.apply(action, now);
  }

  #noteInput({ toolCallId }: Ahp03.SessionToolCallReadyAction, { activeTurn }: Ahp03.SessionState): void {
    const isRunning = activeTurn?.responseParts.some(
      (part) =>
        part.kind === 'toolCall' && part.toolCall.toolCallId === toolCallId && part.toolCall.status === 'running',
    );
    if (isRunning) this.inputs.add(toolCallId);
  }

  get mask(): Mask {
    if (this.isStale) return { activity: 0 };
    return this.host.failureForgotten ? { activity: ACTIVITY_MASK & ~(SessionStatus.Idle | SessionStatus.Error) } : {};
  }
}

describe('a session in the 1.0 model', () => {
  it('[UP-242] [UP-243] [UP-245] shows clients of 0.3.0 after each of their actions what the 0.3.0 reducers say', () => {
    fc.assert(
      fc.property(seeds, (seed) => {
        const { initial, steps } = randomHistory(seed, LENGTH);
        const course = new Course(new ModelHost(initial, { forgets: true }));
        for (const step of steps) {
          course.take(step);
          const mask = { ...course.mask, inputs: course.inputs };
          expectEqual(plain(course.host.shown, mask), plain(step.after, mask), step.action.type);
        }
      }),
      { numRuns: RUNS },
    );
  });

  it('[UP-242] [UP-243] gives a client that follows by translated actions the state that a snapshot shows', () => {
    fc.assert(
      fc.property(seeds, (seed) => {
        const random = seededRandom(seed ^ 0x5bd1);
        const { initial, steps } = randomHistory(seed, LENGTH);
        const course = new Course(new ModelHost(initial, { standsOutside: () => random.chance(0.3) }));
        const { host } = course;
        const check = (label: string) =>
          expectEqual(plain(host.mirror, course.mask), plain(host.shown, course.mask), label);
        for (const step of steps) {
          course.take(step);
          check(step.action.type);
          for (const action of onlyInModel(host, random)) {
            host.take(action);
            check(action.type);
          }
        }
      }),
      { numRuns: RUNS },
    );
  });
});

/** Something that only 1.0 has. */
function onlyInModel(host: ModelHost, random: Random): readonly { type: string }[] {
  if (random.chance(0.5)) return [];
  const message = { text: 'later', origin: { kind: 'user' }, model: { id: 'm', config: { depth: 3 } } };
  const other = 'ahp-chat:/other';
  const summary = { resource: other, title: 'Other', status: 1, modifiedAt: '2026-01-01T00:00:00.000Z' };
  const server = { type: 'mcpServer', id: 'server', uri: 'file:///mcp', name: 'mcp', state: { kind: 'starting' } };
  const plugin = { type: 'plugin', id: 'boxed', uri: 'file:///p', name: 'p', children: [{ ...server, id: 'inner' }] };
  const enablement = [
    { kind: 'workspace', uri: 'file:///w', enabled: random.chance(0.5) },
    { kind: 'global', enabled: true },
  ];
  const id = random.of(['server', 'inner', 'boxed']);
  const client = { clientId: random.of(['desk', 'phone', 'cli']), tools: [{ name: random.of(['a', 'b']) }] };
  const entry = { kind: 'chatInput', id: 'input:elsewhere', chat: other, request: { id: 'elsewhere' } };
  return random.of<readonly object[]>([
    [{ type: 'chat/draftChanged', draft: random.chance(0.7) ? message : undefined }],
    [{ type: 'chat/activityChanged', activity: 'thinking' }],
    [{ type: 'chat/isReadChanged', isRead: random.chance(0.5) }],
    [{ type: 'chat/backgroundWorkSet', work: { kind: 'subagent', id: 'w', label: 'w', startedAt: '', chat: other } }],
    [{ type: 'session/chatAdded', summary }],
    [{ type: 'session/chatRemoved', chat: other }],
    [{ type: 'session/inputNeededSet', request: entry }],
    [{ type: 'session/inputNeededRemoved', id: entry.id }],
    [{ type: 'session/customizationUpdated', customization: random.of<object>([server, plugin]) }],
    [{ type: 'session/customizationToggled', id, enablement: enablement.slice(random.below(3)) }],
    [{ type: 'session/mcpServerStateChanged', id, state: { kind: 'ready' }, channel: 'mcp:/1' }],
    [{ type: 'session/mcpServerStopRequested', id }],
    [{ type: 'session/activeClientSet', activeClient: client }],
    [{ type: 'session/activeClientRemoved', clientId: client.clientId }],
    [{ type: 'session/workingDirectorySet', directory: random.of(['file:///w', 'file:///v']) }],
    [{ type: 'session/workingDirectoryRemoved', directory: random.of(['file:///w', 'file:///v']) }],
    [{ type: 'session/workingDirectoryReplaced', directory: 'file:///v', replacement: 'file:///u' }],
    waitsForToken(host, random),
    asksOnceMore(host, random),
  ] as unknown as [readonly object[], ...(readonly object[])[]]) as readonly { type: string }[];
}

function callsIn({ chat }: ModelHost, status: string): { turnId: string; toolCall: Ahp1.ToolCallState }[] {
  const { activeTurn } = chat;
  if (!activeTurn) return [];
  return activeTurn.responseParts.flatMap((part) =>
    part.kind === 'toolCall' && part.toolCall.status === status
      ? [{ turnId: activeTurn.id, toolCall: part.toolCall }]
      : [],
  );
}

function waitsForToken(host: ModelHost, random: Random): readonly object[] {
  const call = random.pick(callsIn(host, 'streaming'));
  if (!call) return [];
  const target = { turnId: call.turnId, toolCallId: call.toolCall.toolCallId };
  const contributor = { kind: 'mcp', customizationId: 'server' };
  const auth = { reason: 'required', resource: { resource: 'https://mcp.example' } };
  return [
    { type: 'chat/toolCallReady', ...target, invocationMessage: 'Look', contributor, confirmed: 'not-needed' },
    { type: 'chat/toolCallAuthRequired', ...target, auth },
    { type: 'chat/toolCallAuthResolved', ...target },
  ];
}

/** The risk of a waiting call is known now, or its question has become another one, or a setting approves it. */
function asksOnceMore(host: ModelHost, random: Random): readonly object[] {
  const call = random.pick(callsIn(host, 'pending-confirmation'));
  if (call?.toolCall.status !== 'pending-confirmation') return [];
  const { toolCallId, invocationMessage } = call.toolCall;
  const again = { type: 'chat/toolCallReady', turnId: call.turnId, toolCallId, invocationMessage };
  return random.of<readonly object[]>([
    [{ ...again, riskAssessment: { kind: 'judge', status: 'loading' }, intention: 'Find commas' }],
    [{ ...again, confirmationTitle: 'Really?', toolInput: '{"all":true}' }],
    [{ ...again, confirmed: 'setting' }],
    [{ ...again, confirmed: 'setting', toolInput: '{"safe":true}' }],
  ]);
}

describe('what is translated', () => {
  it('is valid in the version that it is translated to, on the way up and on the way down', () => {
    const later = Compile(SessionState1);
    const chat = Compile(ChatState1);
    fc.assert(
      fc.property(seeds, (seed) => {
        const { initial, steps, final } = randomHistory(seed, LENGTH);
        const host = new ModelHost(initial, { standsOutside: () => seed % 2 === 0 });
        for (const { action, now } of steps) host.apply(action, now);
        for (const state of [initial, final]) {
          const up = json(sessionUp(state, CHAT));
          expect(later.Errors(up.session), 'session').toEqual([]);
          expect(chat.Errors(up.chat), 'chat').toEqual([]);
        }
        expect(later.Errors(json(host.session)), 'session of the host').toEqual([]);
        const older = states.get('session')?.check;
        expect(older?.(json(host.shown)), JSON.stringify(older?.errors)).toBe(true);
        for (const { envelope } of host.written) {
          const down = actionDown(envelope.action);
          if (down && !isUntranslatable(down)) expect(checkAction(json(down))).toMatchObject({ ok: true });
        }
      }),
      { numRuns: RUNS },
    );
  });
});

const json = <T>(value: T): T => JSON.parse(JSON.stringify(value));

describe('a stored session of 0.3.0', () => {
  it('[UP-243] [UP-244] [UP-245] comes down again as it was, whatever had happened in it', () => {
    fc.assert(
      fc.property(seeds, fc.nat(LENGTH - 1), (seed, at) => {
        const { steps, final } = randomHistory(seed, LENGTH);
        const stored = JSON.parse(JSON.stringify(steps[at]?.after ?? final)) as Ahp03.SessionState;
        const { session, chat, summary } = JSON.parse(JSON.stringify(sessionUp(stored, CHAT)));
        const { resource, createdAt, modifiedAt } = summary;
        const isStale = (stored.summary.status & SessionStatus.InputNeeded) === SessionStatus.InProgress;
        const shown = sessionDown(session, chat, { resource, createdAt, modifiedAt });
        expect(shown.summary).toMatchObject({
          createdAt: stored.summary.createdAt,
          modifiedAt: stored.summary.modifiedAt,
        });
        const mask = isStale ? { activity: SessionStatus.InProgress } : {};
        expect(plain(shown, mask)).toEqual(plain(stored, mask));
      }),
      { numRuns: RUNS },
    );
  });
});
