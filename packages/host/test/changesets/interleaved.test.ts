/** People and the agent change the same files in random order. Whatever is taken back, nothing that a person wrote goes. */
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { ChangesFixture, repository } from '../support/changes-fixture.js';
import { Random } from '../support/fuzz-random.js';
import { tempFolder } from '../support/temp-folder.js';

const NAMES = ['a.txt', 'b.txt', 'deep/c.txt', 'new.txt', 'deep/er/d.txt'];
const LINES = Array.from({ length: 30 }, (_, index) => `line ${index}\n`);
const START = { 'a.txt': LINES.join(''), 'b.txt': LINES.slice(0, 8).join(''), 'deep/c.txt': 'c\n' };

/** Every other one in a repository. `npm run prove -- races` has more. */
const ROUNDS = Number(process.env.ATRIUM_INTERLEAVED_ROUNDS || 2);

type Folder = Map<string, string>;

/** One change of a file, marked with who made it. */
function changed(random: Random, old: string | undefined, mark: string): string | undefined {
  const lines = (old ?? '').split(/(?<=\n)/).filter((line) => line !== '');
  const at = random.below(lines.length + 1);
  const kind = random.below(6);
  // Only what the agent wrote, or what was there, is removed: the test watches over what people wrote.
  if (kind === 0 && !lines[at]?.includes('person')) return lines.toSpliced(at, 1).join('');
  if (kind === 1 && lines[at] !== undefined && !lines[at].includes('person'))
    return lines.with(at, `${mark}\n`).join('');
  if (kind === 2 && mark.startsWith('agent') && !old?.includes('person')) return undefined;
  return lines.toSpliced(at, 0, `${mark}\n`).join('');
}

async function contents(folder: string): Promise<Folder> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile() && !`${entry.parentPath}/`.includes('/.git/'));
  const read = files.map(async (entry): Promise<[string, string]> => {
    const file = path.join(entry.parentPath, entry.name);
    return [path.relative(folder, file), await readFile(file, 'utf8')];
  });
  return new Map((await Promise.all(read)).sort());
}

async function put(folder: string, name: string, text: string | undefined): Promise<void> {
  const file = path.join(folder, name);
  if (text === undefined) return rm(file, { force: true });
  await mkdir(path.dirname(file), { recursive: true });
  await writeFile(file, text);
}

function byPeople(folder: Folder): string[] {
  return [...folder]
    .flatMap(([name, text]) => (text.match(/person \d+/g) ?? []).map((mark) => `${name}: ${mark}`))
    .sort();
}

async function play(folder: string, random: Random): Promise<void> {
  const fixture = await ChangesFixture.open({ folder });
  let marks = 0;
  const change = async (who: string, name: string) => {
    const old = await readFile(path.join(folder, name), 'utf8').catch(() => undefined);
    return changed(random, old, `${who} ${++marks}`);
  };
  const person = async () => {
    const name = random.pick(NAMES) ?? '';
    const text = await change('person', name);
    if (text !== undefined) await put(folder, name, text);
  };
  const turns: string[] = [];
  for (let turn = 0; turn < 3; turn += 1) {
    const turnId = await fixture.turn(async (call) => {
      for (let step = 0; step < 4; step += 1) {
        if (random.chance(0.5)) await person();
        const name = random.pick(NAMES) ?? '';
        const content = await change('agent', name);
        if (content !== undefined && random.chance(0.6)) await call('write_file', { path: name, content });
        else {
          const text = Buffer.from(content ?? '').toString('base64');
          const write = `mkdir -p $(dirname ${name}) && echo ${text} | base64 -d > ${name}`;
          await call('shell', { command: content === undefined ? `rm -f ${name}` : write });
        }
      }
    });
    turns.push(turnId);
    await person();
  }
  for (const view of [...turns.toSorted(() => random.next() - 0.5).map((id) => `turn/${id}`), 'session']) {
    const { operations = [] } = await fixture.shown(view);
    if (!operations.some(({ id }) => id === 'revert')) continue;
    const before = await contents(folder);
    const channel = fixture.view(view);
    const { result, error } = await fixture.client.ask('invokeChangesetOperation', { channel, operationId: 'revert' });
    const after = await contents(folder);
    expect(byPeople(after), `${view}: ${JSON.stringify({ result, error })}`).toEqual(byPeople(before));
    if (error) {
      expect(error.code).toBe(-32011);
      expect(after).toEqual(before);
    } else if (random.chance(0.5)) {
      await fixture.invoke(view, 'reapply');
      expect(await contents(folder)).toEqual(before);
      await fixture.invoke(view, 'revert');
      expect(await contents(folder)).toEqual(after);
    }
  }
}

describe('people and the agent at the same files', () => {
  const seed = Random.seedFromEnvironment();
  for (let round = 0; round < ROUNDS; round += 1) {
    it(`loses nothing that a person wrote (seed ${seed + round})`, { timeout: 60_000 }, async () => {
      await play(round % 2 === 0 ? await repository(START) : await tempFolder(START), new Random(seed + round));
    });
  }
});
