import { describe, expect, it } from 'vitest';
import { allow, context, deny } from '../src/index.js';
import { connected } from './support/connected.js';

const PUSH = { tool: 'shell', args: 'git push' };

describe('gates', () => {
  it('decide about matching calls: yes, no with a reason, yes with something to know', async () => {
    const { gateway } = await connected({
      gates: [
        {
          match: PUSH,
          check: async ({ args, tool, sessionId }) => {
            if (String(args.command).includes('--force')) return deny(`no force from ${tool} in ${sessionId}`);
            return String(args.command).includes('main') ? context('main is protected') : allow();
          },
        },
      ],
    });
    expect(await gateway.check('shell', { command: 'git push --force' })).toEqual(
      deny('no force from shell in session-1'),
    );
    expect(await gateway.check('shell', { command: 'git push origin main' })).toEqual(context('main is protected'));
    expect(await gateway.check('shell', { command: 'git push' })).toEqual(allow());
    expect(await gateway.check('shell', { command: 'git status' })).toEqual(allow());
    expect(gateway.received.filter(({ type }) => type === 'gate.result')).toHaveLength(3);
  });

  it('that fail say no, unless they are to fail open', async () => {
    const check = () => Promise.reject(new Error('CI is down'));
    const { gateway, logged } = await connected({
      gates: [
        { match: { tool: 'shell' }, check },
        { match: { tool: 'edit' }, failOpen: true, check },
      ],
    });
    expect(await gateway.check('shell')).toEqual(deny('the check failed: CI is down'));
    expect(await gateway.check('edit')).toEqual(allow());
    expect(gateway.provider.rules.at(-1)).toMatchObject({ action: 'gate', failOpen: true });
    expect(logged).toHaveLength(2);
  });

  it('stand beside rules that ask nobody', async () => {
    const { gateway } = await connected({
      deny: [{ match: { file: '*.pem' }, reason: 'keys are not for reading' }],
      contextRules: [{ match: { tool: 'edit', file: '*.sql' }, content: 'mind old rows' }],
    });
    expect(await gateway.check('read', { path: 'a/key.pem' })).toEqual(deny('keys are not for reading'));
    expect(await gateway.check('edit', { path: 'db/x.sql' })).toEqual(context('mind old rows'));
    expect(gateway.received.map(({ type }) => type)).toEqual(['hello']);
  });
});

describe('transforms', () => {
  it('change sections of the prompt, by fixed text or when asked', async () => {
    const { gateway } = await connected({
      transforms: {
        tone: { append: 'Be brief.' },
        rules: { prepend: 'First:' },
        intro: { replace: 'Hi.' },
        tools: { callback: async (current, { section }) => `${current} (${section})` },
        same: { callback: () => undefined },
        broken: { callback: () => Promise.reject(new Error('no')) },
      },
    });
    expect(await gateway.transform('tone', 'Be kind.')).toBe('Be kind.\nBe brief.');
    expect(await gateway.transform('rules', 'x')).toBe('First:\nx');
    expect(await gateway.transform('intro', 'x')).toBe('Hi.');
    expect(await gateway.transform('tools', 'x')).toBe('x (tools)');
    expect(await gateway.transform('same', 'x')).toBe('x');
    expect(await gateway.transform('broken', 'x')).toBe('x');
    expect(await gateway.transform('other', 'x')).toBe('x');
  });
});
