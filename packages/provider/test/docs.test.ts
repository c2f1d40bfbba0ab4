import { execFile } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import {
  CAPABILITY_MATRIX,
  EVENTS_PER_STREAM_MAX,
  GatewayErrorCode,
  PAIRING_CODE_TTL_MS,
  QUEUED_CALLS_MAX,
  TOOLS_PER_PROVIDER_MAX,
} from '@atrium/protocol/provider';
import { afterAll, describe, expect, it } from 'vitest';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const PAGE = readFileSync(path.join(ROOT, 'docs/providers.md'), 'utf8');
/** Inside the repository, so that packages are found by their names. */
const FOLDER = path.join(ROOT, 'node_modules/.cache/atrium/provider-docs');
const run = promisify(execFile);

const snippets = (language: string) =>
  [...PAGE.matchAll(/```(\w+)\n([\s\S]*?)```/g)].flatMap(([, of, code = '']) => (of === language ? [code] : []));

afterAll(() => rmSync(FOLDER, { recursive: true, force: true }));

describe('docs/providers.md', () => {
  it('has snippets that compile', { timeout: 60_000 }, async () => {
    rmSync(FOLDER, { recursive: true, force: true });
    mkdirSync(FOLDER, { recursive: true });
    const files = snippets('ts').map((code, index) => ({ name: `snippet-${index}.ts`, code }));
    expect(files.length).toBeGreaterThanOrEqual(5);
    for (const { name, code } of files) writeFileSync(path.join(FOLDER, name), code);
    const compilerOptions = { noEmit: true, composite: false, lib: ['es2023', 'dom'], types: ['node'] };
    const config = { extends: path.join(ROOT, 'tsconfig.base.json'), compilerOptions, include: ['*.ts'] };
    writeFileSync(path.join(FOLDER, 'package.json'), '{ "type": "module" }');
    writeFileSync(path.join(FOLDER, 'tsconfig.json'), JSON.stringify(config));
    const tsc = path.join(path.dirname(createRequire(import.meta.url).resolve('typescript/package.json')), 'bin/tsc');
    const { stdout } = await run(process.execPath, [tsc, '-p', FOLDER]).catch((error: { stdout: string }) => error);
    expect(stdout).toBe('');
  });

  it('has a test snippet that runs', { timeout: 20_000 }, async () => {
    const code = snippets('ts').find((snippet) => snippet.includes('fakeGateway')) ?? '';
    mkdirSync(FOLDER, { recursive: true });
    writeFileSync(path.join(FOLDER, 'run.mjs'), code);
    const { stdout } = await run(process.execPath, [path.join(FOLDER, 'run.mjs')]);
    expect(stdout).toBe("{ kind: 'data', data: 'Hello, desk!' }\n{ decision: 'allow' }\n");
  });

  it('shows the Python example as it is, and JSON that can be read', () => {
    const example = readFileSync(path.join(ROOT, 'examples/providers/minimal-python.py'), 'utf8');
    for (const code of snippets('python')) expect(example).toContain(code);
    for (const code of snippets('json')) expect(() => JSON.parse(code)).not.toThrow();
  });

  it('[GW-227] promises no order between sessions', () => {
    const [, order = ''] = /\n## Order\n([\s\S]*?)\n## /.exec(PAGE) ?? [];
    expect(order.replaceAll(/\s+/g, ' ')).toContain('Between sessions there is no order');
  });

  it('says what the tables of the protocol say', () => {
    for (const code of Object.values(GatewayErrorCode)) expect(PAGE).toContain(`\n| \`${code}\` |`);
    expect(PAGE).toContain(`| tools, rules, streams of a provider | ${TOOLS_PER_PROVIDER_MAX}, 50, 20 |`);
    expect(PAGE).toContain(`| ${QUEUED_CALLS_MAX}; more fail with`);
    expect(PAGE).toContain(`the newest ${EVENTS_PER_STREAM_MAX}, and 100`);
    expect(PAGE).toContain(`| a pairing code | ${PAIRING_CODE_TTL_MS / 1_000} s, one guess`);
    const { internal, external } = CAPABILITY_MATRIX.staticTransforms;
    expect(PAGE).toContain(
      `| static transforms | ${internal.join(', ')} | ${internal.join(', ')} | ${external.join(', ')} |`,
    );
  });
});
