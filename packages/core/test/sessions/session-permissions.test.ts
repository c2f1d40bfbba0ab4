/** What a call records of the rules that decided it, and where rules can be written. The rules themselves: `permissions/`. */
import { homedir } from 'node:os';
import { MODE_PROPERTY, type PermissionMode, type RuleEffect } from '@atrium/protocol/ahp-1';
import { describe, expect, it, vi } from 'vitest';
import { RULES_MAX } from '../../src/permissions/limits.js';
import { parseRule } from '../../src/permissions/rules.js';
import type { PermissionStore } from '../../src/permissions/store.js';
import { SessionPermissions } from '../../src/sessions/session-permissions.js';
import { ToolPermissions } from '../../src/sessions/session-records.js';
import type { AskedCall } from '../../src/tool-calls/call-context.js';

const URI = 'ahp-session:/s';
const FOLDERS = ['/srv/project'];

interface Given {
  readonly mode?: PermissionMode;
  readonly rules?: readonly [RuleEffect, string][];
  readonly writable?: readonly ('project' | 'person')[];
  readonly isTrusted?: boolean;
  readonly allowsAll?: boolean;
  readonly isLate?: boolean;
}

function permissionsWith({ mode = 'ask', rules = [], writable, isTrusted = false, allowsAll, isLate }: Given = {}) {
  const setAllowed = vi.fn();
  const kept = new ToolPermissions({ setAllowed, allowed: async () => [] } as never, URI);
  const stored = { rules: rules.map(([effect, text]) => parseRule(text, effect, 'person')), isTrusted };
  const store = {
    rulesFor: vi.fn(() => (isLate ? Promise.resolve(stored) : stored)),
    writable: () => writable ?? [],
    add: vi.fn(async () => {}),
    used: vi.fn(),
  } satisfies PermissionStore;
  const values = { [MODE_PROPERTY]: mode, ...(allowsAll && { autoApprove: true }) };
  const state = () => ({ config: { values } }) as never;
  const permissions = new SessionPermissions({ uri: URI, state, kept, store: writable && store });
  return { permissions, kept, store, setAllowed };
}

const call = (more: Partial<AskedCall> = {}): AskedCall => ({
  ...{ tool: { toolCallId: 'c', name: 'shell', displayName: 'Shell' }, input: { command: 'make all' }, runs: 'host' },
  ...{ isReadOnly: false, isAskedAnyway: false, folders: FOLDERS },
  ...more,
});
const labels = (options: readonly { label: unknown }[]) => options.map(({ label }) => String(label));

describe('what is decided about a call', () => {
  it('[DAY-001] is nothing, and leaves no record, where only the tool itself decides', () => {
    const { permissions, store } = permissionsWith({ writable: [] });
    expect(permissions.decide(call())).toEqual({ effect: 'none', permission: undefined, proposes: [], options: [] });
    expect(store.used).not.toHaveBeenCalled();
    const without = permissionsWith();
    expect(without.permissions.decide(call())).toMatchObject({ effect: 'none', permission: undefined });
  });

  it('[DAY-005] records the mode as soon as it is another one, a rule that decided, or rules that could', () => {
    const inMode = permissionsWith({ mode: 'accept-edits' }).permissions.decide(call());
    expect(inMode).toMatchObject({ effect: 'none', permission: { effect: 'none', mode: 'accept-edits' } });
    const asked = permissionsWith().permissions.decide(call({ isAskedAnyway: true }));
    expect(asked).toMatchObject({ proposes: ['shell(make all)'] });
    expect(asked).toHaveProperty('permission', { effect: 'none', mode: 'ask', proposes: ['shell(make all)'] });
    const { permissions, store } = permissionsWith({ writable: [], rules: [['allow', 'shell(make *)']] });
    expect(permissions.decide(call({ isAskedAnyway: true }))).toEqual({
      ...{ effect: 'allow', proposes: [], options: [] },
      permission: { effect: 'allow', mode: 'ask', rule: 'shell(make *)', scope: 'person' },
    });
    expect(store.used).toHaveBeenCalledWith([expect.objectContaining({ pattern: 'make *' })], URI, FOLDERS);
  });

  it('[DAY-001] says why a call is denied: by the rule, or in the words of the mode', () => {
    const { permissions } = permissionsWith({ rules: [['deny', 'shell(make *)']], writable: [] });
    expect(permissions.decide(call())).toMatchObject({
      ...{ effect: 'deny', reason: 'the rule "deny shell(make *)" (person) forbids it' },
      permission: { effect: 'deny', mode: 'ask', rule: 'shell(make *)', scope: 'person' },
    });
    const planned = permissionsWith({ mode: 'plan' }).permissions.decide(call());
    expect(planned).toMatchObject({ effect: 'deny', permission: { mode: 'plan' } });
    const { reason, permission } = planned as { reason: string; permission: { why: string; rule?: string } };
    expect(reason).toContain('plan mode');
    expect(permission.why).toBe(reason);
    expect(permission).not.toHaveProperty('rule');
    expect(permissionsWith().permissions.decide(call())).not.toHaveProperty('reason');
  });

  it('[DAY-006] waits for the store only where trust has to be looked up, and asks for trust in plan and auto mode', async () => {
    const late = permissionsWith({ writable: [], isLate: true, rules: [['allow', 'shell']] });
    const decided = late.permissions.decide(call());
    expect(decided).toBeInstanceOf(Promise);
    expect(await decided).toMatchObject({ effect: 'allow' });
    for (const [mode, asksTrust] of [
      ['ask', false],
      ['accept-edits', false],
      ['plan', true],
      ['auto', true],
    ] as const) {
      const { permissions, store } = permissionsWith({ mode, writable: [] });
      void permissions.decide(call());
      expect(store.rulesFor, mode).toHaveBeenCalledWith(FOLDERS, asksTrust);
    }
  });

  it('[DAY-001] is yes to everything where a person said so for the session', () => {
    const { permissions } = permissionsWith({ allowsAll: true });
    expect(permissions.decide(call())).toMatchObject({ effect: 'allow', permission: { rule: '*', scope: 'session' } });
  });

  it.each([
    ['a tool that an agent only looks with', { tool: 'Grep', runs: 'agent' }, 'none'],
    ['any other tool of an agent', { tool: 'Write', runs: 'agent' }, 'deny'],
    ['a tool of the host of such a name', { tool: 'Grep', runs: 'host' }, 'deny'],
    ['a tool that is marked as only reading', { tool: 'Write', runs: 'other', isReadOnly: true }, 'none'],
  ] as const)('[DAY-007] in plan mode, %s: %j is %s', (_, { tool, ...more }, effect) => {
    const asked = call({ tool: { toolCallId: 'c', name: tool, displayName: tool }, input: {}, ...more });
    expect(permissionsWith({ mode: 'plan' }).permissions.decide(asked)).toMatchObject({ effect });
  });

  it('[DAY-001] what a person allowed for the session counts for that tool of that owner, and for no client of its name', () => {
    const { permissions } = permissionsWith();
    const tool = { toolCallId: 'c', name: 'deploy', displayName: 'Deploy' };
    const decided = (more: object) =>
      permissions.decide(call({ tool: { ...tool, ...more }, input: {}, runs: 'other' }));
    permissions.add({ name: 'deploy', owner: 'ext' });
    expect(permissions.has({ name: 'deploy', owner: 'ext' })).toBe(true);
    expect(permissions.has({ name: 'deploy' })).toBe(false);
    expect(decided({ owner: 'ext' })).toMatchObject({
      ...{ effect: 'allow', permission: { rule: 'ext:deploy', scope: 'session' } },
    });
    expect(decided({})).toMatchObject({ effect: 'none' });
    permissions.add({ name: 'deploy' });
    expect(decided({})).toMatchObject({ effect: 'allow', permission: { rule: 'deploy', scope: 'session' } });
    expect(decided({ toolClientId: 'desk' })).toMatchObject({ effect: 'none' });
  });

  it('[DAY-005] "always allow" is offered where rules can be written: in the session, and where the store says', () => {
    const asked = call({ isAskedAnyway: true });
    const offered = (given: Given) => {
      const decided = permissionsWith(given).permissions.decide(asked);
      if (decided instanceof Promise) throw new Error('decided later');
      return decided.options;
    };
    expect(offered({})).toMatchObject([{ kind: 'approve', group: 1 }]);
    expect(labels(offered({}))).toEqual([expect.stringContaining('in this session')]);
    const all = offered({ writable: ['project', 'person'] });
    expect(labels(all)).toEqual(
      ['in this session', 'in this project', 'everywhere'].map((where) => expect.stringContaining(where)),
    );
    expect(new Set(all.map(({ id }) => id)).size).toBe(3);
  });
});

describe('a rule that is tried', () => {
  const make = {
    subject: { kind: 'command', line: 'make all', isParsed: true },
    tool: 'shell',
    isReadOnly: false,
  } as const;

  it('[DAY-001] says what would be decided, and what would be proposed', async () => {
    const { permissions } = permissionsWith({ rules: [['deny', 'shell(rm *)']], writable: [] });
    expect(await permissions.test(make, FOLDERS)).toEqual({
      effect: 'none',
      mode: 'ask',
      proposes: ['shell(make all)'],
    });
    const rm = { ...make, subject: { ...make.subject, line: 'rm -rf x' } };
    expect(await permissions.test(rm, FOLDERS)).toEqual({
      ...{ effect: 'deny', mode: 'ask', rule: 'shell(rm *)', scope: 'person' },
    });
    const nothing = { subject: { kind: 'other' }, tool: 'x', isReadOnly: false, isOfClient: true } as never;
    expect(await permissions.test(nothing, FOLDERS)).toEqual({ effect: 'none', mode: 'ask' });
  });

  it('[DAY-001] knows what a person allowed, except for tools of clients', async () => {
    const { permissions } = permissionsWith();
    permissions.add({ name: 'deploy', owner: 'ext' });
    const tried = (more: object) =>
      permissions.test({ subject: { kind: 'other' }, tool: 'deploy', isReadOnly: false, ...more } as never, FOLDERS);
    expect(await tried({ owner: 'ext' })).toMatchObject({ effect: 'allow' });
    expect(await tried({ owner: 'ext', isOfClient: true })).toMatchObject({ effect: 'none' });
    expect(await tried({})).toMatchObject({ effect: 'none' });
  });
});

describe('writing rules', () => {
  it('[DAY-005] goes to the session or to the store, as they are, and nowhere when one of them is none', async () => {
    const { permissions, kept, store, setAllowed } = permissionsWith({ writable: ['project'] });
    await permissions.write('session', 'allow', ['shell(make *)'], FOLDERS);
    expect(kept.rules()).toMatchObject([{ effect: 'allow', tool: 'shell', pattern: 'make *', scope: 'session' }]);
    expect(setAllowed).toHaveBeenCalledWith(URI, ['{"effect":"allow","rule":"shell(make *)"}']);
    expect(store.add).not.toHaveBeenCalled();
    await permissions.write('project', 'ask', ['edit(src/**)'], FOLDERS);
    expect(store.add).toHaveBeenCalledWith({ scope: 'project', effect: 'ask', folders: FOLDERS }, ['edit(src/**)']);
    await expect(permissions.write('session', 'allow', ['shell', 'no rule'], FOLDERS)).rejects.toThrow('no rule');
    await expect(permissions.write('person', 'allow', ['shell'], FOLDERS)).rejects.toThrow(
      'this host keeps no rules for a person',
    );
    const nowhere = permissionsWith({ writable: [] }).permissions.write('project', 'allow', ['shell'], FOLDERS);
    await expect(nowhere).rejects.toThrow('this session has no folder to keep rules in');
    await expect(permissionsWith().permissions.write('project', 'allow', ['shell'], [])).rejects.toThrow('no folder');
    expect(kept.rules()).toHaveLength(1);
    expect(store.add).toHaveBeenCalledTimes(1);
  });

  it('[DAY-001] counts in the session at once, and is gone when it is removed', () => {
    const { permissions, kept, setAllowed } = permissionsWith();
    kept.addRules('deny', ['shell(make *)', `edit(${homedir()}/x)`]);
    expect(permissions.decide(call())).toMatchObject({ effect: 'deny', permission: { scope: 'session' } });
    expect(kept.removeRule('allow', 'shell(make *)')).toBe(false);
    setAllowed.mockClear();
    expect(kept.removeRule('deny', 'shell(make *)')).toBe(true);
    expect(setAllowed).toHaveBeenCalledOnce();
    expect(kept.removeRule('deny', 'shell(make *)')).toBe(false);
    expect(setAllowed).toHaveBeenCalledOnce();
    expect(permissions.decide(call())).toMatchObject({ effect: 'none' });
  });

  it('[DAY-001] of one session has a limit, and the tools that were allowed as a whole are another list', () => {
    const { kept, setAllowed } = permissionsWith();
    kept.add({ name: 'shell' });
    kept.add({ name: 'deploy', owner: 'ext', identity: 'one' });
    const rules = Array.from({ length: RULES_MAX }, (_, index) => `edit(src/${index})`);
    kept.addRules('allow', rules);
    expect(kept.rules()).toHaveLength(RULES_MAX);
    expect(() => kept.addRules('allow', ['edit(src/x)'])).toThrow(`a session has ${RULES_MAX} rules at most`);
    expect(kept.tools()).toEqual([{ name: 'shell' }, { name: 'deploy', owner: 'ext', identity: 'one' }]);
    expect(kept.remove({ name: 'deploy', owner: 'ext' })).toBe(false);
    expect(kept.remove({ name: 'deploy', owner: 'ext', identity: 'one' })).toBe(true);
    expect(kept.tools()).toEqual([{ name: 'shell' }]);
    setAllowed.mockClear();
    kept.add({ name: 'shell' });
    expect(setAllowed).not.toHaveBeenCalled();
  });

  it('[DAY-001] comes back with the session; what is no rule in the log is none', async () => {
    const stored = ['["","shell"]', '["ext","deploy","one"]', '{"effect":"ask","rule":"edit(src/**)"}'];
    const broken = ['{"effect":"maybe","rule":"shell"}', '{"effect":"ask"}', '{"effect":"ask","rule":7}', 'null', '1'];
    const records = { setAllowed: vi.fn(), allowed: async () => [...stored, ...broken] };
    const kept = new ToolPermissions(records as never, URI);
    expect(kept.rules()).toEqual([]);
    await kept.load();
    expect(kept.rules()).toEqual([{ effect: 'ask', tool: 'edit', pattern: 'src/**', scope: 'session' }]);
    expect(kept.tools()).toEqual([{ name: 'shell' }, { name: 'deploy', owner: 'ext', identity: 'one' }]);
    expect(kept.has({ name: 'shell' })).toBe(true);
  });
});
