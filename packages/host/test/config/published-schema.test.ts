/** The published schema says the same as the check. After a change of `schema.ts`: `npx vitest run published-schema -u`. */

import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { parse } from 'jsonc-parser';
import { describe, expect, it } from 'vitest';
import { readConfigFile } from '../../src/config/config-file.js';
import { publishedSchema } from '../../src/config/config-schema.js';
import { tempFolder } from '../support/temp-folder.js';

const ajv = new Ajv2020({ strict: true, allErrors: true });
const validate = ajv.compile(JSON.parse(publishedSchema()));

describe('the published schema of atrium.json', () => {
  it('is current', async () => {
    await expect(publishedSchema()).toMatchFileSnapshot('../../../../docs/schema/atrium.schema.json');
  });

  it('allows the example in the documentation, which needs no correction', async () => {
    const page = await readFile(new URL('../../../../docs/configuration.md', import.meta.url), 'utf8');
    const [, example = ''] = /```jsonc\n(.*?)```/s.exec(page) ?? [];
    const read = await readConfigFile(path.join(await tempFolder({ 'atrium.json': example }), 'atrium.json'));
    expect(read).toMatchObject({ config: { defaultAgent: 'house' }, warnings: [] });
    expect([validate(parse(example, [], { allowTrailingComma: true })), validate.errors]).toEqual([true, null]);
  });

  it.each<[object, 'fits' | 'fails']>([
    [{}, 'fits'],
    [{ $schema: 'x', agents: { ollama: { enabled: false } } }, 'fits'],
    [{ agents: { a: { type: 'model', api: 'anthropic', models: ['m', { id: 'n' }] } } }, 'fits'],
    [{ agents: { a: { type: 'acp', command: 'x', env: { A: '1' } } } }, 'fits'],
    [{ mcpServers: { a: { command: 'x', anything: [1] } } }, 'fits'],
    [{ agents: { a: { type: 'acp' } } }, 'fails'],
    [{ agents: { a: { type: 'other' } } }, 'fails'],
    [{ agents: { a: { type: 'model', api: 'openai', apiKey: 'k' } } }, 'fails'],
    [{ agents: { a: { type: 'model', api: 'openai', apiKeyEnv: 'a-b' } } }, 'fails'],
    [{ agents: { '1': {} } }, 'fails'],
    [{ providers: { a: {} } }, 'fails'],
    [{ plugins: 'x' }, 'fails'],
    [{ discovery: { enabled: 1 } }, 'fails'],
  ])('agrees with the check on %o: it %s', async (config, verdict) => {
    const folder = await tempFolder({ 'atrium.json': JSON.stringify(config) });
    const read = await readConfigFile(path.join(folder, 'atrium.json')).then(
      () => 'fits',
      () => 'fails',
    );
    expect([validate(config) ? 'fits' : 'fails', read]).toEqual([verdict, verdict]);
  });
});
