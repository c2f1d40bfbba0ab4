/** `atrium permissions`, and rules and modes in the chat. */
import { describe, expect, it } from 'vitest';
import { answer, openChat, PROMPT, say } from './support/chat.js';
import { isBuilt, sharedHost } from './support/host.js';

describe.skipIf(!isBuilt)('[DAY-009] permission rules in the shell (skipped unless it has been built)', () => {
  const shared = sharedHost({ ownConfig: true });

  it('are added, listed, tried and removed, and a wrong one says what is wrong', async () => {
    const { run } = shared();
    expect(await run(['permissions', 'add', 'deny', 'shell(rm *)'])).toMatchObject({ code: 0, stderr: '' });
    expect((await run(['permissions'])).stdout).toMatch(/1 +deny +shell\(rm \*\) +not used yet +person: \//);
    const tried = await run(['permissions', 'test', 'git status; rm -rf ~']);
    expect([tried.code, tried.stdout]).toEqual([5, expect.stringContaining('Denied by your rule: shell(rm *)')]);
    expect((await run(['permissions', 'add', 'allow', 'shell(* x)'])).stderr).toContain('name of a program');
    expect((await run(['permissions', 'forget'])).code).toBe(2);
    expect(await run(['permissions', 'remove', 'deny', 'shell(rm *)'])).toMatchObject({ code: 0 });
    expect(JSON.parse((await run(['permissions', '--json'])).stdout)).toMatchObject({ rules: [] });
  });
});

describe.skipIf(!isBuilt)('[DAY-007] [DAY-009] rules and modes in the chat (skipped unless it has been built)', () => {
  const shared = sharedHost({ ownConfig: true });

  it('Shift+Tab goes through the modes, the status line names them, and /permissions adds, tries and removes rules', async () => {
    const { terminal } = await openChat('chat', { host: shared() });
    await terminal.sees(PROMPT);
    terminal.keys('BTab');
    await terminal.sees(/Accept edits mode · /);
    await say(terminal, '/mode plan');
    await terminal.sees(/\nPlan mode · /);
    terminal.type('/permissions deny shell(rm *)');
    await terminal.sees(/> \/permissions deny shell\(rm \*\)/);
    terminal.keys('Enter');
    await terminal.sees(/From now on, in this session: deny shell\(rm \*\)/);
    await say(terminal, '/permissions test ls; rm x');
    await terminal.sees(/Denied by the rule of this session: shell\(rm \*\)/);
    await say(terminal, '/permissions remove 1');
    await terminal.sees(/Removed: deny shell\(rm \*\)/);
    await say(terminal, '/permissions');
    await terminal.sees(/the mode is Plan\n {2}There are no rules\./);
  });

  it('[DAY-005] a call that is over says which rule let it run, and which answer wrote that rule', async () => {
    const { terminal } = await openChat('chat', { host: shared() });
    await terminal.sees(PROMPT);
    await say(terminal, 'shell');
    await terminal.sees(/3 ✓ Always allow shell\(echo \*\) in this session · 4 ✓ in this\s+project · 5 ✓ everywhere/);
    await answer(terminal, '3');
    await terminal.sees(
      /✓ Shell {2}.*\n {2}Allowed by a person: Always allow shell\(echo \*\) in this session\n {2}one\n/,
    );
    await say(terminal, 'shell');
    await terminal.sees(/✓ Shell {2}.*\n {2}Allowed by the rule of this session: shell\(echo \*\)\n {2}one\n/);
  });
});
