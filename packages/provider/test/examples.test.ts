import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { startRealHost, textOf, turnStarted, until, untilTool } from './support/real-host.js';

const EXAMPLES = fileURLToPath(new URL('../../../examples/providers/', import.meta.url));
const example = (name: string) => path.join(EXAMPLES, name);
const CALL = (name: string, input: object = {}) => [{ callTool: { name, input } }, { text: '${lastResult}' }];
/** Static imports; what is imported on demand (`ws`, in old Nodes only) is in the middle of a line. */
const IMPORT = /^(?:import|export)\s(?:[^;'"]*?\sfrom\s)?['"]([^'"]+)['"]/gm;
const PYTHON = process.env.ATRIUM_TEST_PYTHON ?? 'python3';

function hasWebsockets(): boolean {
  try {
    execFileSync(PYTHON, ['-c', 'import websockets'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

/** A host whose folder declares one example; it is started as people start it. */
async function hostWith(prompts: Parameters<typeof startRealHost>[0]['prompts'], command: string, file: string) {
  const providers = { example: { command, args: [example(file)] } };
  const fixture = await startRealHost({ prompts: { hello: [{ text: 'hi' }], ...prompts }, providers });
  await fixture.say('hello');
  return fixture;
}

describe('the example', { timeout: 30_000 }, () => {
  it('[GW-025] minimal-node.mjs is started by the host and greets', async () => {
    const { session, say } = await hostWith(
      { greet: CALL('greet', { name: 'desk' }) },
      process.execPath,
      'minimal-node.mjs',
    );
    await untilTool(session, 'greet');
    expect(textOf(await say('greet'))).toBe('Hello, desk!');
  });

  it('ci-watcher.mjs tells how CI is doing, says when that changes, and holds a push while it fails', async () => {
    const { session, say, folder } = await hostWith(
      { status: CALL('ci_status'), push: CALL('shell', { command: 'git push' }) },
      process.execPath,
      'ci-watcher.mjs',
    );
    await untilTool(session, 'ci_status');
    expect(textOf(await say('status'))).toContain('unknown');
    await writeFile(path.join(folder, 'ci-status.json'), JSON.stringify({ state: 'failing', detail: '3 tests fail' }));
    await until(session, (state) => JSON.stringify(state).includes('CI is failing: 3 tests fail'));
    expect(textOf(await say('status'))).toContain('3 tests fail');
    expect(textOf(await say('push'))).toContain('CI is failing: 3 tests fail. Fix that first.');
    await writeFile(path.join(folder, 'ci-status.json'), JSON.stringify({ state: 'passing', detail: 'all green' }));
    await until(session, (state) => JSON.stringify(state).includes('CI is passing: all green'));
    // The gate lets it pass; now it is for a person to say yes.
    await session.dispatch(turnStarted('free', 'push'));
    await until(session, ({ activeTurn }) => JSON.stringify(activeTurn ?? '').includes('pending-confirmation'));
  });

  it('minimal-python.py is started by the host and counts', async ({ skip }) => {
    if (!hasWebsockets()) skip(`${PYTHON} has no package websockets: pip install websockets`);
    const { session, say } = await hostWith(
      { count: CALL('count_words', { text: 'one two three' }) },
      PYTHON,
      'minimal-python.py',
    );
    await untilTool(session, 'count_words');
    expect(textOf(await say('count'))).toBe('3');
  });
});

describe('the page', () => {
  it('lend-this-tab.html can load every module that it asks for', () => {
    const page = readFileSync(example('lend-this-tab.html'), 'utf8');
    const { imports } = JSON.parse(/<script type="importmap">([\s\S]*?)<\/script>/.exec(page)?.[1] ?? '{}') as {
      imports: Record<string, string>;
    };
    const resolve = (specifier: string, from: string) => {
      if (specifier.startsWith('.')) return path.resolve(path.dirname(from), specifier);
      const mapped = imports[specifier];
      if (mapped === undefined) throw new Error(`${from} imports ${specifier}, which the page does not map`);
      return path.resolve(EXAMPLES, mapped);
    };
    const seen = new Set<string>();
    const visit = (file: string) => {
      if (seen.has(file)) return;
      seen.add(file);
      expect(existsSync(file), file).toBe(true);
      const source = readFileSync(file, 'utf8');
      for (const [, specifier = ''] of source.matchAll(IMPORT)) visit(resolve(specifier, file));
    };
    visit(resolve('@atrium/provider', example('lend-this-tab.html')));
    expect(seen.size).toBeGreaterThan(30);
  });

  it.each(['minimal-browser.html', 'lend-this-tab.html'])(
    '%s says how to run it, and needs nothing from elsewhere',
    (name) => {
      const page = readFileSync(example(name), 'utf8');
      expect(page).toMatch(/^<!doctype html>\n<!--\n {2}\S/);
      expect(page).not.toMatch(/(src|href)="https?:/);
      const [, script = ''] = /<script type="module">([\s\S]*?)<\/script>/.exec(page) ?? [];
      expect(() =>
        execFileSync(process.execPath, ['--check', '--input-type=module', '-'], { input: script }),
      ).not.toThrow();
    },
  );
});
