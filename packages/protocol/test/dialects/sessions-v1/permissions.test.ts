import { describe, expect, it } from 'vitest';
import { ahp03 } from '../../../src/dialects/ahp-0.3/codec.js';
import { NO_MEMORY } from '../../../src/dialects/index.js';
import { translateSteps } from '../../../src/dialects/sessions-v1/actions.js';
import { sessionsV1 } from '../../../src/dialects/sessions-v1/codec.js';
import { sessionStateToWire } from '../../../src/dialects/sessions-v1/state.js';
import {
  confirmationsIn,
  memoryWith,
  type PendingToolCall,
  permissionRequest,
  remember,
} from '../../../src/dialects/sessions-v1/tool-calls.js';
import type { SessionAction } from '../../../src/session/actions.js';
import {
  CALL,
  pendingConfirmation,
  pendingResult,
  running,
  streaming,
  TURN,
  withCalls,
} from '../../support/builders.js';
import { stepsFrom } from './scenes.js';

const target = { turnId: TURN, toolCallId: CALL };
const ask: SessionAction = { type: 'session/toolCallReady', ...target, invocationMessage: 'Search' };
const run: SessionAction = { ...ask, confirmed: 'not-needed' };
const approve: SessionAction = {
  type: 'session/toolCallConfirmed',
  ...target,
  approved: true,
  confirmed: 'user-action',
};
const side = (uri: string) => ({ uri, content: { uri: 'content://s/1' } });

function requestOf(call: PendingToolCall) {
  return permissionRequest(NO_MEMORY, TURN, call);
}

/** The ids that are asked for when these actions happen to a call. */
function asked(...actions: SessionAction[]): string[] {
  const { frames } = translateSteps(NO_MEMORY, stepsFrom(withCalls(streaming()), actions));
  return frames.flatMap(({ action }) =>
    action.type === 'session/permissionRequest' ? [action.request.requestId] : [],
  );
}

describe('sessions-v1 permission requests', () => {
  it('[V1-037] stand in the state, one for each call that waits', () => {
    const state = withCalls(pendingConfirmation(), running({ toolCallId: 'r' }), pendingResult({ toolCallId: 'p' }));
    expect(sessionStateToWire(state).activeTurn?.pendingPermissions).toEqual({
      'call-1#c1': {
        requestId: 'call-1#c1',
        permissionKind: 'shell',
        toolCallId: 'call-1',
        toolName: 'search',
        intention: 'Search for commas',
        fullCommandText: '{"find":","}',
      },
      'p#r': expect.objectContaining({ requestId: 'p#r', toolCallId: 'p', intention: 'Search for commas' }),
    });
  });

  it('[V1-037] state the title of the question, if it has one', () => {
    expect(requestOf(pendingConfirmation({ confirmationTitle: { markdown: 'Really?' } })).intention).toBe('Really?');
  });

  it('[V1-037] for edits are of kind write, with the path', () => {
    const edits = { items: [{ after: side('file:///srv/a%20b.ts') }] };
    const request = requestOf(pendingConfirmation({ edits }));
    expect(request).toMatchObject({ permissionKind: 'write', path: '/srv/a b.ts' });
    expect(request).not.toHaveProperty('fullCommandText');
    const deleted = { items: [{ before: side('memory:/x') }] };
    expect(requestOf(pendingConfirmation({ edits: deleted })).path).toBe('memory:/x');
  });

  it('[V1-037] are of the kind that the call states', () => {
    expect(requestOf(pendingConfirmation({ _meta: { permissionKind: 'url' } })).permissionKind).toBe('url');
    expect(requestOf(pendingConfirmation({ _meta: { permissionKind: 'teleport' } })).permissionKind).toBe('shell');
  });

  it('[V1-037] [UNI-076] for a gateway provider look like those of an MCP server', () => {
    const request = requestOf(pendingConfirmation({ _meta: { gateway: { provider: 'browser' } } }));
    expect(request).toMatchObject({ permissionKind: 'mcp', serverName: 'browser', toolName: 'search' });
  });

  it('[V1-037] [UNI-076] for an MCP server name the server, and the tool as it knows it', () => {
    const mcp = { customizationId: 'm', server: 'files', tool: 'find' };
    const request = requestOf(pendingConfirmation({ _meta: { mcp } }));
    expect(request).toMatchObject({ permissionKind: 'mcp', serverName: 'files', toolName: 'find' });
    expect(requestOf(pendingConfirmation({ _meta: { mcp: 'files' } })).permissionKind).toBe('shell');
  });
});

describe('sessions-v1 request ids', () => {
  it('[V1-067] count the confirmations of a call', () => {
    expect(asked(ask, approve, ask, approve, ask)).toEqual(['call-1#c1', 'call-1#c2', 'call-1#c3']);
  });

  it('[V1-067] count questions, not runs', () => {
    expect(asked(run, ask)).toEqual(['call-1#c1']);
  });

  it('[V1-067] do not count a question that did not come about', () => {
    expect(asked(ask, ask, approve, ask)).toEqual(['call-1#c1', 'call-1#c2']);
  });

  it('[V1-067] have one name for the result', () => {
    const result = { success: true, pastTenseMessage: 'Done' };
    const complete: SessionAction = {
      type: 'session/toolCallComplete',
      ...target,
      result,
      requiresResultConfirmation: true,
    };
    expect(asked(run, complete)).toEqual(['call-1#r']);
  });

  it('[V1-067] are counted though nobody listens: an answer to an old question must not fit a new one', () => {
    const steps = stepsFrom(withCalls(streaming()), [ask, approve, ask]);
    expect(sessionsV1.remember(NO_MEMORY, steps)).toEqual(sessionsV1.encodeSteps(NO_MEMORY, steps).memory);
    expect(confirmationsIn(sessionsV1.remember(NO_MEMORY, steps), TURN)?.get(CALL)).toBe(2);
    expect(ahp03.remember(NO_MEMORY, steps)).toBe(NO_MEMORY);
  });

  it('[V1-067] are forgotten with the turn', () => {
    const steps = stepsFrom(withCalls(streaming()), [ask, { type: 'session/turnComplete', turnId: TURN }]);
    expect(confirmationsIn(steps.slice(0, 1).reduce(remember, NO_MEMORY), TURN)?.size).toBe(1);
    expect(steps.reduce(remember, NO_MEMORY)).toBe(NO_MEMORY);
    const other = { 'another dialect': 1 };
    expect(steps.reduce(remember, other)).toEqual(other);
    expect(steps.slice(1).reduce(remember, other)).toBe(other);
  });

  it('[V1-067] of an earlier turn do not touch a later one', () => {
    const old = memoryWith({ turnId: 'turn-before', counts: new Map([[CALL, 5]]) });
    const shown = sessionStateToWire(withCalls(pendingConfirmation()), old);
    expect(Object.keys(shown.activeTurn?.pendingPermissions ?? {})).toEqual(['call-1#c1']);
    const { frames } = translateSteps(old, stepsFrom(withCalls(streaming()), [ask]));
    expect(frames.at(-1)?.action).toMatchObject({ request: { requestId: 'call-1#c1' } });
  });

  it('[V1-067] without a memory do not repeat one that was answered', () => {
    const { frames } = translateSteps(NO_MEMORY, stepsFrom(withCalls(running()), [ask]));
    expect(frames.at(-1)?.action).toMatchObject({ request: { requestId: 'call-1#c2' } });
  });
});
