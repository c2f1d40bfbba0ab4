/** What a model should know of the machine and the folder. The same all day, so that providers can keep the prompt. */
import { access } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';

const SYSTEMS: Readonly<Partial<Record<NodeJS.Platform, string>>> = {
  darwin: 'macOS',
  linux: 'Linux',
  win32: 'Windows',
};

export async function environmentText(folder: string | undefined, now = new Date()): Promise<string> {
  const facts = [
    `Operating system: ${SYSTEMS[process.platform] ?? process.platform} ${os.release()} (${process.arch})`,
    `Commands are run by: ${shellName()}`,
    `Date: ${now.toISOString().slice(0, 10)} (UTC)`,
    ...(await folderFacts(folder)),
  ];
  return facts.map((fact) => `- ${fact}`).join('\n');
}

async function folderFacts(folder: string | undefined): Promise<string[]> {
  if (folder === undefined) return ['Folder: none. Tools for files and commands do not work in this session.'];
  const git = (await isInRepository(folder)) ? 'inside a Git repository' : 'not in a Git repository';
  return [`Folder: ${folder} (${git})`];
}

/** The one that Node starts for a command line. */
function shellName(): string {
  return process.platform === 'win32' ? (process.env.ComSpec ?? 'cmd.exe') : '/bin/sh';
}

async function isInRepository(folder: string): Promise<boolean> {
  for (let place = path.resolve(folder); ; place = path.dirname(place)) {
    if (await exists(path.join(place, '.git'))) return true;
    if (place === path.dirname(place)) return false;
  }
}

function exists(file: string): Promise<boolean> {
  return access(file).then(
    () => true,
    () => false,
  );
}
