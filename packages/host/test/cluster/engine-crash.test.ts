import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { type Commit, LogFencedError, LogUnavailableError, type Stored } from '@atrium/core/log/log.js';
import { expect, it, onTestFinished } from 'vitest';
import { startPostgres } from '../../../../scripts/postgres.mjs';
import { initCluster } from '../../src/log-postgres/administer.js';
import { Engine } from '../../src/log-postgres/engine.js';
import { engineUrl } from '../../src/log-postgres/engine-url.js';
import { openPostgresLog, type PostgresLog } from '../../src/log-postgres/postgres-log.js';
import { SKIPPED_NUMBERS } from '../../src/log-postgres/schema.js';
import { joinedAs } from '../support/membership.js';
import { describeWithEngine, onEngine, takeOver } from '../support/postgres.js';

function commitOf(n: number): Commit {
  return { entries: [{ channel: 'c', time: 0, action: `{"n":${n}}` }], durability: 'full' };
}

/** An engine of its own that can be killed, and a cluster in it. */
async function ownEngine() {
  const server = await startPostgres({ isSafe: true });
  onTestFinished(() => server.stop());
  const url = engineUrl(server.url);
  await onEngine(url, (engine) => initCluster(engine));
  return { server, url };
}

/** As the writer does it. */
async function insist(log: PostgresLog, commit: Commit): Promise<Stored> {
  for (;;) {
    try {
      return await log.append(commit);
    } catch (error) {
      if (!(error instanceof LogUnavailableError)) throw error;
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }
}

describeWithEngine('an engine that crashes', () => {
  it('[CLU-012] [CLU-013] loses and doubles nothing that was stored, and the host goes on', {
    timeout: 120_000,
  }, async () => {
    const { server, url } = await ownEngine();
    const log = await openPostgresLog({ url, owner: await takeOver(url) });
    onTestFinished(() => log.close());
    let n = 0;
    let isOver = false;
    const answers: Stored[] = [];
    const appending = (async () => {
      while (!isOver) answers.push(await insist(log, commitOf(n++)));
    })();
    for (let crash = 0; crash < 3; crash++) {
      const before = answers.length;
      await expect.poll(() => answers.length).toBeGreaterThan(before + 20);
      await server.end('crash');
      await server.start();
    }
    isOver = true;
    await appending;
    const entries = await log.read({ after: 0 });
    expect(entries.map(({ seq, action }) => [seq, JSON.parse(action).n])).toEqual(
      answers.map(({ first }, index) => [first, index]),
    );
    expect(answers.map(({ first }) => first)).toEqual(answers.map((_, index) => index + 1));
  });

  it('[CLU-014] and comes back from a backup is noticed: the host reads anew, and numbers go on far above all that was shown', async () => {
    const { server, url } = await ownEngine();
    const log = await openPostgresLog({ url, owner: await takeOver(url) });
    onTestFinished(() => log.close());
    for (let n = 0; n < 3; n++) await insist(log, commitOf(n));
    await server.end('fast');
    const restore = server.backUp();
    await server.start();
    for (let n = 3; n < 9; n++) await insist(log, commitOf(n));
    await server.end('fast');
    restore();
    await server.start();
    await expect(insist(log, commitOf(9))).rejects.toThrow(LogFencedError);
    const { member } = await joinedAs('a', { url, seen: log.head });
    await member.active;
    const next = await openPostgresLog({ url, owner: member.me });
    onTestFinished(() => next.close());
    const { first } = await next.append(commitOf(10));
    expect(first).toBe(9 + SKIPPED_NUMBERS + 1);
    expect((await next.read({ after: 0 })).map(({ action }) => JSON.parse(action).n)).toEqual([0, 1, 2, 10]);
    expect(await next.missed(3, ['c'], { entries: 2 * SKIPPED_NUMBERS, bytes: 1_000_000 })).toBe(undefined);
  });

  it('[CLU-014] and whose stand-by takes over is noticed by its timeline, whatever was passed on to it', async () => {
    const { server, url } = await ownEngine();
    const { member, logged } = await joinedAs('a', { url });
    await member.active;
    const log = await openPostgresLog({ url, owner: member.me });
    onTestFinished(() => log.close());
    await insist(log, commitOf(0));
    await server.end('fast');
    writeFileSync(path.join(server.data, 'standby.signal'), '', { mode: 0o644 });
    await server.start();
    const engine = new Engine(url, 'test');
    onTestFinished(() => engine.close());
    await engine.run('SELECT pg_promote()');
    await expect
      .poll(async () => {
        await member.lookNow();
        return logged.join('\n');
      })
      .toContain('the engine is another one than before');
    expect(await insist(log, commitOf(1))).toEqual({ first: SKIPPED_NUMBERS + 2, last: SKIPPED_NUMBERS + 2 });
  });
});
