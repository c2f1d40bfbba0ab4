/** What an automation may not do, and what it may not do to the host. */
import { existsSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { COMPACT_EVERY_ENTRIES } from '@atrium/core/log/compaction.js';
import { describe, expect, it } from 'vitest';
import { TrustedFolders } from '../../src/plugins/trust/folder-trust.js';
import { AUTOMATION, AutomationFixture } from '../support/automation-fixture.js';
import { openGateway, until } from '../support/gateway-connections.js';
import { KeptLog } from '../support/logs.js';
import { PuppetAgent } from '../support/puppet-agent.js';
import { tempFolder } from '../support/temp-folder.js';
import { ROOT, settle } from '../support/test-host.js';
import { TestProvider } from '../support/test-provider.js';

const GITHUB = { resource: 'https://api.github.example', authorization_servers: ['https://github.example/login'] };

class GuardedAgent extends PuppetAgent {
  constructor() {
    super('guarded', { displayName: 'Guarded', protectedResources: [GITHUB] });
  }

  async authenticate(): Promise<void> {}
}

describe('an automation', () => {
  it('[AUT-040] starts no program of a folder that nobody trusts: its session asks', async () => {
    const mark = "require('node:fs').writeFileSync('started', '')";
    const providers = { listed: { command: process.execPath, args: ['-e', mark] } };
    const folder = await tempFolder({ 'atrium.json': JSON.stringify({ providers }) });
    const trust = new TrustedFolders(path.join(await tempFolder(), 'trusted.json'));
    const fixture = await AutomationFixture.open({ trust });
    await openGateway(fixture.host);
    await fixture.create({ session: { provider: 'puppet', workingDirectories: [pathToFileURL(folder).href] } });
    const run = await fixture.run();
    const { primarySession } = await fixture.until(run, 'running');
    const { inputNeeded = [] } = await until(async () => {
      const state = await fixture.session(primarySession);
      return state.inputNeeded ? state : undefined;
    });
    expect(inputNeeded).toMatchObject([{ kind: 'chatInput', request: { id: expect.stringMatching(/^trust-/) } }]);
    expect(existsSync(path.join(folder, 'started'))).toBe(false);
  });

  it('[AUT-041] is made by clients only: a provider has no way to', async () => {
    const fixture = await AutomationFixture.open();
    await fixture.client.request('createSession', { channel: 'ahp-session:/s', provider: 'puppet' });
    const provider = await TestProvider.bound(fixture.host, { name: 'ci' });
    const action = { type: 'automation/createRequested', definition: {} };
    provider.send({ type: 'dispatchAction', channel: 'ahp-automations://', clientSeq: 1, action });
    expect(await provider.next('error')).toBeDefined();
    expect(await fixture.entries()).toEqual([]);
  });

  it('[AUT-042] of an agent that wants a token fails until a client has shown one', async () => {
    const agent = new GuardedAgent();
    const fixture = await AutomationFixture.open({ agents: [agent] });
    await fixture.create({ session: { provider: 'guarded' } });
    const { lifecycle } = await fixture.until(await fixture.run(), 'failed');
    expect(lifecycle.error?.message).toContain('sign in');
    await fixture.client.request('authenticate', { channel: ROOT, resource: GITHUB.resource, token: 'good' });
    const run = await fixture.run();
    (await agent.turn(0)).finish();
    await fixture.until(run, 'completed');
    await fixture.client.request('authenticate', { channel: ROOT, resource: GITHUB.resource, token: '' });
    await fixture.until(await fixture.run(), 'failed');
  });

  it('[AUT-043] does not keep the log from forgetting what is old', { timeout: 60_000 }, async () => {
    const log = new KeptLog();
    const fixture = await AutomationFixture.open({ log, joinText: false });
    await fixture.create();
    const done = await fixture.run();
    (await fixture.agent.turn(0)).finish();
    await fixture.until(done, 'completed');
    const [old, entries] = [log.head, await fixture.entries()];
    const busy = await fixture.run();
    const { turn } = await fixture.agent.turn(1);
    for (let count = 0; count <= COMPACT_EVERY_ENTRIES; count += 1) turn.text('x');
    await expect.poll(() => log.oldest, { timeout: 20_000 }).toBeGreaterThan(old);
    await settle(20);
    const again = await fixture.crash();
    expect((await again.state(busy)).lifecycle.status).toBe('failed');
    expect(await again.state(done)).toEqual(entries[0]?.runs[0]);
    expect((await again.entry(AUTOMATION)).definition).toEqual(entries[0]?.definition);
  });
});
