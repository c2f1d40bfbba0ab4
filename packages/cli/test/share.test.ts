/** `atrium share` and `/share`: a link, its list, its end. */
import { describe, expect, it } from 'vitest';
import { leftOutIn, lengthOf } from '../src/sessions/shares.js';
import { openChat, PROMPT, say } from './support/chat.js';
import { isBuilt, startHost } from './support/host.js';

describe('what a share is asked for', () => {
  it('[DEV-030] a length of time is read, and none beyond 30 days', () => {
    expect([lengthOf('90m'), lengthOf('12h'), lengthOf('30d')]).toEqual([5_400_000, 43_200_000, 2_592_000_000]);
    for (const wrong of ['31d', '0h', '5', 'h', '-1h', '1w']) expect(() => lengthOf(wrong)).toThrow();
  });

  it('[DEV-031] names of what is left out are read, and no other', () => {
    expect(leftOutIn(['toolInput,folders', 'reasoning'])).toEqual(['toolInput', 'folders', 'reasoning']);
    expect(() => leftOutIn(['passwords'])).toThrow('toolInput, toolOutput');
  });
});

describe.skipIf(!isBuilt)('atrium share (skipped unless it has been built)', { timeout: 90_000 }, () => {
  it('[DEV-030] makes a link once, lists it without its token, and ends it', async () => {
    const host = await startHost();
    await host.run(['run', 'hello']);
    const made = await host.run(['share', 'make', 'last', '--for', '2h', '--without', 'toolOutput', '--json']);
    const share = JSON.parse(made.stdout) as { id: string; token: string; leftOut: string[] };
    expect(share).toMatchObject({ leftOut: ['toolOutput'], token: expect.stringMatching(/^[\w-]{43}$/) });
    const told = await host.run(['share', 'make', 'last']);
    expect(told.stdout).toMatch(/^https?:\/\/\S+\/#share=[\w-]{43}$/m);
    const listed = await host.run(['share', 'list']);
    expect(listed.stdout).toContain('0 read it');
    expect(listed.stdout).not.toContain(share.token);
    expect((await host.run(['share', 'end', share.id])).code).toBe(0);
    expect((await host.run(['share', 'end', share.id])).code).toBe(2);
    expect((await host.run(['share', 'make', 'last', '--for', '31d'])).code).toBe(2);
  });

  it('[DEV-030] /share makes one for the session at hand, and lists it', async () => {
    const { terminal } = await openChat();
    await terminal.sees(PROMPT);
    await say(terminal, '/share 1h without reasoning');
    await terminal.sees(/#share=[\w-]{43}/);
    await terminal.sees(/Left out: what the model thinks/);
    await say(terminal, '/share list');
    await terminal.sees(/0 read it/);
  });
});
