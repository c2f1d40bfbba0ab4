import { describe, expect, it } from 'vitest';
import { sessionStateToWire } from '../../../src/dialects/sessions-v1/state.js';
import {
  completedToolCallToWire,
  type ShownToolCall,
  toolCallToWire,
} from '../../../src/dialects/sessions-v1/tool-calls.js';
import {
  cancelled,
  completed,
  pendingConfirmation,
  pendingResult,
  running,
  streaming,
  withCalls,
} from '../../support/builders.js';

const base = {
  toolCallId: 'call-1',
  toolName: 'search',
  displayName: 'Search',
  invocationMessage: 'Search for commas',
  toolInput: '{"find":","}',
};

describe('sessions-v1 tool calls', () => {
  it('[V1-033] appear when their parameters are complete', () => {
    const state = withCalls(streaming({ toolCallId: 'early' }), running());
    expect(sessionStateToWire(state).activeTurn?.toolCalls).toEqual({
      'call-1': { ...base, status: 'running', confirmed: 'user-action' },
    });
  });

  it('[V1-033] have flat texts', () => {
    const call = completed({ invocationMessage: { markdown: '**Search**' }, pastTenseMessage: { markdown: '_done_' } });
    expect(toolCallToWire(call)).toMatchObject({ invocationMessage: '**Search**', pastTenseMessage: '_done_' });
  });

  it('[V1-033] say how they ended', () => {
    const error = { message: 'Exit 1', code: 'exit' };
    expect(toolCallToWire(completed({ success: false, error }))).toEqual({
      ...base,
      status: 'failed',
      confirmed: 'user-action',
      pastTenseMessage: 'Searched for commas',
      error,
    });
    expect(toolCallToWire(cancelled({ reason: 'skipped' }))).toEqual({
      ...base,
      status: 'cancelled',
      cancellationReason: 'skipped',
    });
  });

  it.each<[ShownToolCall, string]>([
    [running(), 'running'],
    [pendingConfirmation(), 'pending-permission'],
    [pendingResult(), 'pending-permission'],
    [completed({ success: true }), 'completed'],
    [completed({ success: false }), 'failed'],
    [cancelled(), 'cancelled'],
  ])('[V1-034] %o has status %s', (call, status) => {
    expect(toolCallToWire(call).status).toBe(status);
  });

  it('[V1-035] of a finished turn have a result', () => {
    const content = [{ type: 'text' as const, text: 'two' }];
    expect(completedToolCallToWire(completed({ content }))).toEqual({
      ...base,
      success: true,
      pastTenseMessage: 'Searched for commas',
      toolOutput: 'two',
    });
  });

  it('[V1-035] that were cancelled had no success', () => {
    expect(completedToolCallToWire(cancelled())).toEqual({
      ...base,
      success: false,
      pastTenseMessage: 'Search for commas',
    });
  });

  it('[V1-036] put out their text blocks, line by line', () => {
    const call = completed({
      content: [
        { type: 'text', text: 'one' },
        { type: 'resource', uri: 'content://s/1' },
        { type: 'text', text: 'two' },
      ],
    });
    expect(toolCallToWire(call).toolOutput).toBe('one\ntwo');
    expect(
      toolCallToWire(completed({ content: [{ type: 'terminal', resource: 'x', title: 't' }] })),
    ).not.toHaveProperty('toolOutput');
  });
});
