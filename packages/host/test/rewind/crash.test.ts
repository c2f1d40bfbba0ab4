/**
 * A host that dies in the middle of a rewind, or of its undo, at every commit. Its log takes nothing more from then on, and
 * answers nothing, so that the host stands still as a killed one does; another host goes on with the same log and folders.
 */
import type { Commit, Log } from '@atrium/core/log/log.js';
import { MemoryLog } from '@atrium/core/log/memory-log.js';
import { describe, expect, it } from 'vitest';
import { RewindRecords } from '../../src/workspace/rewind/rewind-records.js';
import { edit, textOf } from '../support/changes-fixture.js';
import { RewindFixture } from '../support/rewind-fixture.js';
import { tempFolder } from '../support/temp-folder.js';

interface MortalLog {
  readonly log: Log;
  /** Dies before or after so many commits from now. */
  dieAt(commit: number, when: 'before' | 'after'): void;
  /** Dies before the first commit that has a record with this text. */
  dieBefore(text: string): void;
  readonly died: Promise<void>;
}

function mortalLog(inner: Log): MortalLog {
  let left = Number.POSITIVE_INFINITY;
  let when = 'before';
  let die = () => {};
  const died = new Promise<void>((resolve) => {
    die = resolve;
  });
  const forever = new Promise<never>(() => {});
  let fatal: string | undefined;
  const append = async (commit: Commit) => {
    left -= 1;
    if (fatal !== undefined && JSON.stringify(commit.records).includes(fatal)) left = 0;
    if (left > 0) return inner.append(commit);
    if (left === 0 && when === 'after') await inner.append(commit);
    die();
    return forever;
  };
  const log = new Proxy(inner, {
    get(target, member) {
      if (member === 'append') return append;
      const value: unknown = Reflect.get(target, member, target);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
  return {
    log,
    died,
    dieAt: (commit, moment) => {
      left = commit;
      when = moment;
    },
    dieBefore: (text) => {
      fatal = JSON.stringify(text).slice(1, -1);
    },
  };
}

interface World {
  readonly inner: MemoryLog;
  readonly mortal: MortalLog;
  readonly fixture: RewindFixture;
  readonly turnId: string;
}

const BEFORE = { a: 'a\n', b: 'b\n', c: 'mine\n' };
const AFTER = { a: 'A\n', b: 'B\n', c: 'mine\n' };

async function world(): Promise<World> {
  const inner = new MemoryLog();
  const mortal = mortalLog(inner);
  const folder = await tempFolder({ 'a.txt': 'a\n', 'b.txt': 'b\n', 'c.txt': 'c\n' });
  const fixture = await RewindFixture.open({ folder, log: mortal.log });
  await fixture.turn('begin');
  const turnId = await fixture.turn('change', async (call) => {
    for (const name of ['a', 'b', 'c'])
      await call('write_file', { path: `${name}.txt`, content: `${name.toUpperCase()}\n` });
  });
  await edit(folder, 'c.txt', 'mine\n');
  return { inner, mortal, fixture, turnId };
}

async function files(folder: string) {
  const [a, b, c] = await Promise.all(['a.txt', 'b.txt', 'c.txt'].map((name) => textOf(folder, name)));
  return { a, b, c };
}

/** What there is once the next host has come to rest. */
async function afterwards({ inner, fixture }: World) {
  for (const { value } of await inner.records('')) expect(() => JSON.parse(value)).not.toThrow();
  const { folder, data, uri } = fixture;
  const next = await RewindFixture.open({ folder, data, uri, log: inner, clientId: `desk-${crypto.randomUUID()}` });
  for (let tries = 0; tries < 200; tries += 1) {
    const [shown, loose] = [await next.shown(), await inner.records('rewind-fork:')];
    if (shown?.state !== 'working' && loose.length === 0) break;
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  const [shown, chats] = [await next.shown(), await next.chats()];
  const found = { said: await next.said(), files: await files(folder), chats: chats.length, shown };
  const kept = chats[1] === undefined ? undefined : await next.said(chats[1]).catch(() => undefined);
  return { next, found, kept };
}

const NOT_DONE = { said: ['begin', 'change'], files: AFTER, chats: 1 };
const DONE = { said: ['begin'], files: BEFORE, chats: 2 };

/** Runs an attempt that dies at each commit in turn, until it does not die any more. */
async function atEveryCommit(attempt: (commit: number, when: 'before' | 'after') => Promise<boolean>): Promise<number> {
  for (let commit = 1; ; commit += 1) {
    // A host that dies behind a commit has done nothing more; one that dies before the next has done all in between.
    if (!(await attempt(commit, 'before'))) return commit - 1;
    await attempt(commit, 'after');
  }
}

describe('a host that dies', { timeout: 60_000 }, () => {
  it('in the middle of a rewind has not begun it, or finishes it and says so [DAY-061] [DAY-062] [REL-096]', async () => {
    const outcomes = new Set<string>();
    const commits = await atEveryCommit(async (commit, when) => {
      const made = await world();
      const { mortal, fixture, turnId } = made;
      mortal.dieAt(commit, when);
      const done = fixture.rewind(turnId).then(
        () => true,
        () => true,
      );
      const isDone = await Promise.race([done, mortal.died.then(() => false)]);
      const { next, found, kept } = await afterwards(made);
      const { shown, ...rest } = found;
      if (shown === undefined) {
        expect(rest, `${when} ${commit}`).toEqual(NOT_DONE);
        outcomes.add('not begun');
      } else {
        expect(rest, `${when} ${commit}`).toEqual(DONE);
        expect(kept).toEqual(['begin', 'change']);
        expect(shown.state).toBe('done');
        outcomes.add(shown.message.includes('The host stopped in the middle of it') ? 'finished' : 'done');
        expect(await next.undo()).toContain('Undone. 1 turn is back. 2 files are as before.');
        expect({ said: await next.said(), files: await files(made.fixture.folder) }).toMatchObject({
          said: NOT_DONE.said,
          files: AFTER,
        });
      }
      await next.host.stop();
      return !isDone;
    });
    expect(commits).toBeGreaterThan(4);
    expect([...outcomes].sort()).toEqual(['done', 'finished', 'not begun']);
  });

  it('between two files finishes both of them [DAY-061]', async () => {
    const made = await world();
    const { mortal, fixture, turnId } = made;
    mortal.dieBefore('"kind":"undone"');
    void fixture.rewind(turnId).catch(() => {});
    await mortal.died;
    expect(await files(fixture.folder)).toEqual(BEFORE);
    await edit(fixture.folder, 'b.txt', 'B\n');
    const { next, found } = await afterwards(made);
    expect(found).toMatchObject({ ...DONE, shown: { message: expect.stringContaining('Put back 2 files.') } });
    await next.host.stop();
  });

  it('in the middle of undoing a rewind has not begun that, or finishes it and says so [DAY-062]', async () => {
    const outcomes = new Set<string>();
    await atEveryCommit(async (commit, when) => {
      const made = await world();
      const { mortal, fixture, turnId } = made;
      await fixture.rewind(turnId);
      mortal.dieAt(commit, when);
      const done = fixture.undo().then(() => true);
      const isDone = await Promise.race([done, mortal.died.then(() => false)]);
      const { next, found } = await afterwards(made);
      const { shown, ...rest } = found;
      if (shown?.state === 'done') expect(rest, `${when} ${commit}`).toEqual(DONE);
      else {
        expect({ ...rest, chats: 1 }, `${when} ${commit}`).toEqual(NOT_DONE);
        // The fork goes last of all: a host that dies before leaves it, as a chat like any other.
        expect(rest.chats).toBeLessThanOrEqual(2);
      }
      outcomes.add(shown?.state ?? 'over');
      await next.host.stop();
      return !isDone;
    });
    expect([...outcomes].sort()).toEqual(['done', 'over', 'undone']);
  });

  it('leaves a fork that the next one drops, also when that is of an earlier version, which wrote its bare name [DAY-061]', async () => {
    const log = new MemoryLog();
    const forks = ['"ahp-chat:/json"', 'ahp-chat:/bare'];
    const records = forks.map((value, index) => ({ key: `rewind-fork:ahp-session%3A%2F${index}`, value }));
    await log.append({ entries: [], records, durability: 'normal' });
    expect(await new RewindRecords(log, { record: () => {}, afterFailure: () => {} }).looseForks()).toEqual([
      { session: 'ahp-session:/0', fork: 'ahp-chat:/json' },
      { session: 'ahp-session:/1', fork: 'ahp-chat:/bare' },
    ]);
  });
});
