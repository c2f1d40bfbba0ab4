/** `atrium trust`: which folders may start the programs that they declare. */
import path from 'node:path';
import { Command, Option } from 'commander';
import { UsageError } from '../exit.js';

const EXAMPLES = `
A folder's atrium.json, plugins and hooks may start programs only when you trust the folder. A host that runs already
sees the change within a second. What runs when you trust a folder no longer goes on until its session ends.

Examples:
  $ atrium trust .                 this folder may
  $ atrium trust --remove .        it may no longer
  $ atrium trust --list            all that may

Exit codes: 0 done, 1 the folder does not exist, 2 called in a wrong way.`;

interface TrustOptions {
  readonly list?: boolean;
  readonly remove?: boolean;
  readonly json?: boolean;
  readonly dataDir?: string;
}

export function trustCommand(): Command {
  const command = new Command('trust')
    .description('Let a folder start the programs that it declares')
    .argument('[folder]', 'the folder to trust')
    .option('--remove', 'trust it no longer')
    .option('--list', 'show all trusted folders')
    .option('--json', 'with --list: print JSON and nothing else')
    .addOption(new Option('--data-dir <folder>', 'where it is remembered').env('ATRIUM_DATA_DIR'))
    .addHelpText('after', EXAMPLES)
    .showHelpAfterError('(atrium trust --help shows all options)');
  return command.action((folder: string | undefined) => trust(folder, command.opts<TrustOptions>()));
}

async function trust(folder: string | undefined, options: TrustOptions): Promise<void> {
  const { dataFolderFrom } = await import('../data-place.js');
  const { makePrivate } = await import('../data-folder.js');
  const { trustedFolders } = await import('../trusted-folders.js');
  const dataDir = dataFolderFrom(options.dataDir, process.env);
  const trusted = trustedFolders(dataDir);
  if (options.list) return print(await trusted.list(), options.json ?? false);
  if (folder === undefined) throw new UsageError('name a folder, or use --list');
  await makePrivate(dataDir);
  const place = path.resolve(folder);
  if (!options.remove) {
    await trusted.trust(place).catch((error) => {
      throw error.code === 'ENOENT' ? new Error(`there is no folder ${place}`) : error;
    });
    process.stdout.write(`${place} is trusted.\n`);
  } else {
    const wasTrusted = await trusted.distrust(place);
    process.stdout.write(wasTrusted ? `${place} is trusted no longer.\n` : `${place} was not trusted.\n`);
  }
}

function print(folders: readonly string[], json: boolean): void {
  if (json) process.stdout.write(`${JSON.stringify(folders)}\n`);
  else process.stdout.write(folders.length === 0 ? 'No folder is trusted.\n' : `${folders.join('\n')}\n`);
}
