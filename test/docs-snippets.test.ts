/** Code in the pages is right: TypeScript compiles, JSON can be read, and configurations fit their schema. */
import { execFile } from 'node:child_process';
import { copyFileSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { promisify } from 'node:util';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { type ParseError, parse } from 'jsonc-parser';
import { afterAll, describe, expect, it } from 'vitest';
import { type Block, blocksIn, blocksOf, pages, ROOT } from './support/pages.js';

/** Inside the repository, so that packages are found by their names. */
const FOLDER = path.join(ROOT, 'node_modules/.cache/atrium/docs-snippets');
/** What the fragments in the pages take for granted: `client`, `token`, `render` and the like. */
const GIVEN = path.join(ROOT, 'test/docs/given.d.ts');
const LANGUAGES = ['', 'text', 'sh', 'bash', 'ts', 'js', 'json', 'jsonc', 'python', 'html', 'http'];

const titled = (blocks: readonly Block[]) => blocks.map((block) => [`${block.page}:${block.line}`, block] as const);

afterAll(() => rmSync(FOLDER, { recursive: true, force: true }));

describe('code in the pages', () => {
  it('is in a language that is checked here, or is none', () => {
    const others = pages().flatMap(blocksOf);
    expect(others.filter(({ language }) => !LANGUAGES.includes(language))).toEqual([]);
  });

  it('compiles, where it is TypeScript; so do the examples', { timeout: 120_000 }, async () => {
    const blocks = blocksIn('ts');
    expect(blocks.length).toBeGreaterThanOrEqual(16);
    expect(await complaintsAbout([...blocks, ...examples()])).toBe('');
  });

  it('would not pass if it did not compile', { timeout: 120_000 }, async () => {
    const wrong = { page: 'docs/wrong.md', line: 7, language: 'ts', code: 'client.subscribe(7);\n' };
    expect(await complaintsAbout([wrong])).toMatch(/^docs-wrong\.md-line-7\.ts\(1,\d+\): error TS2345/);
  });
});

describe('JSON in the pages', () => {
  const schema = JSON.parse(readFileSync(path.join(ROOT, 'docs/schema/atrium.schema.json'), 'utf8'));
  const isConfiguration = new Ajv2020({ strict: true, allErrors: true }).compile(schema);
  const keys = new Set(Object.keys(schema.properties));

  it.each(titled(blocksIn('json')))('%s can be read', (_, { code }) => {
    expect(() => JSON.parse(code)).not.toThrow();
  });

  it.each(titled(blocksIn('json', 'jsonc')))('%s fits the schema, if it is a configuration', (_, { code }) => {
    const errors: ParseError[] = [];
    const value: unknown = parse(code, errors, { allowTrailingComma: true });
    expect(errors).toEqual([]);
    if (typeof value !== 'object' || value === null || !Object.keys(value).every((key) => keys.has(key))) return;
    expect([isConfiguration(value), isConfiguration.errors]).toEqual([true, null]);
  });
});

describe('the client in thirty lines', () => {
  it('stands in the guide as it is in the examples, where it is run', () => {
    const example = readFileSync(path.join(ROOT, 'examples/client-in-30-lines.mjs'), 'utf8');
    const shown = blocksIn('js').filter(({ page }) => page === 'docs/client.md');
    expect(shown.map(({ code }) => code)).toContain(example);
    expect(example.split('\n').length - 1).toBeLessThanOrEqual(32);
  });
});

/** The examples that are modules by themselves. The compiler reads JavaScript as strictly. */
function examples(): Block[] {
  const files = readdirSync(path.join(ROOT, 'examples')).filter((file) => file.endsWith('.mjs'));
  return files.map((file) => {
    const code = readFileSync(path.join(ROOT, 'examples', file), 'utf8');
    return { page: `examples/${file}`, line: 1, language: 'js', code };
  });
}

/** What the compiler has to say about these blocks, each a module of its own. */
async function complaintsAbout(blocks: readonly Block[]): Promise<string> {
  rmSync(FOLDER, { recursive: true, force: true });
  mkdirSync(FOLDER, { recursive: true });
  for (const { page, line, language, code } of blocks) {
    writeFileSync(path.join(FOLDER, `${page.replaceAll('/', '-')}-line-${line}.${language}`), code);
  }
  copyFileSync(GIVEN, path.join(FOLDER, 'given.d.ts'));
  const lib = ['es2023', 'dom', 'dom.iterable'];
  const lenient = { noEmit: true, composite: false, declaration: false, noUnusedLocals: false };
  const compilerOptions = { ...lenient, allowJs: true, checkJs: true, lib, types: ['node'] };
  const config = { extends: path.join(ROOT, 'tsconfig.base.json'), compilerOptions, include: ['*.ts', '*.js'] };
  writeFileSync(path.join(FOLDER, 'tsconfig.json'), JSON.stringify(config));
  writeFileSync(path.join(FOLDER, 'package.json'), '{ "type": "module" }');
  const tsc = path.join(path.dirname(createRequire(import.meta.url).resolve('typescript/package.json')), 'bin/tsc');
  const compiling = promisify(execFile)(process.execPath, [tsc, '-p', FOLDER, '--pretty', 'false'], { cwd: FOLDER });
  const { stdout } = await compiling.catch((error: { stdout: string }) => error);
  return stdout;
}
