/** What a call that is no longer asked about says about who or what decided. */
import { describe, expect, it } from 'vitest';
import {
  ANSWERED_BY,
  type CallPermission,
  decisionWords,
  PERMISSION_META_KEY,
  type ToolCallState,
} from '../../src/ahp-1/index.js';

const names = { toolCallId: 'c', toolName: 'shell', displayName: 'Shell', invocationMessage: 'Run it' };

function meta(permission?: Partial<CallPermission>, name?: string) {
  return {
    _meta: {
      ...(permission && { [PERMISSION_META_KEY]: { effect: 'none', mode: 'ask', ...permission } }),
      ...(name !== undefined && { [ANSWERED_BY]: name }),
    },
  };
}

function done(confirmed: 'not-needed' | 'user-action' | 'setting', more: object = {}): ToolCallState {
  return { ...names, status: 'completed', success: true, pastTenseMessage: 'Ran it', confirmed, ...more };
}

function cancelled(more: object = {}): ToolCallState {
  return { ...names, status: 'cancelled', reason: 'denied', ...more };
}

const ASKS = { effect: 'ask', rule: 'shell(npm publish)', scope: 'project' } as const;

describe('[DAY-005] what decided about a call', () => {
  it.each<[string, ToolCallState, string | undefined]>([
    ['nothing', done('not-needed'), undefined],
    ['a plain yes', done('user-action', meta({ proposes: ['shell(ls)'] })), undefined],
    ['a plain no', cancelled(), undefined],
    [
      'a rule',
      done('setting', meta({ effect: 'allow', rule: 'shell(ls *)', scope: 'person' })),
      'Allowed by your rule: shell(ls *)',
    ],
    [
      'the mode',
      done('setting', meta({ effect: 'allow', mode: 'accept-edits', rule: 'edit', scope: 'built-in' })),
      'Allowed by the mode Accept edits: edit',
    ],
    ['a yes of a device', done('user-action', meta({}, 'my phone')), 'Allowed by my phone'],
    ['a no of a device', cancelled(meta({}, 'my phone')), 'Denied by my phone'],
    [
      'a yes to what a rule asks about',
      done('user-action', meta(ASKS)),
      'Asked by the rule of the project: shell(npm publish); allowed by a person',
    ],
    [
      'a no to what a rule asks about',
      cancelled(meta(ASKS, 'my phone')),
      'Asked by the rule of the project: shell(npm publish); denied by my phone',
    ],
    [
      'a yes that wrote a rule',
      done('user-action', {
        selectedOption: { id: 'always-person', label: 'Always allow shell(ls *) everywhere', kind: 'approve' },
      }),
      'Allowed by a person: Always allow shell(ls *) everywhere',
    ],
    [
      'a rule that denies, which the reason names already',
      cancelled({
        ...meta({ effect: 'deny', rule: 'shell(rm *)', scope: 'host' }),
        reasonMessage: 'a rule forbids it',
      }),
      undefined,
    ],
  ])('%s', (_what, call, words) => {
    expect(decisionWords(call)).toBe(words);
  });
});
