/** What is said about tool calls, tokens, agents and folders: the pure parts. */
import {
  ANSWERED_BY,
  type SessionState,
  type SessionSummary,
  type ToolCallState,
  toolInputMembers,
} from '@atrium/protocol/ahp-1';
import { describe, expect, it } from 'vitest';
import { customAgents } from '../src/model/customizations.js';
import { usedFolders } from '../src/model/sessions.js';
import { contextUse } from '../src/model/usage.js';
import { withMember } from '../src/parts/answer.js';
import { denialOf, editCount, failureOf, isErrorTold, lookOf, stateWord } from '../src/parts/tool-words.js';
import { puppetSession, said } from './support/puppet-host.js';

const COMPLETED = {
  status: 'completed' as const,
  toolCallId: 'c',
  toolName: 'look',
  displayName: 'Look',
  invocationMessage: 'Look',
  confirmed: 'not-needed' as const,
  pastTenseMessage: 'Looked',
  success: false,
} satisfies ToolCallState;

describe('a tool call in one line', () => {
  it('that ran when its turn was stopped was stopped, and did not fail; one that was not over says that [AHP-254]', () => {
    const error = { message: 'Stopped while it ran.', code: 'STOPPED' };
    const stopped: ToolCallState = { ...COMPLETED, error };
    expect(stateWord(stopped, false)).toBe('Stopped');
    expect(lookOf(stopped, false)).toBe('ended');
    const { toolCallId, toolName, displayName, invocationMessage } = COMPLETED;
    const names = { toolCallId, toolName, displayName, invocationMessage };
    expect(stateWord({ status: 'cancelled', reason: 'skipped', ...names }, false)).toBe('Not finished');
  });

  it('says who or what said no [DAY-119]', () => {
    const { toolCallId, toolName, displayName, invocationMessage } = COMPLETED;
    const denied: ToolCallState = {
      ...{ status: 'cancelled', reason: 'denied', toolCallId, toolName, displayName, invocationMessage },
    };
    expect(denialOf(denied)).toBe('Denied by a person');
    expect(denialOf({ ...denied, _meta: { [ANSWERED_BY]: 'Phone' } })).toBe('Denied by Phone');
    expect(denialOf({ ...denied, reasonMessage: 'Denied by the rule of this host: shell(rm *)\nmore' })).toBe(
      'Denied by the rule of this host: shell(rm *)',
    );
    expect(denialOf({ ...denied, reason: 'skipped' })).toBe('');
  });

  it('says once why it failed', () => {
    const message = 'There is no such file.\nLook elsewhere.';
    const call: ToolCallState = { ...COMPLETED, error: { message }, content: [{ type: 'text', text: message }] };
    expect(failureOf(call)).toBe('There is no such file.');
    expect(isErrorTold(call)).toBe(true);
    expect(isErrorTold({ ...call, content: [] })).toBe(false);
    expect(failureOf({ ...COMPLETED, content: [{ type: 'text', text: '\nonly here' }] })).toBe('only here');
    expect(failureOf({ ...COMPLETED, success: true })).toBe('');
  });

  it('[REL-062] tells one that was interrupted from one that failed', () => {
    const error = { message: 'Interrupted while running: the host stopped.', code: 'INTERRUPTED' };
    expect(stateWord({ ...COMPLETED, error }, false)).toBe('Interrupted');
    expect(stateWord({ ...COMPLETED, error: { message: 'It broke.' } }, false)).toBe('Failed');
  });

  it('looks busy or asks only while its turn runs', () => {
    const { status: _, ...rest } = COMPLETED;
    const running: ToolCallState = { ...rest, status: 'running' };
    expect([lookOf(running, true), lookOf(running, false), lookOf(COMPLETED, true)]).toEqual([
      'busy',
      'ended',
      'failed',
    ]);
  });

  it('counts the lines of all files that it changed', () => {
    const edit = (added: number, removed: number) => ({ type: 'fileEdit' as const, diff: { added, removed } });
    expect(editCount({ ...COMPLETED, content: [edit(1, 2), edit(3, 0)] })).toEqual({ added: 4, removed: 2 });
    expect(editCount(COMPLETED)).toBeUndefined();
  });
});

describe('the input of a tool', () => {
  it('is taken apart, and only its texts can be written over', () => {
    const input = '{"command":"ls\\n-la","seconds":5,"where":["a"]}';
    expect(toolInputMembers(input).map(({ name, text, isText }) => [name, text, isText])).toEqual([
      ['command', 'ls\n-la', true],
      ['seconds', '5', false],
      ['where', '[\n  "a"\n]', false],
    ]);
    expect(withMember(input, 'command', 'pwd')).toBe('{"command":"pwd","seconds":5,"where":["a"]}');
  });

  it('that is no object stays whole', () => {
    expect(toolInputMembers('[1]')).toEqual([{ name: '', text: '[1]', isText: true }]);
    expect(toolInputMembers('{"half')).toEqual([{ name: '', text: '{"half', isText: true }]);
    expect(toolInputMembers('{}')).toEqual([]);
    expect(withMember('plain', '', 'other')).toBe('other');
  });
});

describe('the context of a session', () => {
  const model = { id: 'm', provider: 'mock', name: 'M', maxContextWindow: 1_000 };
  const agents = [{ provider: 'mock', displayName: 'Mock', description: '', models: [model] }];
  const used = (usage: object) => {
    const turn = { id: 't', message: said(''), responseParts: [], state: 'complete' as const, usage };
    return contextUse({ provider: 'mock', chat: { turns: [turn] }, model: 'm' }, agents);
  };

  it('is what the last step filled, not the sum of all steps', () => {
    expect(used({ inputTokens: 900, outputTokens: 60, _meta: { contextTokens: 320 } })).toEqual({
      used: 320,
      size: 1_000,
    });
  });

  it('is the whole turn for agents that say no more, and believes no nonsense', () => {
    expect(used({ inputTokens: 300, outputTokens: 20 })?.used).toBe(320);
    expect(used({ inputTokens: 300, _meta: { contextTokens: 'many' } })?.used).toBe(300);
    expect(used({ _meta: {} })).toBeUndefined();
  });
});

describe('choices that come from elsewhere', () => {
  it('[CUS-116] are custom agents of all that is switched on, whichever container they are in', () => {
    const agent = (id: string) => ({ type: 'agent' as const, id, uri: `file:///${id}`, name: id });
    const skill = { type: 'skill' as const, id: 's', uri: 'file:///s', name: 's' };
    const entry = (id: string, enabled: boolean) => ({ id, uri: `file:///${id}`, name: id, enabled });
    const off = { enablement: [{ kind: 'session' as const, enabled: false }] };
    const items: SessionState['customizations'] = [
      { ...entry('on', true), type: 'plugin', children: [agent('a'), skill] },
      { ...entry('off', false), ...off, type: 'plugin', children: [agent('b')] },
      { ...entry('agents', true), type: 'directory', contents: 'agent', writable: true, children: [agent('c')] },
      { ...entry('empty', true), type: 'plugin' },
    ];
    expect(customAgents(items)).toEqual([agent('a'), agent('c')]);
  });

  it('are the folders of earlier sessions, the newest first and each once', () => {
    const item = (time: number, folder?: string): SessionSummary => ({
      ...puppetSession().summary,
      modifiedAt: new Date(time).toISOString(),
      ...(folder && { workingDirectories: [`file://${folder}`] }),
    });
    expect(usedFolders([item(1, '/a'), item(3, '/b'), item(2, '/a'), item(4)])).toEqual(['/b', '/a']);
  });
});
