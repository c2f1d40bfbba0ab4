import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { isBuilt, startHost, startHostProcess } from './support/host.js';
import { hasTmux, openTerminal } from './support/terminal.js';

describe.skipIf(!isBuilt)('atrium terminals (skipped unless it has been built)', { timeout: 60_000 }, () => {
  it('says that there are none, and that one is entered from a terminal', async () => {
    const host = await startHost();
    expect((await host.run(['terminals', 'list'])).stdout).toContain('no terminals');
    const { code, stderr } = await host.run(['terminals', 'new']);
    expect(code).toBe(2);
    expect(stderr).toContain('from a terminal');
    expect((await host.run(['terminals', 'attach', 'nowhere'])).code).not.toBe(0);
  });

  it('are refused by a host without them', async () => {
    const host = await startHost(['--no-terminals']);
    const claim = '{"kind":"client","clientId":"x"}';
    const params = `{"channel":"ahp-terminal:/x","claim":${claim}}`;
    const { code, stderr } = await host.run(['call', 'createTerminal', params]);
    expect(code).toBe(5);
    expect(stderr).toContain('turned off');
  });

  it.skipIf(!hasTmux)('opens a shell, leaves it with Ctrl+], finds it again and ends it (needs tmux)', async () => {
    // As a process: its shell is not the developer's, with all that this one starts with.
    const host = await startHostProcess();
    const window = await openTerminal({ ...host.env, SHELL: '/bin/sh' }, path.dirname(host.dataDir));
    window.type('atrium terminals new --name work');
    window.keys('Enter');
    await window.sees(/Ctrl\+\] leaves[\s\S]*[#$] ?$/);
    window.type('echo "here $((40 + 2)) $(stty size)"');
    window.keys('Enter');
    await window.sees(/here 42 30 90/);
    window.keys('C-]');
    await window.sees(/Left the terminal/);
    expect((await host.run(['terminals', 'list'])).stdout).toMatch(/running +a person +work/);
    window.type('clear; atrium terminals attach');
    window.keys('Enter');
    await window.sees(/here 42 30 90[\s\S]*[#$] ?$/);
    window.type('exit 3');
    window.keys('Enter');
    await window.sees(/has ended \(3\)/);
    expect((await host.run(['terminals', 'rm', 'last'])).stderr).toContain('Ended work');
    expect((await host.run(['terminals', 'list'])).stdout).toContain('no terminals');
  });
});
