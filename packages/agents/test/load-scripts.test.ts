import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { loadScripts } from '../src/scripted/backend.js';
import { checkScript, STEP_SHAPES } from '../src/scripted/script.js';

const BASE = { provider: 'test', displayName: 'Test' };

function problem(script: unknown): string {
  try {
    checkScript(script, 'my.json');
  } catch (error) {
    return String(error);
  }
  return 'none';
}

const stepProblem = (step: unknown) => problem({ ...BASE, prompts: { 'say hi': [{ text: 'ok' }, step] } });

describe('a script that is not right', () => {
  it.each([
    ['not an object', [], 'my.json: the script must be an object, but is a list'],
    ['without provider', { displayName: 'T' }, 'my.json: the script must have "provider" (a string that is not empty)'],
    ['with an empty provider', { ...BASE, provider: '' }, 'provider must be a string that is not empty, but is ""'],
    ['with a provider for no URI', { ...BASE, provider: 'a:b' }, 'provider must be a letter, then letters, digits'],
    ['with an unknown key', { ...BASE, defalt: [] }, 'the script has the unknown key "defalt"; known are: provider,'],
    ['with a wrong model', { ...BASE, models: [{ id: 'a' }] }, 'my.json: models[0] must have "name" (a string'],
    ['with a wrong section', { ...BASE, sections: { tone: 3 } }, 'my.json: sections.tone must be a string, but is 3'],
    ['with steps that are no list', { ...BASE, default: {} }, 'my.json: default must be a list, but is an object'],
    ['with half an error', { ...BASE, createError: { message: '' } }, 'my.json: createError must have "errorType"'],
  ])('%s', (_name, script, expected) => {
    expect(problem(script)).toContain(expected);
  });

  it.each([
    [
      'no object',
      'text',
      'my.json: prompts["say hi"][1] must be an object. A step is one of: text (with chunk, everyMs);',
    ],
    ['empty', {}, 'my.json: prompts["say hi"][1] is empty. A step is one of: text'],
    ['two in one', { text: 'a', title: 'b' }, 'prompts["say hi"][1] is text and title in one; make it 2 steps'],
    [
      'an option of another',
      { title: 'b', chunk: 2 },
      '[1] has the unknown key "chunk" beside "title". A step is one of',
    ],
    ['a wrong option', { text: 'b', chunk: 0 }, '[1].chunk must be a whole number of at least 1, but is 0'],
    ['a wrong delay', { delayMs: '5' }, '[1].delayMs must be a whole number of at least 0, but is "5"'],
    ['half a tool', { tool: { name: 'x' } }, '[1].tool must have "displayName" (a string)'],
    [
      'a tool with more',
      { callTool: { name: 'x', args: {} } },
      '.callTool has the unknown key "args"; known are: name, input',
    ],
    [
      'a wrong prompt',
      { showPrompt: false },
      '[1].showPrompt must be true or a string that is not empty, but is false',
    ],
    ['a wrong usage', { usage: { inputTokens: 'many' } }, '[1].usage.inputTokens must be a number'],
    ['a wrong question', { ask: { questions: [{ kind: 'text', id: 'a' }] } }, '[1].ask.questions[0]'],
  ])('a step that is %s', (_name, step, expected) => {
    expect(stepProblem(step)).toContain(expected);
  });

  it('an unknown step lists all that are known', () => {
    expect(stepProblem({ txt: 'hi' })).toBe(
      'ScriptError: my.json: prompts["say hi"][1] has the unknown key "txt". A step is one of: ' +
        'text (with chunk, everyMs); reasoning (with chunk, everyMs); tool; callTool; usage; ask; title; delayMs; ' +
        'error; showPrompt; worker.',
    );
  });
});

describe('loading scripts', () => {
  let folder: string;
  const file = (name: string) => path.join(folder, name);

  beforeAll(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'atrium-scripts-'));
    await writeFile(file('a.json'), `\uFEFF${JSON.stringify({ ...BASE, provider: 'a' })}`);
    await writeFile(file('b.json'), JSON.stringify({ ...BASE, provider: 'b' }));
    await writeFile(file('again.json'), JSON.stringify({ ...BASE, provider: 'a' }));
    await writeFile(file('broken.json'), '{ "provider": ');
  });
  afterAll(() => rm(folder, { recursive: true }));

  it('gives agents in the order of the files', async () => {
    const agents = await loadScripts([file('b.json'), file('a.json')]);
    expect(agents.map(({ info }) => info.provider)).toEqual(['b', 'a']);
  });

  it('refuses the same provider twice, naming both files', async () => {
    const loading = loadScripts([file('a.json'), file('b.json'), file('again.json')]);
    await expect(loading).rejects.toThrow(`${file('again.json')}: provider "a" is already that of ${file('a.json')}`);
  });

  it('names a file that is not JSON, or not there', async () => {
    await expect(loadScripts([file('broken.json')])).rejects.toThrow(
      `${file('broken.json')}: is not JSON: Unexpected end`,
    );
    await expect(loadScripts([file('no.json')])).rejects.toThrow(`${file('no.json')}: there is no such file`);
    await expect(loadScripts([folder])).rejects.toThrow(`${folder}: cannot be read: EISDIR`);
  });
});

describe('what we show to authors of scripts', () => {
  const fromRoot = (name: string) => fileURLToPath(new URL(`../../../${name}`, import.meta.url));

  it('the demo loads', async () => {
    const [agent] = await loadScripts([fromRoot('examples/scripts/demo.json')]);
    expect(agent?.info.provider).toBe('demo');
  });

  it('every example of the page is right, and every kind of step has one', async () => {
    const page = await readFile(fromRoot('docs/scripted-agent.md'), 'utf8');
    const examples = [...page.matchAll(/^```json\n(.*?)^```/gms)].map((match) => JSON.parse(match[1] ?? ''));
    for (const example of examples)
      checkScript(Array.isArray(example) ? { ...BASE, default: example } : example, 'page');
    const shown = new Set(examples.filter(Array.isArray).flat().flatMap(Object.keys));
    expect([...shown]).toEqual(expect.arrayContaining(Object.keys(STEP_SHAPES)));
  });
});
