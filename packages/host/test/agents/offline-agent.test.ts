import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { OFFLINE_SECTIONS, offlineAgent } from '../../../agents/src/offline/backend.js';
import { FakeTurn, type FakeTurnOptions, messageOf, openSession, realTools, runTurn } from '../support/fake-turn.js';
import { ManualClock, tick } from '../support/manual-clock.js';

let folder: string;
const agent = offlineAgent({ everyMs: 0 });

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'atrium-offline-'));
  await mkdir(path.join(folder, 'src'));
  await writeFile(path.join(folder, 'README.md'), '# Lighthouse\n\nTODO: light it.\n');
  await writeFile(path.join(folder, 'src', 'lamp.ts'), 'export const lamp = `on`;\n');
  await promisify(execFile)('git', ['init', '--quiet'], { cwd: folder });
});
afterAll(() => rm(folder, { recursive: true }));

function say(text: string, options: FakeTurnOptions = {}): Promise<FakeTurn> {
  return runTurn(agent, new FakeTurn(text, { workingDirectory: folder, callTool: realTools(folder), ...options }));
}

describe('the offline agent', () => {
  it('describes itself with eleven sections, two of them restricted', () => {
    const catalogue = agent.info.systemMessageSections ?? [];
    expect(agent.info).toMatchObject({ provider: 'offline', displayName: 'Built-in, no model' });
    expect(catalogue.map(({ id }) => id)).toEqual(Object.keys(OFFLINE_SECTIONS));
    expect(catalogue).toHaveLength(11);
    expect(catalogue.filter(({ restricted }) => restricted).map(({ id }) => id)).toEqual(['identity', 'safety']);
  });

  it('greets, says that no model is there, and what to try', async () => {
    const { said } = await say('hello');
    expect(said).toContain('There is no model behind me');
    expect(said).toContain(`**${path.basename(folder)}**`);
    expect(said).toContain('```text\nlist ');
  });

  it('uses any tool that it is told to, and says which there are', async () => {
    const tools = [{ name: 'greet', inputSchema: { type: 'object' as const } }];
    const callTool = ({ name, input }: { name: string; input: unknown }) => ({
      kind: 'completed' as const,
      success: true,
      text: `${name} got ${JSON.stringify(input)}`,
      content: [],
    });
    const hear = async (text: string) => (await say(text, { tools, callTool })).said;
    expect(await hear('use greet {"name": "desk"}')).toContain('`greet` says:\n\n```text\ngreet got {"name":"desk"}');
    expect(await hear('call greet')).toContain('greet got {}');
    expect(await hear('use greet {name: desk}')).toContain('must be a JSON object');
    expect(await hear('use screenshot')).toContain('There is no tool `screenshot` here. There are: `greet`.');
  });

  it('shows one line of reasoning first, and counts at the end', async () => {
    const { events, said } = await say('help');
    const [title, thought] = events;
    expect(title).toEqual({ title: 'Help' });
    expect(thought).toHaveProperty('reasoning');
    const thoughtLength = thought && 'reasoning' in thought ? thought.reasoning.length : 0;
    expect(events.at(-1)).toEqual({
      usage: { inputTokens: 1, outputTokens: Math.ceil((said.length + thoughtLength) / 4) },
    });
  });

  it('takes its title from the first message only', async () => {
    const session = await openSession(agent);
    const titles = async (text: string) => {
      const turn = new FakeTurn(text);
      await session.runTurn(turn);
      return turn.events.filter((event) => 'title' in event);
    };
    const long = `what about ${'lighthouses and '.repeat(9)}boats`;
    expect(await titles(long)).toEqual([{ title: 'What about lighthouses and lighthouses and…' }]);
    expect(await titles('and another')).toEqual([]);
    await session.truncated?.('turn-1');
    expect(await titles('still not')).toEqual([]);
    await session.truncated?.(undefined);
    expect(await titles('new start')).toEqual([{ title: 'New start' }]);
  });

  it('gives no second title to a session that has a history', async () => {
    const turn = { id: 't', message: messageOf('before'), responseParts: [], state: 'complete' } as const;
    const session = await agent.open({
      session: 's',
      chat: 'c',
      workingDirectory: folder,
      signal: new AbortController().signal,
      history: async () => [{ ...turn, responseParts: [] }],
      memory: { get: () => undefined, set: () => {} },
    });
    const next = new FakeTurn('hello');
    await session.runTurn(next);
    expect(next.events.some((event) => 'title' in event)).toBe(false);
  });

  it('lists files and offers one to read', async () => {
    const { events, said } = await say('show me the files here');
    expect(events).toContainEqual({ callTool: { name: 'list_files', input: {} } });
    expect(said).toContain('src/\n');
    expect(said).toContain('Try `read README.md`.');
    expect((await say('ls src')).said).toContain('Try `read src/lamp.ts`.');
  });

  it('reads a file into a block of its language', async () => {
    expect((await say('open src/lamp.ts')).said).toBe('`src/lamp.ts`:\n\n```ts\nexport const lamp = `on`;\n```\n');
  });

  it('searches, and says when nothing is there', async () => {
    expect((await say('find TODO')).said).toContain('README.md:3: TODO: light it.');
    expect((await say('find "no such thing"')).said).toBe('Nothing found for "no such thing".\n');
  });

  it('asks Git what changed', async () => {
    expect((await say('what changed?')).said).toContain('?? README.md');
  });

  it('runs a command when approved, and shows how it ended', async () => {
    const { events, said } = await say('$ echo hi; exit 3');
    expect(events).toContainEqual({ callTool: { name: 'shell', input: { command: 'echo hi; exit 3' } } });
    expect(said).toBe('That did not end well:\n\n```text\nhi\n[exit code 3]\n```\n');
    expect((await say('run echo fine')).said).toContain('Done:\n\n```text\nfine\n[exit code 0]\n```');
  });

  it('takes no for an answer', async () => {
    const { said } = await say('run rm -rf nothing', { callTool: realTools(folder, false) });
    expect(said).toBe('All right, nothing was run: Not today.\n');
  });

  it('says what to do when a tool fails', async () => {
    const { said } = await say('read nowhere.txt');
    expect(said).toContain('There is no "nowhere.txt" in the session\'s folder.');
    expect(said).toContain('Say `list`');
  });

  it('shows the prompt that the session renders', async () => {
    const { said } = await say('show the prompt', { prompt: { identity: 'Me.', tone: 'Calm.' } });
    expect(said).toContain('# identity\nMe.\n\n# tone\nCalm.');
  });

  it('is honest about models', async () => {
    expect((await say('how do I connect a model?')).said).toContain('`atrium agents`');
    expect((await say('write me a poem')).said).toContain('That needs a model, and there is none behind me.');
  });

  it('answers steering in the same turn', async () => {
    const turn = new FakeTurn('thanks');
    turn.steering.push('who are you?');
    await runTurn(agent, turn);
    expect(turn.said).toMatch(/You are welcome![\s\S]*not an AI/);
  });
});

describe('the question of the offline agent', () => {
  const submitted = (kind: 'text' | 'selected', value: string) =>
    ({ state: 'submitted', value: { kind, value } }) as const;

  it('has one choice and one text, and does what was chosen', async () => {
    const answers = { next: submitted('selected', 'files'), name: submitted('text', ' Kim ') };
    const { events, said } = await say('ask me something', { ask: () => ({ response: 'accept', answers }) });
    const asked = events.find((event) => 'ask' in event);
    expect(asked?.ask.questions?.map(({ kind }) => kind)).toEqual(['single-select', 'text']);
    expect(said).toContain('Nice to meet you, **Kim**! Here you are.');
    expect(said).toContain('README.md');
  });

  it('takes skipped answers and no answer', async () => {
    const answers = { next: submitted('selected', 'nothing'), name: { state: 'skipped' } as const };
    expect((await say('ask me', { ask: () => ({ response: 'accept', answers }) })).said).toBe(
      'Thank you! Nothing it is.\n',
    );
    expect((await say('ask me', { ask: () => ({ response: 'decline', answers: {} }) })).said).toContain(
      'No answer is fine',
    );
  });
});

describe('the pace of the offline agent', () => {
  it('is about forty chunks a second, and ends within a tick when cancelled', async () => {
    const clock = new ManualClock();
    const turn = new FakeTurn('thanks');
    const running = runTurn(offlineAgent({ clock }), turn);
    running.catch(() => {});
    await tick();
    expect(turn.said).toBe('You ');
    await clock.advance(25);
    await clock.advance(25);
    expect(turn.said).toBe('You are welcome! ');
    turn.cancel();
    await expect(running).rejects.toThrow();
    expect(clock.pending).toBe(0);
    expect(turn.said).toBe('You are welcome! ');
  });
});
