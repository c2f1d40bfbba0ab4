import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { AutomationEntry, AutomationRunState } from '@atrium/protocol/ahp-1';
import { describe, expect, it } from 'vitest';
import { isBuilt, startHost } from './support/host.js';

const TRIES_MAX = 200;

describe.skipIf(!isBuilt)('atrium automations (skipped unless it has been built)', { timeout: 60_000 }, () => {
  it('makes one for this folder, lists it, and shows it', async () => {
    const host = await startHost();
    expect((await host.run(['automations', 'list'])).stdout).toContain('no automations');
    const nightly = ['--title', 'Nightly', '--cron', '0 2 * * *', '--time-zone', 'Europe/Vienna', '--catch-up'];
    const made = await host.run(['automations', 'create', 'hello', ...nightly, '--on-turn', 'failed']);
    expect(made.stdout).toMatch(/^Made [0-9a-f-]{36}\. It runs next at \d{4}-\d\d-\d\d \d\d:\d\d\.\n$/);
    expect((await host.run(['automations', 'list'])).stdout).toMatch(/^[0-9a-f]{8} +\d{4}-.* never .* Nightly$/m);
    const entry: AutomationEntry = JSON.parse((await host.run(['automations', 'show', 'Nightly'])).stdout);
    expect(entry.definition).toMatchObject({
      title: 'Nightly',
      message: { text: 'hello' },
      session: { workingDirectories: [`file://${host.cwd}`] },
      triggers: [
        {
          kind: 'schedule',
          schedule: { expression: '0 2 * * *', timeZone: 'Europe/Vienna' },
          misfirePolicy: 'runOnce',
        },
        { kind: 'event', type: 'atrium.turn', events: ['failed'], config: { folder: host.cwd } },
      ],
    });
  });

  it('says why one cannot be made', async () => {
    const host = await startHost();
    const often = await host.run(['automations', 'create', 'hello', '--cron', '* * * * *']);
    expect(often.code).toBe(1);
    expect(often.stderr).toContain('more often than every 5 minutes');
    expect((await host.run(['automations', 'create'])).code).toBe(2);
    expect((await host.run(['automations', 'show', 'nothing'])).stderr).toContain('no automation "nothing"');
  });

  it('runs one, waits for it, and tells how its runs went', async () => {
    const host = await startHost();
    const file = path.join(host.cwd, 'greet.json');
    const message = { text: 'hello', origin: { kind: 'automation' } };
    const definition = { title: 'Greet', message, session: {}, enabled: true, triggers: [] };
    await writeFile(file, JSON.stringify(definition));
    const { stdout } = await host.run(['automations', 'create', '--file', 'greet.json', '--json']);
    const { resource }: AutomationEntry = JSON.parse(stdout);
    expect((await host.run(['automations', 'list'])).stdout).toContain('by hand');
    expect((await host.run(['automations', 'runs', 'Greet'])).stdout).toContain('not run yet');
    const ended = await host.run(['automations', 'run', resource.slice(-36, -28), '--wait', '--json']);
    expect(ended.code).toBe(0);
    const run: AutomationRunState = JSON.parse(ended.stdout);
    expect(run.lifecycle).toMatchObject({ status: 'completed', usage: { outputTokens: 5 } });
    expect((await host.run(['automations', 'runs', 'Greet'])).stdout).toMatch(/completed +by hand +[0-9a-f]{8}/);
    expect((await host.run(['sessions', 'list'])).stdout).toContain('A first hello');
  });

  it('stops a run, switches one off and on, and removes it', async () => {
    const host = await startHost();
    await host.run(['automations', 'create', 'deploy', '--title', 'Deploy', '--cron', '0 2 * * *']);
    expect((await host.run(['automations', 'cancel', 'Deploy'])).stderr).toContain('no run of Deploy is going on');
    const waiting = host.start(['automations', 'run', 'Deploy', '--wait']);
    // Its tool asks, and nobody answers.
    for (let tries = 0; ; tries += 1) {
      if ((await host.run(['automations', 'runs', 'Deploy'])).stdout.includes('running')) break;
      expect(tries).toBeLessThan(TRIES_MAX);
    }
    expect((await host.run(['automations', 'cancel', 'Deploy'])).stderr).toContain('The run is cancelled.');
    expect(await waiting.ended()).toBe(1);
    expect((await host.run(['automations', 'disable', 'Deploy'])).stderr).toContain('off');
    expect((await host.run(['automations', 'list'])).stdout).toMatch(/ off +cancelled /);
    expect((await host.run(['automations', 'enable', 'Deploy'])).stderr).toContain('on');
    expect((await host.run(['automations', 'list'])).stdout).not.toMatch(/ off /);
    expect((await host.run(['automations', 'remove', 'Deploy'])).stderr).toContain('removed');
    expect((await host.run(['automations', 'list'])).stdout).toContain('no automations');
  });
});
