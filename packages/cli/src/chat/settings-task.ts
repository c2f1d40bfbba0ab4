/**
 * /settings: the settings of the host, and where each value came from. /instructions: the files that the agent reads.
 */
import {
  type HostSetting,
  INSTRUCTIONS_METHOD,
  type InstructionFile,
  ROOT_CHANNEL,
  readHostSettings,
  readInstructionFiles,
  SETTINGS_METHOD,
} from '@atrium/protocol/ahp-1';
import { callExtension } from '../connect/with-client.js';
import { printable } from '../text/printable.js';
import { table } from '../text/table.js';
import type { Task } from './tasks.js';

export const settings: Task = async ({ client, view, show }) => {
  const root = await client.subscribe(ROOT_CHANNEL);
  const { config } = root.state;
  root.close();
  const changeable = Object.entries(config?.schema.properties ?? {}).map(([key, property]) => {
    const value = config?.values[key] ?? property.default;
    const from = config?.values[key] === undefined ? 'default' : 'set by a client';
    return [printable(property.title), value === undefined ? '-' : printable(String(value)), from];
  });
  // Hosts of others do not know the method.
  const told = await client.requestExtension(SETTINGS_METHOD, {}).catch(() => undefined);
  const { style, columns } = view();
  const indented = (rows: readonly string[][]) =>
    table(rows, columns - 2)
      .split('\n')
      .map((line) => `  ${line}`);
  const given = readHostSettings(told).map((setting) => rowOf(setting));
  show([
    ...(changeable.length > 0 ? [style.bold('Settings of this host'), ...indented(changeable)] : []),
    ...(given.length > 0 ? [style.bold('From its files, its environment and its start'), ...indented(given)] : []),
    style.dim('  Change the first ones in the page, the others in files for the next start.'),
    '',
  ]);
};

function rowOf({ key, value = '-', source, from }: HostSetting): string[] {
  return [printable(key), printable(value), printable(from === undefined ? source : `${source}: ${from}`)];
}

export const instructions: Task = async ({ client, open, view, show, note }) => {
  const files = readInstructionFiles(await callExtension(client, INSTRUCTIONS_METHOD, { channel: open.chat.uri }));
  if (files.length === 0) return note('No AGENTS.md or CLAUDE.md is read here.');
  const { style, columns } = view();
  const rows = files.map((file) => [printable(file.name), sizeOf(file.bytes), aboutOf(file)]);
  const lines = table(rows, columns - 2).split('\n');
  show([style.bold('Instructions of the project'), ...lines.map((line) => `  ${line}`), '']);
};

function aboutOf({ isNested, state }: InstructionFile): string {
  const room = state === 'left-out' ? 'no room for it' : state === 'cut' ? 'only its beginning' : '';
  return [isNested ? 'for its folder' : '', room].filter((text) => text !== '').join(', ');
}

function sizeOf(bytes: number): string {
  return bytes < 1_024 ? `${bytes} B` : `${(bytes / 1_024).toFixed(1)} KiB`;
}
