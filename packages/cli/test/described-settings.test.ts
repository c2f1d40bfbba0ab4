import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { loadConfig } from '@atrium/host';
import { readHostSettings, SETTING_VALUE_MAX_CHARACTERS, settingValueText } from '@atrium/protocol/ahp-1';
import { Command, Option } from 'commander';
import { expect, it, onTestFinished } from 'vitest';
import { describedConfig, describedOptions } from '../src/serve/described-settings.js';

it('options are told with where they came from, and a token is not told [DAY-113]', () => {
  process.env.ATRIUM_TEST_HOST = 'elsewhere';
  onTestFinished(() => {
    delete process.env.ATRIUM_TEST_HOST;
  });
  const command = new Command('serve')
    .addOption(new Option('--port <port>').default(9300))
    .addOption(new Option('--host <name>').env('ATRIUM_TEST_HOST'))
    .addOption(new Option('--connection-token <token>'))
    .option('--no-gateway')
    .option('--no-terminals')
    .option('--detach');
  command.parse(['--connection-token', 'top-secret', '--no-gateway'], { from: 'user' });
  expect(describedOptions(command)).toEqual([
    { key: '--port', value: '9300', source: 'default' },
    { key: '--host', value: 'elsewhere', source: 'environment', from: 'ATRIUM_TEST_HOST' },
    { key: '--connection-token', value: 'given', source: 'flag', from: '--connection-token' },
    { key: '--no-gateway', value: 'true', source: 'flag', from: '--no-gateway' },
    { key: '--no-terminals', source: 'default' },
  ]);
});

it('keys of the configuration are told with their files, agents and servers by name only [DAY-113]', async () => {
  const folder = await mkdtemp(path.join(tmpdir(), 'atrium-settings-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const [userFile, projectFile] = [path.join(folder, 'config.json'), path.join(folder, 'atrium.json')];
  await writeFile(userFile, JSON.stringify({ titles: false, automationRunsAtOnce: 3 }));
  const headers = { 'X-House': 'top-secret' };
  const house = {
    type: 'model',
    api: 'openai-compatible',
    baseURL: 'https://models.example.test/v1',
    headers,
    models: ['a'],
  };
  await writeFile(projectFile, JSON.stringify({ automationRunsAtOnce: 2, agents: { house } }));
  const trust = { isTrusted: async () => true, allows: async () => true };
  const told = describedConfig(await loadConfig({ userFile, projectFolder: folder, trust }));
  const about = (key: string) => told.find((each) => each.key === key);
  expect(about('titles')).toEqual({ key: 'titles', value: 'false', source: 'file', from: userFile });
  expect(about('automationRunsAtOnce')).toMatchObject({ value: '2', from: `${userFile}, ${projectFile}` });
  expect(about('agents')).toEqual({ key: 'agents', value: 'house', source: 'file', from: projectFile });
  expect(about('joinText')).toEqual({ key: 'joinText', value: 'true', source: 'default' });
  expect(about('plugins')).toEqual({ key: 'plugins', source: 'default' });
  expect(JSON.stringify(told)).not.toContain('top-secret');
});

it('a long value is cut, and an answer that is none is no list [DAY-113]', () => {
  expect(settingValueText('x'.repeat(SETTING_VALUE_MAX_CHARACTERS))).toHaveLength(SETTING_VALUE_MAX_CHARACTERS);
  expect(settingValueText('x'.repeat(SETTING_VALUE_MAX_CHARACTERS + 1))).toMatch(/^x{299}…$/);
  for (const odd of [
    undefined,
    null,
    3,
    {},
    { items: 3 },
    { items: [null, { key: 1 }, { key: 'a', source: 'stars' }] },
  ])
    expect(readHostSettings(odd)).toEqual([]);
});
