/** `atrium trust`: which folders may start the programs that they declare. */

import { stat } from 'node:fs/promises';
import path from 'node:path';
import type { TrustedFolders } from '@atrium/host';
import { visibleText } from '@atrium/protocol/ahp-1';
import { Command, Option } from 'commander';
import { UsageError } from '../exit.js';
import { io } from '../io.js';

const EXAMPLES = `
A folder's atrium.json, plugins and hooks may start programs only when you trust the folder. You see every program before
you say yes, and your yes is for exactly these: when the folder declares another one, you are asked again. A host that
runs already sees the change within a second. What runs when you trust a folder no longer goes on until its session ends.
Without a terminal to ask in, as in a script, the command trusts the listed programs at once.

Examples:
  $ atrium trust .                 this folder may, once you have seen what it starts
  $ atrium trust --yes .           without a question
  $ atrium trust --remove .        it may no longer
  $ atrium trust --list            all that may

Exit codes: 0 done, 1 the folder does not exist or you said no, 2 called in a wrong way.`;

interface TrustOptions {
  readonly list?: boolean;
  readonly remove?: boolean;
  readonly yes?: boolean;
  readonly json?: boolean;
  readonly dataDir?: string;
}

export function trustCommand(): Command {
  const command = new Command('trust')
    .description('Let a folder start the programs that it declares')
    .argument('[folder]', 'the folder to trust')
    .option('--remove', 'stop trusting it')
    .option('--yes', 'trust it without a question')
    .option('--list', 'show all trusted folders')
    .option('--json', 'with --list: print JSON and nothing else')
    .addOption(new Option('--data-dir <folder>', 'where it is remembered').env('ATRIUM_DATA_DIR'))
    .addHelpText('after', EXAMPLES)
    .showHelpAfterError('(atrium trust --help shows all options)');
  return command.action((folder: string | undefined) => trust(folder, command.opts<TrustOptions>()));
}

async function trust(folder: string | undefined, options: TrustOptions): Promise<void> {
  const { dataFolderFrom } = await import('../data-folder.js');
  const { makePrivate } = await import('../data-folder.js');
  const { trustedFolders } = await import('../trusted-folders.js');
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

/** What is remembered is what was shown, whatever has become of the files meanwhile. */
async function trustPlace(trusted: TrustedFolders, place: string, options: TrustOptions): Promise<void> {
  const { askedTogether, declaredPrograms, isShowable, PROGRAM_LINE_MAX_CHARACTERS } = await import('@atrium/host');
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

/** Says what the list leaves out, and why that never runs. */
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
