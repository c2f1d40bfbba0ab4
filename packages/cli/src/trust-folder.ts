/** `atrium trust`: shows what a folder would start, asks, and remembers the answer. */

import { stat } from 'node:fs/promises';
import path from 'node:path';
import {
  askedTogether,
  declaredPrograms,
  isShowable,
  PROGRAM_LINE_MAX_CHARACTERS,
  type TrustedFolders,
} from '@atrium/host';
import { visibleText } from '@atrium/protocol/ahp-1';
import { dataFolderFrom, makePrivate } from './data-folder.js';
import { UsageError } from './exit.js';
import { io } from './io.js';
import { trustedFolders } from './trusted-folders.js';

export interface TrustOptions {
  readonly list?: boolean;
  readonly remove?: boolean;
  readonly yes?: boolean;
  readonly json?: boolean;
  readonly dataDir?: string;
}

export async function trust(folder: string | undefined, options: TrustOptions): Promise<void> {
  const dataDir = dataFolderFrom(options.dataDir, io().env);
  const trusted = trustedFolders(dataDir);
  if (options.list) return print(await trusted.list(), options.json ?? false);
  if (folder === undefined) throw new UsageError('name a folder, or use --list');
  await makePrivate(dataDir);
  const place = path.resolve(folder);
  if (!options.remove) return trustPlace(trusted, place, options);
  const wasTrusted = await trusted.distrust(place);
  const name = visibleText(place, 'line');
  io().stdout.write(wasTrusted ? `${name} is trusted no longer.\n` : `${name} was not trusted.\n`);
}

/** Remembers exactly the programs that were shown, even if the files have changed meanwhile. */
async function trustPlace(trusted: TrustedFolders, place: string, options: TrustOptions): Promise<void> {
  const name = visibleText(place, 'line');
  if (!(await stat(place).catch(() => undefined))?.isDirectory()) throw new Error(`there is no folder ${name}`);
  const { programs, providersNotStarted } = await declaredPrograms(place);
  const hidden = programs.filter((program) => !isShowable(program)).length;
  if (hidden > 0)
    throw new Error(
      `${name} declares ${counted(hidden, 'program')} with a command line of more than ${PROGRAM_LINE_MAX_CHARACTERS} characters, too long to judge: put it into a file`,
    );
  if (askedTogether(programs).length < programs.length)
    throw new Error(`${name} would start ${programs.length} programs, more than anybody judges at once: declare fewer`);
  const what =
    programs.length === 0
      ? 'It declares nothing that starts programs.'
      : `It may start ${counted(programs.length, 'program')}:`;
  io().stdout.write(
    [name, what, ...programs.map(({ line }) => `    ${line}`), ...left(providersNotStarted), ''].join('\n'),
  );
  if (programs.length > 0 && !options.yes && io().stdin.isTTY && !(await isYes('Trust it? [y/N] ')))
    throw new Error(`${name} is not trusted: you did not say yes`);
  await trusted.trust(
    place,
    programs.map(({ digest }) => digest),
  );
  io().stdout.write(`${name} is trusted.\n`);
}

/** Says how many providers the list leaves out, and why they never run. */
function left(providersNotStarted: number): string[] {
  if (providersNotStarted === 0) return [];
  const more = counted(providersNotStarted, 'more provider');
  return [`It lists ${more}, beyond what the host starts for one folder. They do not run: list fewer.`];
}

function counted(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`;
}

async function isYes(question: string): Promise<boolean> {
  const { createInterface } = await import('node:readline/promises');
  const asking = createInterface({ input: io().stdin, output: io().stdout });
  try {
    return /^y(es)?$/i.test((await asking.question(question)).trim());
  } finally {
    asking.close();
  }
}

function print(folders: readonly string[], json: boolean): void {
  if (json) io().stdout.write(`${JSON.stringify(folders)}\n`);
  else
    io().stdout.write(
      folders.length === 0
        ? 'No folder is trusted.\n'
        : `${folders.map((folder) => visibleText(folder, 'line')).join('\n')}\n`,
    );
}
