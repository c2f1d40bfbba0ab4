/** What tests of tool calls share: a turn with the real reducer, and everything around it played. */
import {
  type ChatAction,
  type ChatState,
  chatReducer,
  type ToolCallState,
  type ToolResultContent,
} from '@atrium/protocol/ahp-1';
import { vi } from 'vitest';
import { firstChat } from '../../src/sessions/catalogue.js';
import type { AskedCall, CallContext, Find } from '../../src/tool-calls/call-context.js';
import type { CalledTool } from '../../src/tool-calls/shown-call.js';
import type { ToolRunner } from '../../src/tool-calls/tool-call.js';

export const turnId = 't';
export const TOOL: CalledTool = { toolCallId: 'k', name: 'look', displayName: 'Look' };
export const result = {
  success: true,
  pastTenseMessage: 'Looked',
  content: [{ type: 'text', text: 'seen' }] as ToolResultContent[],
};

/** A turn in which actions are stored at once. */
export function turn(changes: object = {}) {
  const message = { text: 'hi', origin: { kind: 'user' } };
  let state: ChatState = { ...firstChat('ahp-session:/s', new Date(0).toISOString()) };
  const written: ChatAction[] = [];
  const waiting: (() => void)[] = [];
  const apply = (action: object) => {
    written.push(action as ChatAction);
    state = chatReducer(state, action as never);
    for (const look of [...waiting]) look();
  };
  apply({ type: 'chat/turnStarted', turnId, message, startedAt: new Date(0).toISOString() });
  const call = (toolCallId: string, at = state) =>
    at.activeTurn?.responseParts
      .flatMap((part) => (part.kind === 'toolCall' ? part.toolCall : []))
      .find((each) => each.toolCallId === toolCallId);
  const abort = new AbortController();
  const allowed = new Set<string>();
  const told: string[] = [];
  const context = {
    ...{ session: 's', chat: 'c', turnId, workingDirectory: '/w', workingDirectories: ['/w'], signal: abort.signal },
    ...{ clock: { now: () => 0, after: () => () => {} }, logger: { log: vi.fn() }, blobs: undefined, judge: undefined },
    telemetry: { count: () => {}, around: (_name: string, _attributes: object, work: () => unknown) => work() },
    extensions: { all: () => [], gates: () => [], tools: () => [], hidden: () => () => false },
    permissions: {
      add: ({ name }: { name: string }) => allowed.add(name),
      decide: async ({ tool: { name } }: AskedCall) => ({
        ...{ effect: allowed.has(name) ? 'allow' : 'none', proposes: [], options: [] },
      }),
    },
    ...{
      nextStep: () => undefined,
      outputMaxCharacters: 10_000,
      interruptText: vi.fn(),
      notify: (note: string) => told.push(note),
    },
    ...{
      isConnected: () => true,
      activeClients: () => [],
      unloadedTurns: vi.fn(async () => []),
    },
    get state() {
      return state;
    },
    get stored() {
      return state;
    },
    write: apply,
    call,
    waitFor: <T>(_topic: object, find: Find<T>) =>
      new Promise<T>((resolve) => {
        const look = () => {
          const found = find(state, written.at(-1));
          if (found === undefined) return;
          waiting.splice(waiting.indexOf(look), 1);
          resolve(found);
        };
        waiting.push(look);
        look();
      }),
    ...changes,
  } as unknown as CallContext;
  const types = () => written.slice(1).map(({ type }) => type.slice('chat/toolCall'.length));
  const answer = (more: object) =>
    apply({
      type: 'chat/toolCallConfirmed',
      turnId,
      toolCallId: 'k',
      approved: true,
      confirmed: 'user-action',
      ...more,
    });
  return { context, written, apply, types, answer, allowed, told, abort, call: () => call('k') as ToolCallState };
}

export const tick = () => new Promise<void>((resolve) => setImmediate(resolve));
export const STAGES = { input: 'checked', permission: 'before-run', extensions: 'around', output: 'cut' } as const;

export function runner(changes: Partial<ToolRunner> = {}): ToolRunner {
  return {
    stages: STAGES,
    describe: () => ({ invocationMessage: 'Look there' }),
    run: async () => ({ result }),
    ...changes,
  };
}
export const asking = (more: object = {}) =>
  runner({ describe: () => ({ invocationMessage: 'Look', confirmation: { title: 'May it?', ...more } }) });
